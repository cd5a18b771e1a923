"""The default index: FAISS scans 8-bit codes, and what it finds is scored exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, Int64, best_first, checked_query, checked_rows, cosines
from reasoningbank.vectors.blocks import Block, CodedQuery, Scanned, one_thread
from reasoningbank.vectors.locks import ReadersWriterLock

BLOCK_ROWS = 32_768
"""Rows of a full block. It is coded anew, and set aside in memory, as a whole."""

TURN = 1_024
"""Rows changed before waiting searches get their turn: a few milliseconds' worth."""

TIMES, SPARE = 4, 16
"""How many rows are looked at by their codes, times k and beyond; where a doubt is left, more are, until none is."""

GATHERED = 1_024
"""Up to this many allowed ids, their rows are scored directly; scanning past all others costs more."""


class FaissIndex:
    """Exact results at a quarter of the memory traffic of a flat index.

    A block's codes are scanned for candidates, which are scored with the vectors themselves. How wrong a code can be is
    known, so that the search goes on where a row that was not looked at might still belong among the best k: the answer
    is the exact one, ties included. Codes need no training, so nothing is ever rebuilt.

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
        for start in range(0, ids.size, TURN):
            with self._lock.writing(), one_thread():
                self._put(ids[start : start + TURN], rows[start : start + TURN])

    def remove(self, ids: Int64) -> None:
        """Take ids out; see `VectorIndex.remove`."""
        ids = np.asarray(ids, dtype=np.int64)
        for start in range(0, ids.size, TURN):
            with self._lock.writing(), one_thread():
                for number in ids[start : start + TURN].tolist():
                    hole = self._place.pop(number, None)
                    if hole is not None:
                        self._fill(hole)

    def search(self, query: Float32, k: int, *, allowed: Int64 | None = None) -> tuple[Int64, Float32]:
        """Find the k nearest; see `VectorIndex.search`."""
        query = checked_query(query, self.dim)
        with self._lock.reading(), one_thread():
            if allowed is not None and np.size(allowed) <= GATHERED:
                return self._among(query, k, np.asarray(allowed, dtype=np.int64))
            return self._scan(query, k, allowed)

    def get(self, ids: Int64) -> Float32:
        """Return the rows of ids; see `VectorIndex.get`."""
        with self._lock.reading():
            return self._gather([self._place[number] for number in np.asarray(ids, dtype=np.int64).tolist()])

    def _scan(self, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        if k < 1 or not self._blocks:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        coded = CodedQuery(query)
        masks = [None if allowed is None else np.isin(block.ids, allowed) for block in self._blocks]
        count = TIMES * k + SPARE
        scans = [block.scan(coded, count, mask) for block, mask in zip(self._blocks, masks, strict=True)]
        while True:
            ids, scores = self._scored(scans, query, k)
            # A tie is a doubt as well: the row that was not looked at may have the smaller id.
            needed = float(scores[-1]) if ids.size == k else -math.inf
            doubtful = [number for number, one in enumerate(scans) if one.unseen >= needed and one.unseen > -math.inf]
            if not doubtful:
                return ids, scores
            count *= 4
            for number in doubtful:
                scans[number] = self._blocks[number].scan(coded, count, masks[number])

    def _scored(self, scans: Sequence[Scanned], query: Float32, k: int) -> tuple[Int64, Float32]:
        """Return the k best of what was scanned by their exact scores, best first."""
        least = np.concatenate([one.scores - np.float32(one.bound) for one in scans])
        # So many are at least this good, whatever their codes hide: what cannot reach it needs no exact score.
        needed = float(np.partition(least, -k)[-k]) if least.size > k else -math.inf
        ids, scores = [], []
        for block, one in zip(self._blocks, scans, strict=True):
            rows = one.rows[one.scores >= needed - one.bound]
            ids.append(block.ids[rows])
            scores.append(cosines(block.rows[rows], query))
        return best_first(np.concatenate(ids), np.concatenate(scores), k)

    def _among(self, query: Float32, k: int, allowed: Int64) -> tuple[Int64, Float32]:
        ids = [number for number in dict.fromkeys(allowed.tolist()) if number in self._place]
        rows = self._gather([self._place[number] for number in ids])
        return best_first(np.array(ids, dtype=np.int64), cosines(rows, query), k)

    def _gather(self, places: list[int]) -> Float32:
        block, row = np.divmod(np.array(places, dtype=np.int64), self._size)
        gathered = np.empty((len(places), self.dim), dtype=np.float32)
        for number in set(block.tolist()):
            here = block == number
            gathered[here] = self._blocks[number].rows[row[here]]
        return gathered

    def _put(self, ids: Int64, rows: Float32) -> None:
        known = np.fromiter((number in self._place for number in ids.tolist()), dtype=bool, count=ids.size)
        if known.any():
            for number, row in zip(ids[known].tolist(), rows[known], strict=True):
                self._write(self._place[number], number, row)
            ids, rows = ids[~known], rows[~known]
        self._append(ids, rows)

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
