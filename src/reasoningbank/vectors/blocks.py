"""Blocks of rows, each a flat FAISS index: the storage under `FaissIndex`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import faiss
import numpy as np

from reasoningbank.vectors.base import Float32, Int64


@contextmanager
def one_thread() -> Iterator[None]:
    """Run FAISS on the calling thread only, and leave the caller's own setting as it was.

    More threads are slower for one query, and a child forked after FAISS has started some waits for them for ever. The
    setting belongs to a thread, not to the process, so that it has to be made at each use.
    """
    before = faiss.omp_get_max_threads()
    if before == 1:
        yield
        return
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class Block:
    """At most `size` vectors and their ids, in no particular order. Not safe for threads by itself."""

    def __init__(self, dim: int, size: int) -> None:
        self._size = size
        self._flat = faiss.IndexFlatIP(dim)
        self._ids = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self._flat.ntotal)

    @property
    def room(self) -> int:
        """How many rows still fit."""
        return self._size - len(self)

    @property
    def ids(self) -> Int64:
        """The ids by row."""
        return self._ids[: len(self)]

    @property
    def rows(self) -> Float32:
        """The vectors by row, as they lie in FAISS's memory: valid until the next append or pop."""
        count, dim = len(self), self._flat.d
        if not count:
            return np.empty((0, dim), dtype=np.float32)
        view: Float32 = faiss.rev_swig_ptr(self._flat.get_xb(), count * dim).reshape(count, dim)
        return view

    def append(self, ids: Int64, rows: Float32) -> None:
        """Add rows at the end; there must be room."""
        count = len(self)
        if count + ids.size > self._ids.size:
            self._ids = np.resize(self._ids, min(self._size, max(64, 2 * (count + ids.size))))
        self._ids[count : count + ids.size] = ids
        self._flat.add(rows)

    def write(self, row: int, number: int, vector: Float32) -> None:
        """Replace one row and its id."""
        self.rows[row] = vector
        self._ids[row] = number

    def pop(self) -> tuple[int, Float32]:
        """Take the last row off and return its id and vector."""
        last = len(self) - 1
        number, vector = int(self._ids[last]), self.rows[last].copy()
        self._flat.remove_ids(faiss.IDSelectorRange(last, last + 1))
        return number, vector

    def nearest(self, query: Float32, k: int, mask: np.ndarray[tuple[int], np.dtype[np.bool_]] | None) -> Int64:
        """Return the rows, best first, whose inner product with the query is largest: k of them, or all there are."""
        if mask is None:
            _, rows = self._flat.search(query[None, :], min(k, len(self)))
            return np.asarray(rows[0], dtype=np.int64)
        bits = np.packbits(mask, bitorder="little")
        chosen = faiss.IDSelectorBitmap(len(self), faiss.swig_ptr(bits))
        found = min(k, int(mask.sum()))
        if not found:
            return np.empty(0, dtype=np.int64)
        parameters = faiss.SearchParameters()
        parameters.sel = chosen
        _, rows = self._flat.search(query[None, :], found, params=parameters)
        return np.asarray(rows[0][rows[0] >= 0], dtype=np.int64)
