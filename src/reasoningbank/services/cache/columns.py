"""The cache of columns: one array per fact of memories, by place, read when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reasoningbank.forks import renew_after_fork

if TYPE_CHECKING:
    from reasoningbank.services.view import View

Table = npt.NDArray[np.void]
"""Rows of a structured array: `table["mean"]` is a column."""

FEWEST = 256


class Columns:
    """Facts about memories, by row number. It is derived: dropped, they come back the same.

    Args:
        dtype: the columns.
        read: gives a row for each of these memories, in their order; one of zeros for a memory that is gone.
        capacity: so many memories are kept; when they are more, all are read anew.
    """

    def __init__(self, dtype: npt.DTypeLike, read: Callable[[View, Sequence[int]], Table], capacity: int) -> None:
        self._dtype, self._read, self._capacity = np.dtype(dtype), read, capacity
        self._lock = threading.Lock()
        self._state: object = None
        self.forget()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Drop everything."""
        self._place: dict[int, int] = {}
        self._table: Table = np.zeros(FEWEST, dtype=self._dtype)
        self._free: list[int] = []

    def follow(self, state: object, gone: Collection[int] | None) -> None:
        """Drop what is no longer true in a state of the project.

        Args:
            state: whoever sees this state may leave here what it reads.
            gone: the memories that changed on the way to it; None for all.
        """
        with self._lock:
            self._state = state
            if gone is None:
                self.forget()
            elif self._place:
                self._free += [place for n in gone if (place := self._place.pop(n, None)) is not None]

    def rows(self, view: View, state: object, numbers: Sequence[int]) -> Table:
        """Return the facts about these memories, in their order.

        Args:
            state: which state the view sees; nothing is left here of another than the one that was followed to.
        """
        with self._lock:
            places = [self._place.get(n, -1) for n in numbers]
            found = self._table[places]
        missing = [i for i, place in enumerate(places) if place < 0]
        if missing:
            wanted = [numbers[i] for i in missing]
            read = self._read(view, wanted)
            found[missing] = read
            with self._lock:
                # Meanwhile another thread may have seen a later change of the same memories.
                if state == self._state:
                    self._keep(wanted, read)
        return found

    def _keep(self, numbers: Sequence[int], read: Table) -> None:
        if len(self._place) + len(numbers) > self._capacity:
            self.forget()
        for n, row in zip(numbers, read, strict=True):
            place = self._place.get(n)
            if place is None:
                place = self._place[n] = self._free.pop() if self._free else len(self._place)
            if place >= len(self._table):
                self._table = _grown(self._table)
            self._table[place] = row


def _grown(table: Any) -> Table:
    larger = np.zeros(2 * len(table), dtype=table.dtype)
    larger[: len(table)] = table
    return larger
