"""The index of a small bank: a few thousand vectors in one array, scanned whole."""

from __future__ import annotations

import math
import threading

import faiss
import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, Int64, checked_query, checked_rows
from reasoningbank.vectors.blocks import grown

FEWEST = 64

_State = tuple[Int64, Float32, dict[int, int], int]
"""Ids, rows, the place of each id, and how many there are: only what is behind these is ever changed."""


class FlatIndex:
    """Unit vectors of `dim` numbers by id, found by cosine. Safe for several threads, and in a forked child.

    A search needs no lock: a change is made aside and put into place whole.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._lock = threading.Lock()
        self._state: _State = (np.empty(FEWEST, dtype=np.int64), np.empty((FEWEST, dim), dtype=np.float32), {}, 0)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock: the thread that held it may not be in this process."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many ids can be found."""
        return self._state[3]

    @property
    def all(self) -> tuple[Int64, Float32]:
        """All ids and their rows, as they are now."""
        ids, rows, _, count = self._state
        return ids[:count], rows[:count]

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Put unit rows under ids; see `FaissIndex.add`."""
        ids, vectors = checked_rows(ids, vectors, self.dim)
        with self._lock:
            self._drop(ids)
            held, rows, place, count = self._state
            if count + ids.size > len(held):
                capacity = 2 * (count + ids.size)
                held, rows = grown(held[:count], capacity), grown(rows[:count], capacity)
            held[count : count + ids.size], rows[count : count + ids.size] = ids, vectors
            # A search that is under way leaves alone what is behind its own count.
            place.update(zip(ids.tolist(), range(count, count + ids.size), strict=True))
            self._state = (held, rows, place, count + ids.size)

    def remove(self, ids: Int64) -> None:
        """Take ids out; unknown ones are ignored. A search that starts later cannot return them."""
        with self._lock:
            self._drop(np.asarray(ids, dtype=np.int64))

    def _drop(self, ids: Int64) -> None:
        held, rows, place, count = self._state
        gone = [place[number] for number in ids.tolist() if number in place]
        if gone:
            held, rows = np.delete(held[:count], gone), np.delete(rows[:count], gone, axis=0)
            self._state = (held, rows, dict(zip(held.tolist(), range(len(held)), strict=True)), len(held))

    def search(
        self, query: Float32, k: int, *, allowed: Int64 | None = None, least: float = -math.inf
    ) -> tuple[Int64, Float32]:
        """Find the `k` ids whose vectors have the largest inner product with `query`; see `FaissIndex.search`."""
        held, rows, place, count = self._state
        ids = held[:count]
        if query.shape != (self.dim,) or not np.isfinite(query).all():
            query = checked_query(query, self.dim)
        scores = _products(rows, np.ascontiguousarray(query, dtype=np.float32), count)
        if allowed is not None:
            places = {place.get(number, count) for number in np.asarray(allowed).tolist()}
            chosen = sorted(at for at in places if at < count)
            ids, scores = ids[chosen], scores[chosen]
        if least > -math.inf:
            near = np.flatnonzero(scores >= least)
            ids, scores = ids[near], scores[near]
        if 0 < k < len(ids):
            # All that are as good as the k-th stay: which of them are taken is a matter of their ids.
            ahead = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
            ids, scores = ids[ahead], scores[ahead]
        order = np.lexsort((ids, -scores))[: max(k, 0)]
        return ids[order], scores[order]

    def get(self, ids: Int64) -> Float32:
        """Return the (n, dim) rows of `ids`, in their order; the KeyError for one that is not there names it."""
        _, rows, place, _ = self._state
        found: Float32 = rows[[place[number] for number in np.asarray(ids).tolist()]]
        return found


def _products(rows: Float32, query: Float32, count: int) -> Float32:
    """Return the inner product of each of the first rows with the query.

    Every row is summed by itself and in the same order, so that equal rows score equally wherever they stand, and on
    the calling thread alone: a matrix product promises neither.
    """
    products = np.empty(count, dtype=np.float32)
    if count:
        pointers = (faiss.swig_ptr(array) for array in (products, query, rows))
        inner_products = getattr(faiss, "fvec_inner_products_ny")  # noqa: B009 - faiss's stubs leave it out
        inner_products(*pointers, rows.shape[1], count)
    return products
