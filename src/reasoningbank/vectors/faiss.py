"""The default index: FAISS, exact, on one thread, with deletes that stay deletes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, Int64, best_first, checked_query, checked_rows, cosines
from reasoningbank.vectors.blocks import Block, one_thread
from reasoningbank.vectors.locks import ReadersWriterLock

BLOCK_ROWS = 16_384
"""Rows of a full block. A vector that grows is copied whole; in blocks, no copy is larger than one of them."""

SPARE = 16
"""Candidates asked for beyond k, so that ties at the cut are seen and broken by id rather than by FAISS's heap."""

ROUNDING = 1e-5
"""FAISS sums in 32 bits and in an order of its own; a difference below this says nothing."""

GATHERED = 1_024
"""Up to this many allowed ids, their rows are scored directly; scanning past all others costs more."""


class FaissIndex:
    """Flat FAISS blocks with ids of ours, re-scored so that equal vectors score equally.

    A removed row is overwritten by the last one at once, so nothing dead is ever scanned and nothing has to be
    compacted. FAISS allows no change beside a search (the process crashes), hence the lock.

    Args:
        dim: how many numbers a vector has.
        block_rows: rows of a block.
    """

    def __init__(self, dim: int, *, block_rows: int = BLOCK_ROWS) -> None:
        self.dim = dim
        self._size = block_rows
        self._blocks: list[Block] = []
        self._place: dict[int, int] = {}
        self._lock = ReadersWriterLock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock: the thread that held it may not be in this process."""
        self._lock = ReadersWriterLock()

    def __len__(self) -> int:
        """Return how many ids can be found."""
        return len(self._place)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Put unit rows under ids; see `VectorIndex.add`."""
        ids, rows = checked_rows(ids, vectors, self.dim)
        with self._lock.writing(), one_thread():
            known = np.fromiter((number in self._place for number in ids.tolist()), dtype=bool, count=ids.size)
            for number, row in zip(ids[known].tolist(), rows[known], strict=True):
                self._write(self._place[number], number, row)
            self._append(ids[~known], rows[~known])

    def remove(self, ids: Int64) -> None:
        """Take ids out; see `VectorIndex.remove`."""
        with self._lock.writing(), one_thread():
            for number in np.asarray(ids, dtype=np.int64).tolist():
                hole = self._place.pop(number, None)
                if hole is not None:
                    self._fill(hole)

    def search(self, query: Float32, k: int, *, allowed: Int64 | None = None) -> tuple[Int64, Float32]:
        """Find the k nearest; see `VectorIndex.search`."""
        query = checked_query(query, self.dim)
        with self._lock.reading(), one_thread():
            if allowed is not None and np.size(allowed) <= GATHERED:
                return self._among(query, k, np.asarray(allowed, dtype=np.int64))
            found = [self._in_block(block, query, k, allowed) for block in self._blocks if k > 0]
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        return best_first(np.concatenate([ids for ids, _ in found]), np.concatenate([got for _, got in found]), k)

    def get(self, ids: Int64) -> Float32:
        """Return the rows of ids; see `VectorIndex.get`."""
        with self._lock.reading():
            return self._gather([self._place[number] for number in np.asarray(ids, dtype=np.int64).tolist()])

    def _in_block(self, block: Block, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        """Return the best k of one block; ties at the cut are all looked at, whatever FAISS's heap kept of them."""
        mask: npt.NDArray[np.bool_] | None = None if allowed is None else np.isin(block.ids, allowed)
        fetch = k + SPARE
        while True:
            rows = block.nearest(query, fetch, mask)
            ids, scores = best_first(block.ids[rows], cosines(block.rows[rows], query), rows.size)
            if rows.size < fetch or scores[-1] < scores[k - 1] - ROUNDING:
                return ids[:k], scores[:k]
            fetch *= 4

    def _among(self, query: Float32, k: int, allowed: Int64) -> tuple[Int64, Float32]:
        ids = [number for number in dict.fromkeys(allowed.tolist()) if number in self._place]
        rows = self._gather([self._place[number] for number in ids])
        return best_first(np.array(ids, dtype=np.int64), cosines(rows, query), k)

    def _gather(self, places: list[int]) -> Float32:
        block, row = np.divmod(np.array(places, dtype=np.int64), self._size)
        gathered = np.empty((len(places), self.dim), dtype=np.float32)
        for number in np.unique(block):
            here = block == number
            gathered[here] = self._blocks[number].rows[row[here]]
        return gathered

    def _append(self, ids: Int64, rows: Float32) -> None:
        while ids.size:
            if not self._blocks or not self._blocks[-1].room:
                self._blocks.append(Block(self.dim, self._size))
            last = self._blocks[-1]
            first = (len(self._blocks) - 1) * self._size + len(last)
            fits = min(last.room, ids.size)
            last.append(ids[:fits], rows[:fits])
            self._place.update(zip(ids[:fits].tolist(), range(first, first + fits), strict=True))
            ids, rows = ids[fits:], rows[fits:]

    def _write(self, place: int, number: int, row: Float32) -> None:
        block, offset = divmod(place, self._size)
        self._blocks[block].write(offset, number, row)

    def _fill(self, hole: int) -> None:
        """Move the last row into a hole, so that only the last block is ever short."""
        last_place = (len(self._blocks) - 1) * self._size + len(self._blocks[-1]) - 1
        number, row = self._blocks[-1].pop()
        if not len(self._blocks[-1]):
            self._blocks.pop()
        if hole != last_place:
            self._write(hole, number, row)
            self._place[number] = hole
