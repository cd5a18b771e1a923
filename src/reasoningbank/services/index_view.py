"""This process's vector index of one project, brought up to date from the change feed at the start of each call."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from reasoningbank.forks import renew_after_fork
from reasoningbank.relevance import SAMPLE, Scale, measured_scale
from reasoningbank.vectors.base import Float32, VectorIndex

Ids = npt.NDArray[np.int64]


@dataclass
class _Filled:
    """An index, what it covers, and the memory that each of its vectors belongs to."""

    generation: int
    index: VectorIndex
    covered: int
    owners: dict[int, int] = field(default_factory=dict)


class IndexView:
    """The vector index of one project's current generation. It is derived: dropped, it comes back the same.

    It may be ahead of a transaction that began before another thread's call; what that transaction does not see is
    then left out when rows are loaded.

    Args:
        make_index: builds an empty index of a dimension.
    """

    def __init__(self, make_index: Callable[[int], VectorIndex]) -> None:
        self._make_index = make_index
        self._lock = threading.Lock()
        self._filled: _Filled | None = None
        self._scale = (-1, Scale())
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock; an index that was being changed is forgotten."""
        if self._lock.locked():
            self._filled = None
        self._lock = threading.Lock()

    def nearest(
        self, connection: sqlite3.Connection, vector: Float32, k: int, allowed: Ids | None = None
    ) -> list[tuple[int, float]]:
        """Return up to `k` vectors' (memory row number, cosine), nearest first.

        A memory can come twice, by its lesson and by what it applies to.
        """
        filled = self._up_to_date(connection)
        if filled is None:
            return []
        ids, cosines = filled.index.search(vector, k, allowed=allowed)
        pairs = zip(map(filled.owners.get, ids.tolist()), cosines.tolist(), strict=True)
        return [(n, cosine) for n, cosine in pairs if n is not None]

    def vectors(self, connection: sqlite3.Connection, ids: Sequence[int]) -> Float32:
        """Return the vectors with these ids, which the transaction sees, in their order."""
        filled, wanted = self._filled, np.array(ids, dtype=np.int64)
        if filled is not None:
            # A vector never changes. One that is not there was taken out since the transaction began.
            with contextlib.suppress(KeyError):
                return filled.index.get(wanted)
        rows = connection.execute(
            "SELECT id, vector FROM vectors WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        found = {number: np.frombuffer(vector, dtype=np.float32) for number, vector in rows}
        return np.array([found[number] for number in ids])

    def scale(self, connection: sqlite3.Connection) -> Scale:
        """Return how the stored vectors' cosines are to be read, measured anew after each change."""
        newest = newest_change(connection)
        covered, scale = self._scale
        if covered != newest:
            scale = measured_scale(_sample(connection))
            self._scale = (newest, scale)
        return scale

    def sync(self, connection: sqlite3.Connection) -> None:
        """Bring the index up to the state that `connection`'s transaction sees."""
        self._up_to_date(connection)

    def _up_to_date(self, connection: sqlite3.Connection) -> _Filled | None:
        current = connection.execute("SELECT generation, dim FROM generations WHERE state = 'current'").fetchone()
        if current is None:
            return None
        generation, dim = current
        with self._lock:
            filled = self._filled
            newest = newest_change(connection)
            if filled is not None and filled.generation > generation:
                # The transaction began before a re-embedding was swapped in: one more look at the old vectors.
                return self._build(connection, generation, dim, newest)
            if filled is None or filled.generation < generation or tail_is_gone(connection, filled.covered, newest):
                self._filled = filled = self._build(connection, generation, dim, newest)
            elif newest > filled.covered:
                _follow(connection, filled, newest)
            return filled

    def _build(self, connection: sqlite3.Connection, generation: int, dim: int, newest: int) -> _Filled:
        filled = _Filled(generation, self._make_index(dim), newest)
        rows = connection.execute("SELECT id, memory, vector FROM vectors WHERE generation = ?", (generation,))
        while batch := rows.fetchmany(512):
            _add(filled, batch)
        return filled

    def drop(self) -> None:
        """Forget the index; the next call builds it anew."""
        with self._lock:
            self._filled = None


def _sample(connection: sqlite3.Connection) -> Float32:
    rows = connection.execute(
        "SELECT vector FROM vectors WHERE generation = (SELECT generation FROM generations WHERE state = 'current') "
        "ORDER BY id LIMIT ?",
        (SAMPLE,),
    ).fetchall()
    return np.array([np.frombuffer(vector, dtype=np.float32) for (vector,) in rows])


def newest_change(connection: sqlite3.Connection) -> int:
    """Return the number of the newest change that this transaction sees."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def tail_is_gone(connection: sqlite3.Connection, covered: int, newest: int) -> bool:
    """Tell whether changes after `covered` were pruned from the feed, so that it cannot be followed from there."""
    if newest <= covered:
        return False
    oldest = connection.execute("SELECT min(seq) FROM changes").fetchone()[0]
    return oldest is None or bool(oldest > covered + 1)


def _follow(connection: sqlite3.Connection, filled: _Filled, newest: int) -> None:
    rows = connection.execute(
        "SELECT op, vector FROM changes WHERE seq > ? AND vector IS NOT NULL ORDER BY seq", (filled.covered,)
    ).fetchall()
    gone = [vector for op, vector in rows if op == "delete"]
    new = [vector for op, vector in rows if op == "put"]
    for start in range(0, len(new), 500):
        batch = new[start : start + 500]
        found = connection.execute(
            f"SELECT id, memory, vector FROM vectors WHERE generation = ? AND id IN ({', '.join('?' * len(batch))})",
            (filled.generation, *batch),
        ).fetchall()
        if found:
            _add(filled, found)
    # Last: a memory that was rewritten is found by its old vector until its new one is there.
    if gone:
        filled.index.remove(np.array(gone, dtype=np.int64))
        for vector in gone:
            filled.owners.pop(vector, None)
    filled.covered = newest


def _add(filled: _Filled, rows: Sequence[tuple[int, int, bytes]]) -> None:
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32).reshape(len(rows), -1)
    # Owners first: a search that sees a new vector must be able to name its memory.
    filled.owners.update((row[0], row[1]) for row in rows)
    filled.index.add(ids, vectors)
