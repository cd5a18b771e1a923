"""The cache of filters: which memories pass those that were asked for last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.search.relevance import Mask
from reasoningbank.services.cache.columns import NO_STATE, State
from reasoningbank.storage import records
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.filters import Filters
from reasoningbank.vectors.base import Int64

KEPT = 8
"""Filters that are remembered: some 2 MB of each in a bank of 100,000 memories."""

FOLLOWED = 256
"""Where more memories changed, all are asked anew."""


@dataclass(frozen=True, slots=True)
class Passing:
    """What passes filters, with a row for each vector, and one for each memory without any; in no particular order.

    Attributes:
        memories: row numbers of memories.
        vectors: ids of their vectors; 0 for none.
    """

    memories: Int64
    vectors: Int64

    def holds(self, numbers: Int64) -> Mask:
        """Tell of each of these memories whether it passes."""
        return np.isin(numbers, self.memories)

    def after(self, changed: list[int], now: Passing) -> Passing:
        """Return what passes after some memories changed.

        Args:
            now: which of these pass now.
        """
        stay = ~np.isin(self.memories, changed)
        return Passing(
            np.concatenate([self.memories[stay], now.memories]), np.concatenate([self.vectors[stay], now.vectors])
        )


@dataclass(slots=True)
class _Kept:
    passing: Passing
    stale: set[int] = field(default_factory=set)


class FilterCache:
    """What passes filters, by filters. It is derived: dropped, it comes back the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.state = self._since = NO_STATE
        self._kept: OrderedDict[object, _Kept] = OrderedDict()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock, self._kept = threading.Lock(), OrderedDict()

    def follow(self, state: State, changed: Collection[int] | None) -> None:
        """Note what is no longer true in a state of the project.

        Args:
            state: whoever sees it, or one before it in which nothing else is said, may use what is kept, and leave
                here what it reads.
            changed: the memories that say something else in it, or are new or gone; None for all.
        """
        with self._lock:
            self.state = state
            if changed is None or changed:
                self._since = state
            if changed is None:
                self._kept.clear()
            else:
                for kept in self._kept.values():
                    kept.stale.update(changed)

    def passing(self, reading: Reading, state: State, filters: Filters) -> Passing:
        """Return which memories pass.

        Args:
            state: which state the transaction sees; if that says something else than the one that was followed to, all
                is read anew.
        """
        condition, values = filters.clause()
        with self._lock:
            if self._since <= state <= self.state:
                return self._present(reading, filters, (condition, tuple(values)))
        return _read(reading, filters)

    def _present(self, reading: Reading, filters: Filters, asked: object) -> Passing:
        kept = self._kept.get(asked)
        if kept is None or len(kept.stale) > FOLLOWED:
            kept = _Kept(_read(reading, filters))
        elif kept.stale:
            changed = sorted(kept.stale)
            kept = _Kept(kept.passing.after(changed, _read(reading, filters, changed)))
        self._kept[asked] = kept
        self._kept.move_to_end(asked)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return kept.passing


def _read(reading: Reading, filters: Filters, among: list[int] | None = None) -> Passing:
    columns = np.array(records.passing(reading, filters, among), dtype=np.int64).reshape(-1, 2)
    return Passing(columns[:, 0].copy(), columns[:, 1].copy())
