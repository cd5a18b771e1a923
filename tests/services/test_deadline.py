"""Turns, budgets that count work, and warnings at a rate."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from reasoningbank import BusyError, DeadlineExceededError
from reasoningbank.services.deadline import AT_ONCE, LONGEST_WAIT, MOST_THREADS, WARN_EVERY, Attempt, Deadlines, Turns


class Time:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def nothing() -> None:
    """Need no preparation."""


def test_a_turn_goes_to_whoever_waited_longest() -> None:
    turns = Turns()
    assert all(turns.take(0) for _ in range(AT_ONCE))
    came: list[int] = []

    def wait(number: int) -> None:
        assert turns.take(30)
        came.append(number)
        turns.give_back()

    threads = []
    for number in range(5):
        threads.append(threading.Thread(target=wait, args=[number]))
        threads[-1].start()
        while len(turns._waiting) <= number:
            pass
    turns.give_back()
    for thread in threads:
        thread.join()

    assert came == list(range(5))


def test_a_turn_that_does_not_come_is_not_waited_for_for_ever() -> None:
    turns = Turns()
    for _ in range(AT_ONCE):
        turns.take(0)

    assert not turns.take(0.001)
    turns.give_back()
    assert turns.take(0)


def test_what_is_being_written_is_not_given_up_and_what_was_given_up_is_not_written() -> None:
    ended: list[str] = []
    writing, left = Attempt(lambda: ended.append("writing")), Attempt(lambda: ended.append("left"))
    writing.keep()

    assert not writing.give_up()
    assert left.give_up()
    with pytest.raises(DeadlineExceededError):
        left.keep()
    assert ended == ["left"]


def test_the_turn_of_work_that_is_stuck_goes_on_to_others() -> None:
    deadlines, stuck = Deadlines(nothing), threading.Event()
    for _ in range(2 * AT_ONCE):
        with pytest.raises(DeadlineExceededError):
            deadlines.bounded(lambda _: stuck.wait(30), timeout=0.001, fail_open=False, otherwise=bool)

    assert deadlines.bounded(lambda _: "here", timeout=30, fail_open=False, otherwise=str) == "here"
    assert deadlines.late == 2 * AT_ONCE
    stuck.set()


def busy_until(loaded: threading.Event) -> None:
    """Load as a model is loaded: it takes a processor."""
    while not loaded.is_set():
        pass


def test_loading_the_model_is_no_work_of_the_first_recall() -> None:
    loaded = threading.Event()
    deadlines = Deadlines(lambda: busy_until(loaded))
    threading.Timer(0.3, loaded.set).start()

    assert deadlines.bounded(lambda _: "here", timeout=0.1, fail_open=False, otherwise=str) == "here"


def test_nobody_waits_for_a_model_for_ever() -> None:
    loaded = threading.Event()
    deadlines = Deadlines(lambda: busy_until(loaded))

    said = deadlines.bounded(lambda _: "here", timeout=0.02, fail_open=True, otherwise=str)
    loaded.set()

    assert f"{LONGEST_WAIT * 0.02:g} s with waiting" in said


def test_loading_that_hangs_takes_the_budget_and_no_more_whoever_comes_and_how_often() -> None:
    hung = threading.Event()

    def load() -> None:
        hung.wait(60)

    deadlines = Deadlines(load)
    begun = time.monotonic()

    said = [
        deadlines.bounded(lambda _: hung.wait(60), timeout=0.1, fail_open=True, otherwise=str)
        for _ in range(MOST_THREADS + 4)
    ]

    hung.set()
    assert all("took longer than 0.1 s" in str(one) for one in said)
    # A single one that waited as for a model that is being loaded would take 6 seconds.
    assert time.monotonic() - begun < 6 + 0.2 * len(said)


def test_a_reason_is_warned_about_once_a_minute_with_how_often_it_came(caplog: pytest.LogCaptureFixture) -> None:
    clock = Time()
    deadlines = Deadlines(nothing, clock)

    def busy(_: object) -> str:
        raise BusyError("another writer", path=Path("bank"))

    with caplog.at_level(logging.WARNING, "reasoningbank"):
        for _ in range(5):
            assert "another writer" in deadlines.bounded(busy, timeout=None, fail_open=True, otherwise=str)
            clock.now += WARN_EVERY / 4

    first, second = caplog.messages
    assert "3 times since" in second
    assert "since" not in first
