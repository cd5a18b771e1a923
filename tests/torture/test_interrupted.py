"""Calls that a signal's handler ends in the middle, wherever that is: Ctrl-C, the time limit of a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from tests.conftest import OpenBank

# Where connections and locks are taken and given back.
WATCHED = ("storage/connections.py", "storage/database.py", "storage/project.py", "services/engine.py", "contextlib.py")

STRIDE = 3  # 1 tries every step, which takes a minute


class Stop(BaseException):
    """What the handler raises."""


def interrupted_at(step: int, act: Callable[[], Any]) -> Stop | None:
    """Call `act`, which ends at a step of its way through the watched files; return how, None when there is no such."""
    left = step

    def watch(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(WATCHED):
            return None
        if event == "call":
            # A handler runs where a function begins, among others; not between a "finally" and what it protects.
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise Stop
        return None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        act()
    except Stop as stop:
        return stop
    finally:
        sys.settrace(before)
    return None


@pytest.mark.parametrize("name", ["vote", "record", "update", "search", "recall", "report"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_whatever_call_is_interrupted_wherever_the_handle_goes_on(open_bank: OpenBank, name: str) -> None:
    bank, other = open_bank(settings={"busy_timeout": 1.0}), open_bank(settings={"busy_timeout": 1.0})
    memory = bank.record("Quote", "Quote every path", outcome="success").memory.id
    step = 0
    while True:
        ref = f"{name}-{step}"
        bank.recall("quote a path", ref=f"{ref} before")
        said = f"Quote every path of {ref}"
        calls: dict[str, Callable[[], Any]] = {
            "vote": partial(bank.vote, memory, True, ref=ref),
            "record": partial(bank.record, "Lesson", said, outcome="success"),
            "update": partial(bank.update, memory, content=said),
            "search": partial(bank.search, "quote a path"),
            "recall": partial(bank.recall, "quote a path", ref=ref),
            "report": partial(bank.report, "success", ref=f"{ref} before"),
        }
        stopped = interrupted_at(step, calls[name])
        # Also while the exception lives, and with it all that the call had taken.
        for each in (bank, other):
            assert each.vote(memory, True, ref=f"{each is bank} after {ref}").recorded
        if stopped is None:
            break
        del stopped
        assert bank.vote(memory, True, ref=f"{ref} let go").recorded
        assert bank.search("quote a path").hits
        step += STRIDE
    assert step > 20 * STRIDE
    assert bank.upkeep.doctor(dry_run=True) == []
