"""Which memories pass the filters that were asked for last, kept until the change feed says which memories changed."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reasoningbank.forks import renew_after_fork
from reasoningbank.search.relevance import Mask
from reasoningbank.storage.filters import Filters
from reasoningbank.storage.stored_vectors import MEMORIES, current_generation
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

    def after(self, changed: Sequence[int], now: Passing) -> Passing:
        """Return what passes after some memories changed.

        Args:
            now: which of these pass now.
        """
        stay = ~np.isin(self.memories, changed)
        return Passing(
            np.concatenate([self.memories[stay], now.memories]), np.concatenate([self.vectors[stay], now.vectors])
        )


class FilteredMemories:
    """What passes filters, by filters. It is derived: dropped, it comes back the same.

    What a transaction reads through it is what the transaction itself sees; one that began before the newest change
    known here reads past it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[object, tuple[int, Passing]] = OrderedDict()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock, self._kept = threading.Lock(), OrderedDict()

    def passing(self, connection: sqlite3.Connection, filters: Filters) -> Passing:
        """Return which memories pass.

        Args:
            connection: inside a read transaction, never one that writes.
        """
        current = current_generation(connection)
        generation = current[0] if current else 0
        newest = MEMORIES.newest(connection)
        condition, values = filters.clause()
        asked = (condition, tuple(values), generation)
        with self._lock:
            covered, kept = self._kept.get(asked, (-1, None))
            if kept is not None and covered == newest:
                self._kept.move_to_end(asked)
                return kept
        changed = None if kept is None else _changed(connection, covered, newest)
        if kept is None or changed is None:
            found = _read(connection, filters, generation)
        elif changed:
            found = kept.after(changed, _read(connection, filters, generation, changed))
        else:
            found = kept
        self._keep(asked, newest, found)
        return found

    def _keep(self, asked: object, newest: int, found: Passing) -> None:
        with self._lock:
            if self._kept.get(asked, (-1, None))[0] < newest:
                self._kept[asked] = (newest, found)
            self._kept.move_to_end(asked)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)


def _changed(connection: sqlite3.Connection, covered: int, newest: int) -> list[int] | None:
    """Return which memories changed after `covered`; None when those are many, or unknown."""
    if newest < covered or MEMORIES.tail_is_gone(connection, covered, newest):
        return None
    rows = connection.execute(
        "SELECT DISTINCT memory FROM changes WHERE seq > ? AND op <> 'evidence' LIMIT ?", (covered, FOLLOWED + 1)
    ).fetchall()
    return None if len(rows) > FOLLOWED else [n for (n,) in rows]


def _read(
    connection: sqlite3.Connection, filters: Filters, generation: int, among: Sequence[int] | None = None
) -> Passing:
    condition, values = filters.clause()
    only = "" if among is None else "n IN (SELECT value FROM json_each(?)) AND "
    rows = connection.execute(
        "SELECT n, coalesce(vectors.id, 0) FROM memories LEFT JOIN vectors ON memory = n AND generation = ? "
        f"WHERE {only}{condition}",
        (generation, *(() if among is None else (json.dumps(among),)), *values),
    ).fetchall()
    columns = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return Passing(columns[:, 0].copy(), columns[:, 1].copy())
