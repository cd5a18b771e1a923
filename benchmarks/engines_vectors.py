"""Vector engines beside the records: whether searches right after writes find what exact ones find."""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.speed_lessons import texts
from reasoningbank import ReasoningBank
from reasoningbank.storage import told

ENGINES = {"milvus": "milvus://{folder}/milvus.db", "qdrant": "qdrant://{folder}/qdrant"}
"""Addresses of those that run here, in a folder."""

SEARCHES, TOLD = 100, 200


def same(address: str, folder: Path) -> int:
    """Return how many of 100 searches, each right after a write, have the same ten as a bank that keeps its vectors.

    The engine was told of 200 lessons before; of the 100 writes every third also deletes a lesson.
    """
    # What the engine was told is searched there at once, in place of being held here for a minute.
    told.LAG = 0.0
    made, random = texts(TOLD + SEARCHES, 50), Random(1)
    settings = {"vectors": address.format(folder=folder)}
    with ReasoningBank(folder, tenant="bench", project="one", embedder="hash", settings=settings) as first:
        ids = [one.memory.id for one in first.record_many(made.lessons[:TOLD])]
    found = 0
    with (
        ReasoningBank(folder, tenant="bench", project="one", settings=settings) as bank,
        ReasoningBank(folder, tenant="bench", project="one", settings={"vectors": "kept"}) as exact,
    ):
        for n, lesson in enumerate(made.lessons[TOLD:]):
            ids.append(bank.record(**lesson).memory.id)
            if n % 3 == 0:
                bank.delete(ids.pop(random.randrange(len(ids))))
            query = made.queries[n % len(made.queries)]
            hits = [[(hit.memory.id, hit.score) for hit in one.search(query).hits] for one in (bank, exact)]
            found += hits[0] == hits[1]
    return found


def measured(folder: Path) -> dict[str, dict[str, int]]:
    """Return `{"milvus": {"same": …}, "qdrant": {"same": …}}`: searches of 100."""
    return {name: {"same": same(address, folder / name)} for name, address in ENGINES.items()}
