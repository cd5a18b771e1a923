"""Runs of a conversation wait in the queue until it rests."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import InvalidInputError
from reasoningbank.bank import ReasoningBank

REST = 600.0


def turn(bank: ReasoningBank, asked: str, *, thread: str = "t", verdict: str | None = "success", **options: Any) -> str:
    ref = bank.recall(asked, thread=thread).ref
    bank.queue.put({"task": asked, "result": "done"}, verdict, key=ref, ref=ref, rest=REST, **options)
    return ref


def test_each_turn_puts_off_those_that_wait_and_each_is_a_job_of_its_own(open_bank: Any, clock: Any) -> None:
    bank = open_bank()
    turn(bank, "load the sales figures")
    clock.move(seconds=REST / 2)
    turn(bank, "the test suite fails", verdict="failure")
    turn(bank, "something else", thread="another")
    jobs = {job.task: job for job in bank.queue.list()}

    assert set(jobs) == {"load the sales figures", "the test suite fails", "something else"}
    assert len({job.due_at for job in jobs.values()}) == 1
    assert bank.queue.worker().run_once() is None
    clock.move(seconds=REST + 1)
    assert sum(bank.queue.worker().run_once() is not None for _ in range(4)) == 3


def test_another_conversation_is_not_put_off(open_bank: Any, clock: Any) -> None:
    bank = open_bank()
    turn(bank, "load the sales figures")
    due = bank.queue.list()[0].due_at
    clock.move(seconds=REST / 2)
    turn(bank, "something else", thread="another")

    assert {job.task: job.due_at == due for job in bank.queue.list()} == {
        "load the sales figures": True,
        "something else": False,
    }


def test_what_is_known_later_of_a_turn_replaces_what_waits(open_bank: Any) -> None:
    bank = open_bank()
    ref = turn(bank, "load the sales figures", verdict="failure")
    bank.queue.put({"task": "load the sales figures", "result": "42"}, "success", key=ref, ref=ref, rest=REST)
    (job,) = bank.queue.list()

    assert job.verdict == "success"


def test_a_rest_is_a_number_of_seconds(open_bank: Any) -> None:
    with pytest.raises(InvalidInputError, match="rest"):
        open_bank().queue.put({"task": "x"}, rest=-1)
