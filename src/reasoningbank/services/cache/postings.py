"""The cache of postings: where the terms that were asked for occur, as long as that is true."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from reasoningbank.forks import renew_after_fork
from reasoningbank.search.bm25 import Postings, Rows, Scores, bm25, within_budget
from reasoningbank.storage import words
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.words import Lengths

BUDGET = 4_000
"""How many postings a keyword search looks at: about 2 ms on a quiet machine to read, however large the bank is."""

CAPACITY = 1 << 20
"""Postings that are kept: 16 MB."""

FOLLOWED = 64
"""Where more memories changed, everything is read anew."""


class PostingCache:
    """Postings by term, those used last. It is derived: dropped, they come back the same."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self.forget()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Drop everything."""
        self._kept: OrderedDict[str, Postings] = OrderedDict()
        self._size = 0
        self._lengths: Lengths | None = None
        self._totals = (0, 0)
        # Terms that occur too often to be read: in how many memories, and at which change that was counted.
        self._common: dict[str, tuple[int, int]] = {}
        self._stale: set[int] = set()

    def note(self, changed: set[int]) -> None:
        """Note that memories say something else, or are new or gone."""
        self._stale |= changed

    def matches(self, reading: Reading, wanted: Sequence[str], *, current: bool) -> tuple[Rows, Scores]:
        """Return the memories that hold any of the rarest terms, in ascending order of row number, with their BM25.

        Args:
            wanted: distinct terms.
            current: the transaction sees just what was noted; another one leaves nothing here.
        """
        with self._lock:
            if current or self._lengths is None:
                self._refresh(reading)
            lengths, totals = self._lengths, self._totals
            found = {term: kept for term in wanted if (kept := self._kept.get(term)) is not None}
            for term in found:
                self._kept.move_to_end(term)
        assert lengths is not None  # noqa: S101 - just read
        counted = {term: len(kept) for term, kept in found.items()}
        if len(found) < len(wanted):
            counted |= self._sizes(reading, [term for term in wanted if term not in found])
        asked = within_budget(counted, BUDGET)
        if missing := [term for term in wanted if term not in found and (term in asked or not counted[term])]:
            read = words.postings(reading, missing, lengths)
            found |= read
            if current:
                self._keep(read, lengths)
        return bm25([found[term] for term in asked], *totals)

    def _sizes(self, reading: Reading, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many memories terms occur; counting a common one reads all of its entries."""
        now = reading.moment.change
        # A change moves a count by one at most: one that was far beyond the budget still is.
        known = {
            term: size
            for term in terms
            if (size := self._common.get(term, (0, 0))[0]) - abs(now - self._common.get(term, (0, 0))[1]) > BUDGET
        }
        asked = [term for term in terms if term not in known]
        counted = words.sizes(reading, asked) if asked else {}
        self._common.update({term: (size, now) for term, size in counted.items() if size > BUDGET})
        return known | counted

    def _refresh(self, reading: Reading) -> None:
        """Bring what is kept up to the state that a transaction sees."""
        if len(self._stale) > FOLLOWED:
            self.forget()
        if self._lengths is None:
            self._lengths = words.lengths(reading)
        elif self._stale:
            now = words.indexed(reading, self._stale)
            newest = int(self._lengths.rows[-1]) if len(self._lengths.rows) else -1
            for term, kept in list(self._kept.items()):
                changes = {
                    n: (each.counts.get(term, 0), each.length)
                    for n, each in now.items()
                    if term in each.counts or (n <= newest and kept.holds(n))
                }
                if changes:
                    self._put(term, kept.after(changes))
            self._lengths = self._lengths.after({n: each.length for n, each in now.items()})
        elif self._totals[0]:
            return
        self._totals, self._stale = words.totals(reading), set()

    def _keep(self, read: dict[str, Postings], lengths: Lengths) -> None:
        with self._lock:
            # Meanwhile another thread may have seen a later change.
            if self._lengths is lengths and not self._stale:
                for term, each in read.items():
                    self._put(term, each)
            while self._size > self._capacity:
                self._size -= len(self._kept.popitem(last=False)[1]) + 1

    def _put(self, term: str, kept: Postings) -> None:
        before = self._kept.get(term)
        self._size += len(kept) + 1 - (0 if before is None else len(before) + 1)
        self._kept[term] = kept
