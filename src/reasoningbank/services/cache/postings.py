"""The cache of postings: where the terms that were asked for occur, as long as that is true."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence

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
        self.state: object = None
        self._forget()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._kept: OrderedDict[str, Postings] = OrderedDict()
        self._size = 0
        self._lengths: Lengths | None = None
        self._totals = (0, 0)
        # Terms that occur too often to be read: in how many memories, and at which change that was counted.
        self._common: dict[str, tuple[int, int]] = {}
        self._stale: set[int] = set()

    def follow(self, state: object, changed: Collection[int] | None) -> None:
        """Note what is no longer true in a state of the project.

        Args:
            state: whoever sees this state may use what is kept, and leave here what it reads.
            changed: the memories that say something else in it, or are new or gone; None for all.
        """
        with self._lock:
            self.state = state
            if changed is None:
                self._forget()
            else:
                self._stale.update(changed)

    def matches(self, reading: Reading, state: object, wanted: Sequence[str]) -> tuple[Rows, Scores]:
        """Return the memories that hold any of the rarest terms, in ascending order of row number, with their BM25.

        Args:
            state: which state the transaction sees; of another than the one that was followed to, all is read anew.
            wanted: distinct terms.
        """
        lengths, totals, found = self._present(reading, state, wanted)
        counted = {term: len(kept) for term, kept in found.items()}
        if len(found) < len(wanted):
            counted |= self._sizes(reading, [term for term in wanted if term not in found])
        asked = within_budget(counted, BUDGET)
        if missing := [term for term in wanted if term not in found and (term in asked or not counted[term])]:
            read = words.postings(reading, missing, lengths)
            found |= read
            self._keep(read, lengths)
        return bm25([found[term] for term in asked], *totals)

    def _present(
        self, reading: Reading, state: object, wanted: Sequence[str]
    ) -> tuple[Lengths, tuple[int, int], dict[str, Postings]]:
        """Return all lengths, the totals, and the postings that are kept: as the transaction sees them."""
        with self._lock:
            if state == self.state:
                lengths = self._refreshed(reading)
                found = {term: kept for term in wanted if (kept := self._kept.get(term)) is not None}
                for term in found:
                    self._kept.move_to_end(term)
                return lengths, self._totals, found
        return words.lengths(reading), words.totals(reading), {}

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

    def _refreshed(self, reading: Reading) -> Lengths:
        """Bring what is kept up to the state that a transaction sees; return the lengths."""
        if len(self._stale) > FOLLOWED:
            self._forget()
        if self._lengths is None:
            self._lengths = words.lengths(reading)
        elif self._stale:
            now = words.indexed(reading, self._stale)
            newest = int(self._lengths.rows[-1]) if len(self._lengths.rows) else -1
            # A new memory can only be in the postings of its own terms; one that was there before, in any.
            concerned = (
                self._kept.keys() if min(now) <= newest else {term for each in now.values() for term in each.counts}
            )
            for term in concerned & self._kept.keys():
                kept = self._kept[term]
                changes = {
                    n: (each.counts.get(term, 0), each.length)
                    for n, each in now.items()
                    if term in each.counts or (n <= newest and kept.holds(n))
                }
                if changes:
                    self._put(term, kept.after(changes))
            self._lengths = self._lengths.after({n: each.length for n, each in now.items()})
        elif self._totals[0]:
            return self._lengths
        self._totals, self._stale = words.totals(reading), set()
        return self._lengths

    def _keep(self, read: dict[str, Postings], lengths: Lengths) -> None:
        with self._lock:
            # They are of the state that those lengths are of; meanwhile another thread may have seen a later change.
            if self._lengths is lengths and not self._stale:
                for term, each in read.items():
                    self._put(term, each)
            while self._size > self._capacity:
                self._size -= len(self._kept.popitem(last=False)[1]) + 1

    def _put(self, term: str, kept: Postings) -> None:
        before = self._kept.get(term)
        self._size += len(kept) + 1 - (0 if before is None else len(before) + 1)
        self._kept[term] = kept
