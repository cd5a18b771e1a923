"""This process's vector index of the nodes of one project's graph, brought up to date at the start of each search."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, VectorIndex


class NodeIndex:
    """The vectors of nodes of the current generation. It is derived: dropped, it comes back the same.

    The ids of vectors are never used again, so which of them there are says what changed.

    Args:
        make_index: builds an empty index of a dimension.
    """

    def __init__(self, make_index: Callable[[int], VectorIndex]) -> None:
        self._make_index = make_index
        self._lock = threading.Lock()
        self._filled: tuple[int, VectorIndex, dict[int, int]] | None = None
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock, self._filled = threading.Lock(), None

    def nearest(self, connection: sqlite3.Connection, vector: Float32, k: int) -> list[int]:
        """Return the row numbers of up to `k` nodes, nearest first."""
        current = connection.execute("SELECT generation, dim FROM generations WHERE state = 'current'").fetchone()
        if current is None:
            return []
        with self._lock:
            index, owners = self._up_to_date(connection, *current)
            ids, _ = index.search(vector, k)
            return [owners[number] for number in ids.tolist() if number in owners]

    def _up_to_date(
        self, connection: sqlite3.Connection, generation: int, dim: int
    ) -> tuple[VectorIndex, dict[int, int]]:
        if self._filled is None or self._filled[0] != generation:
            self._filled = (generation, self._make_index(dim), {})
        _, index, owners = self._filled
        there = dict(connection.execute("SELECT id, node FROM node_vectors WHERE generation = ?", (generation,)))
        if gone := [number for number in owners if number not in there]:
            index.remove(np.array(gone, dtype=np.int64))
            for number in gone:
                del owners[number]
        new = [number for number in there if number not in owners]
        for start in range(0, len(new), 500):
            batch = new[start : start + 500]
            marks = ", ".join("?" * len(batch))
            rows = connection.execute(f"SELECT id, vector FROM node_vectors WHERE id IN ({marks})", batch).fetchall()
            ids = np.array([number for number, _ in rows], dtype=np.int64)
            index.add(ids, np.frombuffer(b"".join(v for _, v in rows), dtype=np.float32).reshape(len(rows), -1))
            owners.update((number, there[number]) for number in batch)
        return index, owners
