"""The default index: FAISS scans 8-bit codes, and what it finds is scored exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, Int64, best_first, checked_query, checked_rows, cosines
from reasoningbank.vectors.blocks import Block, Coded, CodedQuery, Scanned, one_thread
from reasoningbank.vectors.locks import ReadersWriterLock

BLOCK_ROWS = 32_768  # of a full block, which is coded anew, and set aside in memory, as a whole
TURN = 1_024  # rows changed before waiting searches get their turn: a few milliseconds' worth
# How many rows are looked at by their codes, times k and beyond; where a doubt is left, more are, until none is.
TIMES, SPARE = 4, 16
GATHERED = 1_024  # up to so many allowed ids, their rows are scored directly; scanning past all others costs more

Fetch = Callable[[list[int]], Mapping[int, Float32]]
"""Gives the vectors of ids, as far as they are there."""


class FaissIndex:
    """Unit vectors of `dim` numbers by id, found by cosine: exact at a quarter of a flat index's memory traffic.

    Ids are 64-bit integers >= 0. Safe for several threads, and in a forked child. An index is derived from the records,
    and can be made anew from them at any time.

    A block's codes are scanned for candidates, which are scored with the vectors themselves. How wrong a code can be is
    known, so that the search goes on where a row that was not looked at might still belong among the best k: the answer
    is the exact one, ties included. Codes need no training, so nothing is ever rebuilt.

    A removed row is overwritten by the last one at once, so nothing dead is ever scanned and nothing has to be
    compacted. FAISS allows no change beside a search (the process crashes), hence the lock.

    One that was restored has only the codes. The few vectors that a search scores are fetched then, and kept.
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

    @classmethod
    def restored(cls, dim: int, blocks: Iterable[Coded], *, block_rows: int = BLOCK_ROWS) -> FaissIndex:
        """Return the index that had these blocks, in their order; its vectors are still to come."""
        made = cls(dim, block_rows=block_rows)
        for coded in blocks:
            first = len(made._blocks) * block_rows
            made._blocks.append(Block.restored(dim, block_rows, coded))
            made._place.update(zip(coded.ids.tolist(), range(first, first + coded.ids.size), strict=True))
        return made

    def coded(self) -> Iterator[Coded]:
        """Yield a copy of each block without its vectors. They are of one state only if nothing changes meanwhile."""
        number = 0
        while True:
            with self._lock.reading():
                if number >= len(self._blocks):
                    return
                coded = self._blocks[number].coded()
            yield coded
            number += 1

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Put unit rows under ids; an id that is there already is replaced, and of a repeated one the last row counts.

        Raises:
            InvalidInputError: wrong shapes, a negative id or a number that is not finite; nothing was added.
        """
        ids, rows = checked_rows(ids, vectors, self.dim)
        for start in range(0, ids.size, TURN):
            with self._lock.writing(), one_thread():
                self._put(ids[start : start + TURN], rows[start : start + TURN])

    def remove(self, ids: Int64) -> None:
        """Take ids out; unknown ones are ignored. A search that starts later cannot return them."""
        ids = np.asarray(ids, dtype=np.int64)
        for start in range(0, ids.size, TURN):
            with self._lock.writing(), one_thread():
                for number in ids[start : start + TURN].tolist():
                    hole = self._place.pop(number, None)
                    if hole is not None:
                        self._fill(hole)

    def search(
        self,
        query: Float32,
        k: int,
        *,
        allowed: Int64 | None = None,
        fetch: Fetch | None = None,
        least: float = -math.inf,
    ) -> tuple[Int64, Float32]:
        """Find the `k` ids whose vectors have the largest inner product with `query`.

        Args:
            query: (dim,) unit vector.
            k: how many; fewer come back when there are fewer. Zero or less gives none.
            allowed: only these ids are considered; unknown ones are ignored. None allows all.
            fetch: gives vectors that a restored index does not have yet; what it does not give is left out.
            least: only those whose product is at least this are wanted, which is quick to tell where there are few.

        Returns:
            Ids and cosines, best first, in [-1, 1] up to rounding. Equal cosines are in ascending order of id.

        Raises:
            InvalidInputError: wrong shape, or a number that is not finite.
        """
        query = checked_query(query, self.dim)
        with self._lock.reading(), one_thread():
            if allowed is not None and np.size(allowed) <= GATHERED:
                ids, scores = self._among(query, k, np.asarray(allowed, dtype=np.int64), fetch)
            else:
                ids, scores = self._scan(query, k, allowed, fetch, least)
        wanted = int((scores >= least).sum())
        return ids[:wanted], scores[:wanted]

    def get(self, ids: Int64, fetch: Fetch | None = None) -> Float32:
        """Return the (n, dim) rows of `ids`, in their order.

        Raises:
            KeyError: an id is not there, or its vector was fetched and not given; the error names it.
        """
        wanted = np.asarray(ids, dtype=np.int64)
        with self._lock.reading():
            found, rows = self._gather(wanted, [self._place[number] for number in wanted.tolist()], fetch)
        if found.size != wanted.size:
            raise KeyError(int(np.setdiff1d(wanted, found)[0]))
        return rows

    def _scan(
        self, query: Float32, k: int, allowed: Int64 | None, fetch: Fetch | None, least: float
    ) -> tuple[Int64, Float32]:
        if k < 1 or not self._blocks:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        coded = CodedQuery(query)
        masks = [None if allowed is None else np.isin(block.ids, allowed) for block in self._blocks]
        count = TIMES * k + SPARE
        scans = [block.scan(coded, count, mask) for block, mask in zip(self._blocks, masks, strict=True)]
        while True:
            ids, scores = self._scored(scans, query, k, fetch, least)
            # A tie is a doubt as well: the row that was not looked at may have the smaller id.
            needed = max(least, float(scores[-1]) if ids.size == k else -math.inf)
            doubtful = [number for number, one in enumerate(scans) if one.unseen >= needed and one.unseen > -math.inf]
            if not doubtful:
                return ids, scores
            count *= 4
            for number in doubtful:
                scans[number] = self._blocks[number].scan(coded, count, masks[number])

    def _scored(
        self, scans: Sequence[Scanned], query: Float32, k: int, fetch: Fetch | None, least: float
    ) -> tuple[Int64, Float32]:
        """Return the k best of what was scanned by their exact scores, best first."""
        lowest = np.concatenate([one.scores - np.float32(one.bound) for one in scans])
        # So many are at least this good, whatever their codes hide: what cannot reach it needs no exact score.
        needed = max(least, float(np.partition(lowest, -k)[-k]) if lowest.size > k else -math.inf)
        ids, scores = [], []
        chosen = [(b, one.rows[one.scores >= needed - one.bound]) for b, one in zip(self._blocks, scans, strict=True)]
        if not _brought(chosen, fetch):
            chosen = [(block, rows[block.here(rows)]) for block, rows in chosen]
        for block, rows in chosen:
            ids.append(block.ids[rows])
            scores.append(cosines(block.rows(rows), query))
        return best_first(np.concatenate(ids), np.concatenate(scores), k)

    def _among(self, query: Float32, k: int, allowed: Int64, fetch: Fetch | None) -> tuple[Int64, Float32]:
        known = [number for number in dict.fromkeys(allowed.tolist()) if number in self._place]
        ids, rows = self._gather(np.array(known, dtype=np.int64), [self._place[number] for number in known], fetch)
        return best_first(ids, cosines(rows, query), k)

    def _gather(self, ids: Int64, places: list[int], fetch: Fetch | None) -> tuple[Int64, Float32]:
        """Return the ids whose vectors are here, and these, in the order of the ids."""
        block, row = np.divmod(np.array(places, dtype=np.int64), self._size)
        groups = [(number, block == number) for number in set(block.tolist())]
        gathered, here = np.empty((ids.size, self.dim), dtype=np.float32), np.ones(ids.size, dtype=np.bool_)
        whole = _brought([(self._blocks[number], row[chosen]) for number, chosen in groups], fetch)
        for number, chosen in groups:
            gathered[chosen] = self._blocks[number].rows(row[chosen])
            if not whole:
                here[chosen] = self._blocks[number].here(row[chosen])
        return ids[here], gathered[here]

    def _put(self, ids: Int64, rows: Float32) -> None:
        known = np.fromiter((number in self._place for number in ids.tolist()), dtype=bool, count=ids.size)
        if known.any():
            for number, row in zip(ids[known].tolist(), rows[known], strict=True):
                block, offset = divmod(self._place[number], self._size)
                self._blocks[block].write(offset, number, row)
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

    def _fill(self, hole: int) -> None:
        """Move the last row into a hole, so that only the last block is ever short."""
        last = self._blocks[-1]
        row = len(last) - 1
        if hole != (len(self._blocks) - 1) * self._size + row:
            block, offset = divmod(hole, self._size)
            self._place[int(last.ids[row])] = hole
            self._blocks[block].take_over(offset, last, row)
        last.pop()
        if not len(last):
            self._blocks.pop()


def _brought(chosen: Sequence[tuple[Block, Int64]], fetch: Fetch | None) -> bool:
    """Fetch the vectors of chosen rows that are not here yet, and tell whether all of them are here now."""
    absent = {int(block.ids[row]): (block, row) for block, rows in chosen for row in rows[~block.here(rows)].tolist()}
    if not absent:
        return True
    for number, vector in (fetch(list(absent)) if fetch is not None else {}).items():
        block, row = absent[number]
        block.fill(row, vector)
    return all(block.here(rows).all() for block, rows in chosen)
