"""The cache of postings: where the terms that were asked for occur, as long as that is true."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from reasoningbank.search.bm25 import Postings, within_budget
from reasoningbank.services.cache.columns import Following, State
from reasoningbank.storage import words
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.words import Indexed, Lengths

BUDGET = 4_000
"""How many postings a keyword search looks at: about 2 ms on a quiet machine to read, however large the bank is."""

CAPACITY = 1 << 20
"""Postings that are kept: 16 MB."""

COUNTED = 1 << 16
"""Terms of which it is kept in how many memories they occur: up to 10 MB."""

FOLLOWED = 256
"""Where more memories changed at once, everything is read anew; a term is, where more did since it was last used."""


class PostingCache(Following):
    """Postings by term, those used last. It is derived: dropped, they come back the same."""

    def __init__(self, capacity: int = CAPACITY, followed: int = FOLLOWED) -> None:
        self._capacity, self._followed = capacity, followed
        super().__init__()

    def _forget(self) -> None:
        # What is kept of a term, and how many of the changes it was brought up to.
        self._kept: OrderedDict[str, tuple[Postings, int]] = OrderedDict()
        self._size = 0
        # The memories that changed last, each with what it says now, and how many changes there were altogether.
        self._changes: list[tuple[int, Indexed]] = []
        self._changed = 0
        self._lengths: Lengths | None = None
        self._totals = (0, 0)
        # In how many memories terms occur, and how many memories had been rewritten, or had gone, when that was told.
        self._counts: dict[str, tuple[int, int]] = {}
        self._rewritten = 0
        self._stale: set[int] = set()

    def _outdate(self, changed: Collection[int]) -> None:
        self._since = self.state
        self._stale.update(changed)

    def postings(
        self, reading: Reading, state: State, wanted: Sequence[str]
    ) -> tuple[dict[str, Postings], tuple[int, int]]:
        """Return the postings of the rarest terms, the rarest first, and how many memories and terms there are.

        The wanted terms are distinct. If the transaction's state says something else than the one that was followed to,
        all is read anew.
        """
        lengths, totals, found, counted = self._present(reading, state, wanted)
        unknown = [term for term in wanted if term not in counted]
        sizes = reading.words.sizes(unknown) if unknown else {}
        counted |= sizes
        asked = within_budget(counted, BUDGET)
        missing = [term for term in wanted if term not in found and (term in asked or not counted[term])]
        read = reading.words.postings(missing, lengths) if missing else {}
        if unknown or missing:
            self._keep(sizes, read, lengths)
        found |= read
        return {term: found[term] for term in asked}, totals

    def _present(
        self, reading: Reading, state: State, wanted: Sequence[str]
    ) -> tuple[Lengths, tuple[int, int], dict[str, Postings], dict[str, int]]:
        """Return all lengths, the totals, and the postings and counts that are kept: as the transaction sees them."""
        with self._lock:
            if self._since <= state <= self.state:
                lengths = self._refreshed(reading)
                found = {term: kept for term in wanted if (kept := self._present_of(term)) is not None}
                counted = {term: len(kept) for term, kept in found.items()}
                for term in wanted:
                    size, then = self._counts.get(term, (0, -1))
                    # A rewritten memory moves a count by one at most: one that was far beyond the budget still is.
                    if term not in found and (then == self._rewritten or size - self._rewritten + then > BUDGET):
                        counted[term] = size
                return lengths, self._totals, found, counted
        return reading.words.lengths(), reading.words.totals(), {}, {}

    def _refreshed(self, reading: Reading) -> Lengths:
        """Bring what is kept up to the state that a transaction sees; return the lengths."""
        if len(self._stale) > self._followed:
            self._forget()
        if self._lengths is None:
            self._lengths = reading.words.lengths()
        elif self._stale:
            now = words.indexed(reading, self._stale)
            self._count(now)
            self._changes = [*self._changes[-self._followed :], *now.items()]
            self._changed += len(now)
            self._lengths = self._lengths.after({n: each.length for n, each in now.items()})
        elif self._totals[0]:
            return self._lengths
        self._totals, self._stale = reading.words.totals(), set()
        return self._lengths

    def _count(self, now: Mapping[int, Indexed]) -> None:
        """Bring the counts up to what memories say now."""
        newest = self._lengths.rows[-1] if self._lengths is not None and len(self._lengths.rows) else -1
        for n, each in now.items():
            if n <= newest:
                self._rewritten += 1
                continue
            for term in each.counts.keys() & self._counts.keys():
                size, then = self._counts[term]
                self._counts[term] = size + 1, then

    def _present_of(self, term: str) -> Postings | None:
        """Return what is kept of a term, brought up to the changes; None when nothing is, or too many came since."""
        if term not in self._kept:
            return None
        kept, seen = self._kept[term]
        missed = self._changed - seen
        if missed > self._followed:
            self._size -= len(self._kept.pop(term)[0]) + 1
            return None
        if missed:
            changes: dict[int, tuple[int, int]] = {}
            for n, each in self._changes[-missed:]:
                # One that was new may say something else by now.
                if term in each.counts or n in changes or kept.holds(n):
                    changes[n] = each.counts.get(term, 0), each.length
            kept = kept.after(changes)
            self._put(term, kept)
        self._kept.move_to_end(term)
        return kept

    def _keep(self, sizes: Mapping[str, int], read: Mapping[str, Postings], lengths: Lengths) -> None:
        with self._lock:
            # They are of the state that those lengths are of; meanwhile another thread may have seen a later change.
            if self._lengths is lengths and not self._stale:
                if len(self._counts) > COUNTED:
                    self._counts.clear()
                self._counts.update({term: (size, self._rewritten) for term, size in sizes.items()})
                for term, each in read.items():
                    self._put(term, each)
            while self._size > self._capacity:
                self._size -= len(self._kept.popitem(last=False)[1][0]) + 1

    def _put(self, term: str, kept: Postings) -> None:
        before = self._kept.get(term)
        self._size += len(kept) + 1 - (0 if before is None else len(before[0]) + 1)
        self._kept[term] = kept, self._changed
