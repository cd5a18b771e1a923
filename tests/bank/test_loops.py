"""One bank in several event loops."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from reasoningbank import AsyncReasoningBank, ReasoningBank
from reasoningbank.bank import Runs
from reasoningbank.runs import StepsKept
from tests.conftest import OpenBank


async def work(bank: AsyncReasoningBank, name: str) -> str:
    recorded = await asyncio.gather(*(bank.record(f"{name} {n}", f"{name} says {n}", outcome="success") for n in "abc"))
    recall = await bank.recall(f"{name} says a", ref=name)
    await bank.report("success", ref=recall.ref)
    return recorded[0].memory.id


def test_one_event_loop_after_another_uses_one_bank(bank: ReasoningBank) -> None:
    shared = AsyncReasoningBank(bank)
    ids = [asyncio.run(work(shared, name)) for name in ("first", "second")]

    assert len(set(ids)) == 2
    assert bank.count() == 6
    assert bank.upkeep.status().open_episodes == 0


def test_event_loops_of_several_threads_use_one_bank_at_once(bank: ReasoningBank) -> None:
    shared, ids = AsyncReasoningBank(bank), list[str]()
    threads = [
        threading.Thread(target=lambda name=name: ids.append(asyncio.run(work(shared, name))))
        for name in ("one", "two", "three", "four")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(ids)) == 4
    assert bank.count() == 12
    assert bank.upkeep.status().open_episodes == 0
    assert bank.upkeep.doctor(dry_run=True) == []


async def test_a_run_in_async_code_is_stepped_and_reported_off_the_loops_thread(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = open_bank(settings={"keep_trajectories": True})
    memory = bank.record("Count lines", "Use wc", outcome="success").memory
    loop, threads, keep = threading.get_ident(), [], Runs.add_steps

    def add_steps(runs: Runs, ref: str, steps: Any) -> StepsKept:
        threads.append(threading.get_ident())
        return keep(runs, ref, steps)

    monkeypatch.setattr(Runs, "add_steps", add_steps)
    async with AsyncReasoningBank(bank).episode("count lines with wc") as run:
        await run.step("wc", "42", thought="short")
        reported = await run.report("success")

    assert loop not in threads
    assert len(threads) == 1
    assert reported.credited == (memory.id,)
    assert bank.runs.trajectory(run.ref).steps == run.trajectory.steps
    assert (run.recall.hits, run.text) == (run.hits, run.recall.text)


async def test_a_run_in_async_code_that_raises_is_a_failure(bank: ReasoningBank) -> None:
    with pytest.raises(RuntimeError):
        async with AsyncReasoningBank(bank).episode("count") as run:
            raise RuntimeError("no wc")

    assert bank.runs.get(run.ref).verdict == "failure"
