"""One bank in several event loops."""

from __future__ import annotations

import asyncio
import threading

from reasoningbank import AsyncReasoningBank, ReasoningBank


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
    assert bank.status().open_episodes == 0


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
    assert bank.status().open_episodes == 0
    assert bank.doctor(dry_run=True) == []
