"""The cache of filters: which memories pass those that were asked for last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from reasoningbank.search.relevance import Mask
from reasoningbank.services.cache.columns import Following, State
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
    """What passes filters: row numbers of memories beside the ids of their vectors; 0 for none. In no particular order.

    There is a row for each vector, and one for each memory without any.
    """

    memories: Int64
    vectors: Int64

    def holds(self, numbers: Int64) -> Mask:
        """Tell of each of these memories whether it passes."""
        return np.isin(numbers, self.memories)

    def after(self, changed: list[int], now: Passing) -> Passing:
        """Return what passes after some memories changed, of which `now` pass now."""
        stay = ~np.isin(self.memories, changed)
        return Passing(
            np.concatenate([self.memories[stay], now.memories]), np.concatenate([self.vectors[stay], now.vectors])
        )


@dataclass(slots=True)
class _Kept:
    passing: Passing
    stale: set[int] = field(default_factory=set)


class FilterCache(Following):
    """What passes filters, by filters. It is derived: dropped, it comes back the same."""

    def _forget(self) -> None:
        self._kept: OrderedDict[object, _Kept] = OrderedDict()

    def _outdate(self, changed: Collection[int]) -> None:
        self._since = self.state
        for kept in self._kept.values():
            kept.stale.update(changed)

    def passing(self, reading: Reading, state: State, filters: Filters) -> Passing:
        """Return which memories pass.

        If the transaction's state says something else than the one that was followed to, all is read anew.
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
