"""Vectors as they are stored, put there by hand, and what an index of them finds."""

from __future__ import annotations

import numpy as np

from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.project import Project

QUERY = np.array([0.6, 0.8], dtype=np.float32)


def generation(writing: Writing, number: int, state: str = "current", dim: int = 2) -> None:
    writing.execute("INSERT INTO generations VALUES (?, 'stub', '1', ?, 'none', 1, ?)", (number, dim, state))


def put(writing: Writing, number: int, row: list[float], generation: int = 1, *, told: bool = True) -> None:
    """Store a vector of the memory with the same number."""
    stored = (number, number, "lesson", generation, np.array(row, dtype=np.float32).tobytes())
    writing.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", stored)
    if told:
        writing.tell("put", number, number)


def owners(cache: VectorCache, reading: Reading) -> list[int]:
    """Return the owners of the vectors that are nearest to QUERY."""
    return [int(n) for n in cache.nearest(reading, QUERY, 5)[0]]


def nearest(cache: VectorCache, project: Project) -> list[int]:
    """Return the same for a transaction that begins now."""
    with project.read() as reading:
        return owners(cache, reading)
