"""A clock that is wrong, or was set back, credits no other run, loses nothing and seals nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reasoningbank import BankRoot, ReasoningBank
from tests.conftest import Clock, OpenBank

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
FAR = datetime(2099, 1, 1, tzinfo=UTC)
RUN = {
    "task": "Build the docs",
    "steps": [
        {"action": "make docs", "observation": "make: *** [docs] Error 2"},
        {"action": "pip install sphinx", "observation": "Successfully installed sphinx"},
        {"action": "make docs", "observation": "build succeeded"},
    ],
    "verdict": "success",
}


@pytest.fixture
def at(clock: Clock) -> Callable[[datetime], None]:
    def set_to(when: datetime) -> None:
        clock.move(seconds=(when - clock()).total_seconds())

    set_to(NOW)
    return set_to


@pytest.fixture
def memory(bank: ReasoningBank, at: object) -> str:
    return bank.record("Quote paths", "Quote every path of the shell", outcome="success").memory.id


def test_a_thread_is_reported_on_by_its_last_run_though_the_clock_was_set_back(
    bank: ReasoningBank, clock: Clock, memory: str
) -> None:
    first = bank.recall("quote a path", thread="t").ref
    bank.report("success", ref=first)
    clock.move(minutes=-30)
    second = bank.recall("quote a path", thread="t").ref
    bank.report("failure", thread="t")

    assert (str(bank.runs.get(first).verdict), str(bank.runs.get(second).verdict)) == ("success", "failure")


def test_a_run_of_days_to_come_takes_no_votes_and_no_thread(
    bank: ReasoningBank, at: Callable[[datetime], None], memory: str
) -> None:
    at(FAR)
    ahead = bank.recall("quote a path", thread="t").ref
    at(NOW)
    for n in range(10):
        bank.vote(memory, True, by=f"judge {n}")
    assert bank.get(memory).confidence > 0.94
    run = bank.recall("quote a path", thread="t").ref
    bank.report("success", thread="t")

    assert (bank.runs.get(ahead).verdict, str(bank.runs.get(run).verdict)) == (None, "success")


def test_a_job_of_days_to_come_does_not_wait_for_them(bank: ReasoningBank, at: Callable[[datetime], None]) -> None:
    at(FAR)
    bank.queue.put(RUN)
    at(NOW)

    done = bank.queue.worker().run_once()
    assert done is not None
    assert done.memories


@pytest.mark.parametrize("wrong", [datetime(1970, 1, 1, tzinfo=UTC), FAR])
def test_one_vote_by_a_wrong_clock_seals_no_other(
    bank: ReasoningBank, at: Callable[[datetime], None], memory: str, wrong: datetime
) -> None:
    bank.vote(memory, True, ref="a")
    at(wrong)
    bank.vote(memory, True, ref="b")
    at(NOW.replace(day=16))
    bank.vote(memory, True, ref="c")
    assert bank.upkeep.maintain().rolled_up == ()

    assert bank.vote(memory, False, ref="a").recorded
    assert bank.vote(memory, False, ref="b").recorded
    at(NOW.replace(month=6))
    assert len(bank.upkeep.maintain().rolled_up) == 2


def test_a_round_of_upkeep_by_a_clock_years_ahead_deletes_no_run(
    open_bank: OpenBank, at: Callable[[datetime], None]
) -> None:
    bank = open_bank(settings={"keep_trajectories": True})
    bank.record("Quote paths", "Quote every path of the shell", outcome="success")
    ref = bank.recall("quote a path").ref
    bank.runs.add_steps(ref, [{"action": "ls", "observation": "a"}])
    bank.report("success", ref=ref)
    at(NOW.replace(year=2031))
    assert bank.upkeep.maintain(dry_run=True).forgotten_trajectories == 0
    assert bank.upkeep.maintain().forgotten_trajectories == 0
    at(NOW)

    assert len(bank.runs.trajectory(ref).steps) == 1
    at(NOW.replace(month=12))
    assert bank.upkeep.maintain().forgotten_trajectories == 1


def test_times_at_the_end_of_all_times_break_nothing(bank: ReasoningBank, at: Callable[[datetime], None]) -> None:
    bank.record("Quote paths", "Quote every path of the shell", outcome="success")
    at(datetime(9999, 12, 31, 23, tzinfo=UTC))
    ref = bank.recall("quote a path", thread="t").ref
    bank.report("success", thread="t")

    assert str(bank.runs.get(ref).verdict) == "success"
    assert bank.queue.worker().run_once() is None
    bank.upkeep.maintain()


def test_a_job_that_was_put_off_in_days_to_come_does_not_wait_for_them(
    bank: ReasoningBank, at: Callable[[datetime], None]
) -> None:
    bank.queue.put(RUN)
    at(FAR)
    bank.queue.put(RUN, rest=60.0)
    at(NOW)

    assert bank.queue.worker().run_once() is not None


def test_a_round_that_was_begun_in_days_to_come_does_not_keep_a_project_from_upkeep_until_then(
    open_bank: OpenBank, bank_root: Path | str, clock: Clock, at: Callable[[datetime], None]
) -> None:
    open_bank().record("Quote paths", "Quote every path of the shell", outcome="success", ttl=60)
    banks = BankRoot(bank_root, tenant="acme", embedder="hash", clock=clock)
    at(FAR)
    assert len(banks.maintain()) == 1
    at(NOW)

    assert len(banks.maintain()) == 1
    assert banks.maintain() == []
