"""This process's vector index of one project, brought up to date from the change feed at the start of each call."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from reasoningbank.errors import StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.search.relevance import SAMPLE, Scale, measured_scale
from reasoningbank.services.cache.index_snapshot import FROM, Filled, is_due, load, save
from reasoningbank.storage.database import Database
from reasoningbank.storage.stored_vectors import Row, StoredVectors, current_generation
from reasoningbank.vectors.base import Float32
from reasoningbank.vectors.faiss import FaissIndex

log = logging.getLogger("reasoningbank")

Ids = npt.NDArray[np.int64]


class IndexView:
    """The index of stored vectors of one project's current generation. It is derived: dropped, it comes back the same.

    It may be ahead of a transaction that began before another thread's call; what that transaction does not see is
    then left out when rows are loaded.

    Args:
        stored: the vectors that it is an index of.
        rebuilt: called when a large part of the index was made from the rows, which a snapshot would have saved.
    """

    def __init__(self, stored: StoredVectors, rebuilt: Callable[[IndexView], None]) -> None:
        self._stored, self._rebuilt = stored, rebuilt
        self._lock = threading.Lock()
        self._filled: Filled | None = None
        self._made = 0
        self._scale: tuple[object, Scale] = (None, Scale())
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock; an index that was being changed is forgotten."""
        if self._lock.locked():
            self._filled = None
        self._lock = threading.Lock()

    def nearest(
        self, connection: sqlite3.Connection, vector: Float32, k: int, allowed: Ids | None = None
    ) -> list[tuple[int, float]]:
        """Return up to `k` vectors' (row number of the owner, cosine), nearest first.

        A memory can come twice, by its lesson and by what it applies to.
        """
        filled = self._up_to_date(connection)
        if filled is None:
            return []
        ids, cosines = filled.index.search(vector, k, allowed=allowed, fetch=partial(self._fetch, connection))
        pairs = zip(map(filled.owners.get, ids.tolist()), cosines.tolist(), strict=True)
        return [(n, cosine) for n, cosine in pairs if n is not None]

    def vectors(self, connection: sqlite3.Connection, ids: Sequence[int]) -> Float32:
        """Return the vectors with these ids, which the transaction sees, in their order."""
        filled, wanted = self._filled, np.array(ids, dtype=np.int64)
        if filled is not None:
            # A vector never changes. One that is not there was taken out since the transaction began.
            with contextlib.suppress(KeyError):
                return filled.index.get(wanted, partial(self._fetch, connection))
        found = self._fetch(connection, ids)
        return np.array([found[number] for number in ids])

    def _fetch(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Float32]:
        stored = self._stored.vectors(connection, ids)
        return {number: np.frombuffer(vector, dtype=np.float32) for number, vector in stored.items()}

    def scale(self, connection: sqlite3.Connection) -> Scale:
        """Return how the stored vectors' cosines are to be read, measured anew after each change."""
        state = (current_generation(connection), self._stored.newest(connection))
        measured, scale = self._scale
        if measured != state:
            vectors = self._stored.sample(connection, SAMPLE)
            scale = measured_scale(np.array([np.frombuffer(vector, dtype=np.float32) for vector in vectors]))
            self._scale = (state, scale)
        return scale

    def sync(self, connection: sqlite3.Connection) -> None:
        """Bring the index up to the state that `connection`'s transaction sees."""
        self._up_to_date(connection)

    def _up_to_date(self, connection: sqlite3.Connection) -> Filled | None:
        filled = self._synced(connection)
        if filled is not None and 2 * self._made > len(filled.index) >= FROM:
            self._made = 0
            self._rebuilt(self)
        return filled

    def _synced(self, connection: sqlite3.Connection) -> Filled | None:
        current = current_generation(connection)
        if current is None:
            return None
        generation, dim = current
        newest = self._stored.newest(connection)
        filled = self._filled
        if filled is None or filled.generation != generation or filled.covered < newest:
            # Who needs no more than what is covered, does not wait for those who do.
            filled = self._caught_up(connection, generation, dim, newest)
        return filled

    def _caught_up(self, connection: sqlite3.Connection, generation: int, dim: int, newest: int) -> Filled:
        with self._lock:
            filled = self._filled
            if filled is not None and filled.generation > generation:
                # The transaction began before a re-embedding was swapped in: one more look at the old vectors.
                return self._build(connection, generation, dim, newest)
            if filled is None or filled.generation < generation:
                self._made = 0
                filled = load(connection, self._stored)
            elif self._stored.tail_is_gone(connection, filled.covered, newest):
                filled = None
            if filled is None:
                filled = self._build(connection, generation, dim, newest)
            elif newest > filled.covered:
                self._follow(connection, filled, newest)
            self._filled = filled
            return filled

    def _build(self, connection: sqlite3.Connection, generation: int, dim: int, newest: int) -> Filled:
        filled = Filled(generation, FaissIndex(dim), newest)
        for batch in self._stored.every(connection, generation):
            self._add(filled, batch)
        return filled

    def _follow(self, connection: sqlite3.Connection, filled: Filled, newest: int) -> None:
        new, gone = self._stored.changed(connection, filled.covered)
        for batch in self._stored.these(connection, filled.generation, new):
            self._add(filled, batch)
        # Last: a memory that was rewritten is found by its old vector until its new one is there.
        if gone:
            filled.index.remove(np.array(gone, dtype=np.int64))
            for vector in gone:
                filled.owners.pop(vector, None)
        filled.covered = newest

    def _add(self, filled: Filled, rows: Sequence[Row]) -> None:
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32).reshape(len(rows), -1)
        # Owners first: a search that sees a new vector must be able to name what it belongs to.
        filled.owners.update((row[0], row[1]) for row in rows)
        filled.index.add(ids, vectors)
        self._made += len(rows)

    def keep(self, database: Database) -> None:
        """Write a snapshot of the index if one is due; whatever the disk says to that, it is only a matter of speed."""
        filled = self._filled
        if filled is None or database.read_only:
            return
        try:
            with database.read() as connection:
                if not is_due(connection, self._stored, len(filled.index)):
                    return
                self._synced(connection)
            with self._lock:
                filled = self._filled
                covered = -1 if filled is None else filled.covered
            if filled is not None:
                save(database, self._stored, filled, covered, partial(self._is_still, filled, covered))
        except (OSError, StorageError) as error:
            log.debug("no snapshot of the index was written: %s", error)

    def _is_still(self, filled: Filled, covered: int) -> bool:
        with self._lock:
            return self._filled is filled and filled.covered == covered

    def drop(self) -> None:
        """Forget the index; the next call builds it anew."""
        with self._lock:
            self._filled = None
