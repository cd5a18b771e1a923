"""A bank on the bus in a process of its own, which writes meanwhile: started, and killed, by a test."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from reasoningbank import Memory, ReasoningBank
from reasoningbank.bus import Bus, Identity, Options, Peer

LISTENS = "listens"


def identity(number: int) -> Identity:
    return Identity.of_seed(bytes([number + 1]) * 32, f"n{number}")


def opened(root: Path, number: int) -> ReasoningBank:
    return ReasoningBank(root / str(number), tenant="acme", project="ops", embedder="hash")


def listed(bank: ReasoningBank) -> list[Memory]:
    """Return all memories, of every state."""
    page = bank.list(state=None, limit=1_000)
    memories = list(page.memories)
    while page.next is not None:
        page = bank.list(state=None, limit=1_000, after=page.next)
        memories += page.memories
    return memories


def write(bank: ReasoningBank, number: int, lessons: int, signals: int) -> None:
    """Write what is not written yet: a killed process goes on where it was."""
    there = {memory.id for memory in listed(bank)}
    for n in range(lessons):
        memory = f"{number}-{n}"
        if memory not in there:
            said = {"title": f"Lesson {memory}", "content": f"What {number} learned, number {n}", "outcome": "success"}
            bank.record_many([said], ids=[memory])
        for s in range(signals):
            bank.vote(memory, s % 3 != 0, ref=f"{memory}/{s}")


async def main(root: Path, number: int, ports: list[int], lessons: int, signals: int) -> None:
    peers = [Peer(f"n{n}", identity(n).kid, address=f"127.0.0.1:{port}") for n, port in enumerate(ports) if n != number]
    options = Options(period_ms=300, pull_again_ms=1_000)
    with opened(root, number) as bank:
        async with Bus(bank, identity(number), peers, listen=f"127.0.0.1:{ports[number]}", options=options) as bus:
            sys.stdout.write(f"{LISTENS}\n")
            sys.stdout.flush()
            await asyncio.to_thread(write, bank, number, lessons, signals)
            await bus.run()


if __name__ == "__main__":
    folder, own, listening, *work = sys.argv[1:]
    asyncio.run(main(Path(folder), int(own), list(map(int, listening.split(","))), *map(int, work)))
