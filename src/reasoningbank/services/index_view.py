"""This process's vector index of one project, brought up to date from the change feed at the start of each call."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from reasoningbank.vectors.base import VectorIndex

Ids = npt.NDArray[np.int64]


@dataclass
class _Filled:
    """An index and what it covers."""

    generation: int
    index: VectorIndex
    covered: int
    owners: dict[int, int] = field(default_factory=dict)


class IndexView:
    """The vector index of one project's current generation. It is derived: dropped, it comes back the same.

    Args:
        make_index: builds an empty index of a dimension.
    """

    def __init__(self, make_index: Callable[[int], VectorIndex]) -> None:
        self._make_index = make_index
        self._lock = threading.Lock()
        self._filled: _Filled | None = None

    def sync(self, connection: sqlite3.Connection) -> VectorIndex | None:
        """Bring the index up to the state that `connection`'s transaction sees; None when there are no vectors yet."""
        current = connection.execute("SELECT generation, dim FROM generations WHERE state = 'current'").fetchone()
        if current is None:
            return None
        with self._lock:
            filled = self._filled
            newest = _newest_change(connection)
            if filled is None or filled.generation != current[0] or _tail_is_gone(connection, filled.covered):
                self._filled = filled = self._build(connection, current[0], current[1], newest)
            elif newest > filled.covered:
                _follow(connection, filled, newest)
            return filled.index

    def _build(self, connection: sqlite3.Connection, generation: int, dim: int, newest: int) -> _Filled:
        filled = _Filled(generation, self._make_index(dim), newest)
        rows = connection.execute("SELECT id, memory, vector FROM vectors WHERE generation = ?", (generation,))
        while batch := rows.fetchmany(4096):
            _add(filled, batch)
        return filled

    def owners(self, vectors: Ids) -> list[int]:
        """Return the memory's row number for each vector id; 0 for one that is gone."""
        filled = self._filled
        return [filled.owners.get(int(v), 0) for v in vectors] if filled is not None else [0] * len(vectors)

    def drop(self) -> None:
        """Forget the index; the next sync builds it anew."""
        with self._lock:
            self._filled = None


def _newest_change(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def _tail_is_gone(connection: sqlite3.Connection, covered: int) -> bool:
    oldest = connection.execute("SELECT min(seq) FROM changes").fetchone()[0]
    return oldest is not None and oldest > covered + 1


def _follow(connection: sqlite3.Connection, filled: _Filled, newest: int) -> None:
    rows = connection.execute(
        "SELECT op, vector FROM changes WHERE seq > ? AND vector IS NOT NULL ORDER BY seq", (filled.covered,)
    ).fetchall()
    gone = [vector for op, vector in rows if op == "delete"]
    new = [vector for op, vector in rows if op == "put"]
    if gone:
        filled.index.remove(np.array(gone, dtype=np.int64))
        for vector in gone:
            filled.owners.pop(vector, None)
    for start in range(0, len(new), 500):
        batch = new[start : start + 500]
        found = connection.execute(
            f"SELECT id, memory, vector FROM vectors WHERE generation = ? AND id IN ({', '.join('?' * len(batch))})",
            (filled.generation, *batch),
        ).fetchall()
        if found:
            _add(filled, found)
    filled.covered = newest


def _add(filled: _Filled, rows: Sequence[tuple[int, int, bytes]]) -> None:
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32).reshape(len(rows), -1)
    # Owners first: a search that sees a new vector must be able to name its memory.
    filled.owners.update((row[0], row[1]) for row in rows)
    filled.index.add(ids, vectors)
