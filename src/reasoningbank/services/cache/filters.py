"""The cache of filters: which memories pass those that were asked for last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from reasoningbank.filters import Filters
from reasoningbank.search.relevance import Mask
from reasoningbank.services.cache.columns import Following, State
from reasoningbank.signals import time_text
from reasoningbank.storage import records
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.filters import clause
from reasoningbank.vectors.base import Int64

KEPT = 8
"""Filters that are remembered: some 2 MB of each in a bank of 100,000 memories."""

FOLLOWED = 256
"""Where more memories changed, all are asked anew."""


@dataclass(frozen=True, slots=True)
class Passing:
    """What passes filters: row numbers of memories beside the ids of their vectors; 0 for none. In no particular order.

    There is a row for each vector, and one for each memory without any. When each happened is there only where it was
    asked for, in microseconds since 1970.
    """

    memories: Int64
    vectors: Int64
    happened: Int64

    def between(self, since: datetime | None, until: datetime | None) -> Passing:
        """Return what of it happened within a span of time."""
        stay = np.ones(len(self.memories), dtype=bool)
        if since is not None:
            stay &= self.happened >= _microseconds([time_text(since)])
        if until is not None:
            stay &= self.happened < _microseconds([time_text(until)])
        return Passing(self.memories[stay], self.vectors[stay], self.happened[stay])

    def holds(self, numbers: Int64) -> Mask:
        """Tell of each of these memories whether it passes."""
        return np.isin(numbers, self.memories)

    def after(self, changed: list[int], now: Passing) -> Passing:
        """Return what passes after some memories changed, of which `now` pass now."""
        stay = ~np.isin(self.memories, changed)
        return Passing(
            np.concatenate([self.memories[stay], now.memories]),
            np.concatenate([self.vectors[stay], now.vectors]),
            np.concatenate([self.happened[stay], now.happened]),
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

        If the transaction's state says something else than the one that was followed to, all is read anew. What is
        kept is whatever the time: spans of time are most often another at each call.
        """
        timed = filters.since is not None or filters.until is not None
        whenever = replace(filters, since=None, until=None) if timed else filters
        with self._lock:
            if self._since <= state <= self.state:
                found = self._present(reading, whenever, timed=timed)
            else:
                found = _read(reading, whenever, timed=timed)
        return found.between(filters.since, filters.until) if timed else found

    def _present(self, reading: Reading, filters: Filters, *, timed: bool) -> Passing:
        condition, values = clause(filters)
        asked = condition, tuple(values), timed
        kept = self._kept.get(asked)
        if kept is None or len(kept.stale) > FOLLOWED:
            kept = _Kept(_read(reading, filters, timed=timed))
        elif kept.stale:
            changed = sorted(kept.stale)
            kept = _Kept(kept.passing.after(changed, _read(reading, filters, changed, timed=timed)))
        self._kept[asked] = kept
        self._kept.move_to_end(asked)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return kept.passing


def _read(reading: Reading, filters: Filters, among: list[int] | None = None, *, timed: bool) -> Passing:
    rows = records.passing(reading, filters, among, timed=timed)
    numbers = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    happened = _microseconds([row[2] for row in rows]) if timed else np.zeros(len(rows), dtype=np.int64)
    return Passing(numbers[:, 0].copy(), numbers[:, 1].copy(), happened)


def _microseconds(times: Sequence[str]) -> Int64:
    """Return times as `time_text` writes them, in microseconds since 1970."""
    # numpy knows of no time zones; these are all in UTC.
    return np.array([at[:-1] for at in times], dtype="datetime64[us]").astype(np.int64)
