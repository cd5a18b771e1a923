"""Exact search in plain numpy: the reference that other indexes are measured against."""

from __future__ import annotations

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, Int64, best_first, checked_query, checked_rows, cosines
from reasoningbank.vectors.locks import ReadersWriterLock


class ExactIndex:
    """A dictionary of vectors that is scanned whole; right by its simplicity, and fast enough for a few thousand."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._rows: dict[int, Float32] = {}
        self._lock = ReadersWriterLock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock: the thread that held it may not be in this process."""
        self._lock = ReadersWriterLock()

    def __len__(self) -> int:
        """Return how many ids can be found."""
        return len(self._rows)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Put unit rows under ids; see `VectorIndex.add`."""
        ids, rows = checked_rows(ids, vectors, self.dim)
        with self._lock.writing():
            self._rows.update(zip(ids.tolist(), rows.copy(), strict=True))

    def remove(self, ids: Int64) -> None:
        """Take ids out; see `VectorIndex.remove`."""
        with self._lock.writing():
            for number in np.asarray(ids, dtype=np.int64).tolist():
                self._rows.pop(number, None)

    def search(self, query: Float32, k: int, *, allowed: Int64 | None = None) -> tuple[Int64, Float32]:
        """Find the k nearest; see `VectorIndex.search`."""
        query = checked_query(query, self.dim)
        with self._lock.reading():
            live = self._rows if allowed is None else set(np.asarray(allowed).tolist()) & self._rows.keys()
            ids = np.fromiter(live, dtype=np.int64, count=len(live))
            rows = self._matrix(ids)
        return best_first(ids, cosines(rows, query), k)

    def get(self, ids: Int64) -> Float32:
        """Return the rows of ids; see `VectorIndex.get`."""
        with self._lock.reading():
            return self._matrix(np.asarray(ids, dtype=np.int64))

    def _matrix(self, ids: Int64) -> Float32:
        if not ids.size:
            return np.empty((0, self.dim), dtype=np.float32)
        return np.stack([self._rows[number] for number in ids.tolist()])
