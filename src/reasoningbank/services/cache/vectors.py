"""The cache of vectors: this process's index of one project's, kept up to date from the change feed."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from reasoningbank.errors import StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.search.relevance import SAMPLE, Scale, measured_scale
from reasoningbank.services.cache.snapshots import FROM, Filled, is_due, load, save
from reasoningbank.storage.contract import Generation, Reading
from reasoningbank.storage.place import Project
from reasoningbank.storage.stored_vectors import Row, StoredVectors, Tail
from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.faiss import FaissIndex
from reasoningbank.vectors.flat import FlatIndex

log = logging.getLogger("reasoningbank")

FEW_SEARCHES = 20
"""Searches of a process that an engine makes by itself, where it can, before the process reads a large index."""

FLAT = 4_096
"""Vectors up to which they are scanned as they are; codes pay beyond."""


class Said(threading.local):
    """What is to be said of the search that a thread made last.

    Attributes:
        problem: what kept it from looking at every vector, in words; None when nothing.
    """

    problem: str | None = None


class VectorCache:
    """The index of stored vectors of one project's current generation. It is derived: dropped, it comes back the same.

    It may be ahead of a transaction that began before another thread's call; what that transaction does not see is
    then left out when rows are loaded. `rebuilt` is called as `ProjectCache` says.
    """

    def __init__(self, stored: StoredVectors, rebuilt: Callable[[VectorCache], None]) -> None:
        self._stored, self._rebuilt = stored, rebuilt
        self._lock = threading.Lock()
        self._filled: Filled | None = None
        self._made = 0
        self._scale: tuple[object, Scale] = (None, Scale())
        self.where, self.said = "kept", Said()
        self._asked = 0
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock; an index that was being changed is forgotten."""
        if self._lock.locked():
            self._filled = None
        self._lock = threading.Lock()

    def nearest(
        self, reading: Reading, vector: Float32, k: int, allowed: Int64 | None = None, least: float = -math.inf
    ) -> tuple[Int64, Float32]:
        """Return what up to `k` vectors belong to (row numbers), and their cosines, nearest first.

        A memory can come twice, by its lesson and by what it applies to. Considered are the vectors with `allowed` ids
        (None for all) whose cosine is at least `least`.
        """
        filled = self.follow(reading)
        if filled is None:
            return self._served(reading, vector, k, allowed, least)
        if isinstance(filled.index, FlatIndex):
            ids, cosines = filled.index.search(vector, k, allowed=allowed, least=least)
        else:
            fetch = partial(self._fetch, reading)
            ids, cosines = filled.index.search(vector, k, allowed=allowed, fetch=fetch, least=least)
        owners = np.array([filled.owners.get(number, 0) for number in ids.tolist()], dtype=np.int64)
        if not owners.all():
            # Taken out by another thread just now.
            owners, cosines = owners[owners > 0], cosines[owners > 0]
        return owners, cosines

    def _is_served(self, reading: Reading) -> bool:
        """Tell whether the engine itself searches, so that nothing is kept here."""
        if self._filled is not None:
            return False
        # As many numbers were given as there are vectors, or more.
        large = reading.given().get(self._stored.table, 0) > FLAT
        return (self.where == "server" or (large and self._asked < FEW_SEARCHES)) and reading.near is not None

    def expect(self, reading: Reading) -> None:
        """Let an engine that will search get ready for it, while this process does: it is not waited for."""
        current = reading.moment.generation
        near = reading.near if self.where != "kept" and self._is_served(reading) else None
        if current is not None and near is not None:
            near.expect(current.number, current.dim)

    def _served(
        self, reading: Reading, vector: Float32, k: int, allowed: Int64 | None, least: float
    ) -> tuple[Int64, Float32]:
        near, generation = (None if self.where == "kept" else reading.near), reading.moment.searched
        self._asked += 1
        only = None if allowed is None else allowed.tolist()
        found = [] if near is None or not generation else near.nearest(generation, vector, k, only, least)
        owners, cosines = ([each[place] for each in found] for place in (0, 1))
        return np.array(owners, dtype=np.int64), np.array(cosines, dtype=np.float32)

    def vectors(self, reading: Reading, ids: Int64, dim: int) -> Float32:
        """Return the (n, dim) vectors with these ids, in their order; zeros for 0 and for those that nobody has."""
        held = np.flatnonzero(ids)
        if len(held) < len(ids):
            every = np.zeros((len(ids), dim), dtype=np.float32)
            if len(held):
                every[held] = self.vectors(reading, ids[held], dim)
            return every
        indexed = self._indexed(reading, ids, dim)
        if indexed is not None:
            return indexed
        # Since the transaction began some went, which the table still has for it, and others came, which the index has.
        found = self._fetch(reading, ids.tolist())
        rows = np.zeros((len(ids), dim), dtype=np.float32)
        for place, number in enumerate(ids.tolist()):
            vector = found[number] if number in found else self._indexed(reading, ids[place : place + 1], dim)
            if vector is not None and vector.size == dim:
                rows[place] = vector
        return rows

    def _indexed(self, reading: Reading, ids: Int64, dim: int) -> Float32 | None:
        """Return the vectors as the index has them; None when one is not there."""
        filled = self._filled
        if filled is not None and filled.index.dim == dim:
            # A vector never changes.
            with contextlib.suppress(KeyError):
                if isinstance(filled.index, FlatIndex):
                    return filled.index.get(ids)
                return filled.index.get(ids, partial(self._fetch, reading))
        return None

    def _fetch(self, reading: Reading, ids: Sequence[int]) -> dict[int, Float32]:
        stored = self._stored.vectors(reading, ids)
        return {number: np.frombuffer(vector, dtype=np.float32) for number, vector in stored.items()}

    def scale(self, reading: Reading) -> Scale:
        """Return how the stored vectors' cosines are to be read, measured anew after vectors came or went."""
        filled = self.follow(reading)
        state = (reading.moment.generation, self._stored.newest(reading.moment) if filled is None else filled.version)
        measured, scale = self._scale
        if measured != state:
            vectors = self._stored.sample(reading, SAMPLE)
            scale = measured_scale(np.array([np.frombuffer(vector, dtype=np.float32) for vector in vectors]))
            self._scale = (state, scale)
        return scale

    def follow(self, reading: Reading, tail: Tail | None = None) -> Filled | None:
        """Bring the index up to the state that a transaction sees, and return it; None before the first vector.

        `tail` is what the feed says since the last time, where the caller has read it already.
        """
        current = reading.moment.generation
        if current is None or (self.where != "kept" and self._is_served(reading)):
            return None
        newest = self._stored.newest(reading.moment)
        filled = self._filled
        if filled is None or filled.generation != current.number or filled.covered < newest:
            # Who needs no more than what is covered, does not wait for those who do.
            filled = self._caught_up(reading, current, newest, tail)
            if self._grew(filled):
                self._made = 0
                self._rebuilt(self)
        return filled

    def _grew(self, filled: Filled) -> bool:
        """Tell whether most of the index was made from the rows, which a snapshot would have saved."""
        return 2 * self._made > len(filled.index) >= FROM

    def _loaded(self, reading: Reading) -> Filled | None:
        return load(reading, self._stored)

    def _caught_up(self, reading: Reading, current: Generation, newest: int, tail: Tail | None) -> Filled:
        with self._lock:
            filled = self._filled
            if filled is not None and filled.generation > current.number:
                # The transaction began before a re-embedding was swapped in: one more look at the old vectors.
                return self._build(reading, current, newest)
            if filled is None or filled.generation < current.number:
                self._made = 0
                filled = self._loaded(reading)
            if filled is not None and filled.covered < newest:
                if tail is None or tail.since != filled.covered:
                    tail = self._stored.tail(reading, filled.covered)
                filled = None if tail is None else self._follow(reading, filled, tail)
            self._filled = filled or self._build(reading, current, newest)
            return self._filled

    def _build(self, reading: Reading, current: Generation, newest: int) -> Filled:
        filled = Filled(current.number, FlatIndex(current.dim), newest)
        for batch in self._stored.every(reading, current.number):
            self._add(filled, batch)
        return filled

    def _follow(self, reading: Reading, filled: Filled, tail: Tail) -> Filled:
        new, gone = tail.vectors("put"), tail.vectors("delete")
        for batch in self._stored.these(reading, filled.generation, new):
            self._add(filled, batch)
        # Last: a memory that was rewritten is found by its old vector until its new one is there.
        if gone:
            filled.index.remove(np.array(gone, dtype=np.int64))
            for vector in gone:
                filled.owners.pop(vector, None)
        if new or gone:
            filled.version = tail.newest
        filled.covered = tail.newest
        return filled

    def _add(self, filled: Filled, rows: Sequence[Row]) -> None:
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32).reshape(len(rows), -1)
        # Owners first: a search that sees a new vector must be able to name what it belongs to.
        filled.owners.update((row[0], row[1]) for row in rows)
        filled.index.add(ids, vectors)
        self._made += len(rows)
        if isinstance(filled.index, FlatIndex) and len(filled.index) > FLAT:
            coded = FaissIndex(filled.index.dim)
            coded.add(*filled.index.all)
            filled.index = coded

    def skip(self, since: int, newest: int) -> None:
        """Take note that no vector came or went between two changes."""
        with self._lock:
            if self._filled is not None and self._filled.covered == since:
                self._filled.covered = newest

    def keep(self, project: Project) -> None:
        """Write a snapshot of the index if one is due; whatever the disk says to that, it is only a matter of speed."""
        filled = self._filled
        if filled is None or isinstance(filled.index, FlatIndex) or project.read_only:
            return
        try:
            with project.read() as reading:
                if not is_due(reading, self._stored, len(filled.index)):
                    return
                self.follow(reading)
            with self._lock:
                filled = self._filled
                covered = -1 if filled is None else filled.covered
            if filled is not None and isinstance(filled.index, FaissIndex):
                is_same = partial(self._is_still, filled, covered)
                save(project, self._stored, filled.index, filled, covered=covered, is_same=is_same)
        except (OSError, StorageError) as error:
            log.debug("no snapshot of the index was written: %s", error)

    def _is_still(self, filled: Filled, covered: int) -> bool:
        with self._lock:
            return self._filled is filled and filled.covered == covered

    def drop(self) -> None:
        """Forget the index; the next call builds it anew."""
        with self._lock:
            self._filled = None
