"""The cache of columns: one array per fact of memories, by place, read when they are asked for."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Int64

if TYPE_CHECKING:
    from reasoningbank.services.view import View

Table = npt.NDArray[np.void]
"""Rows of a structured array: `table["mean"]` is a column."""

Int32 = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

State = tuple[int, int, int]
"""A project's newest change, its generation and its fit: none ever goes back, so that an earlier state is less."""

NO_STATE: State = (-1, 0, 0)

FEWEST = 256
NOWHERE = -1


class Following(ABC):
    """What a process keeps of a project while it is true in the states from `_since` to `state`. It can be dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.state = self._since = NO_STATE
        self._forget()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._lock = threading.Lock()
        self._forget()

    def follow(self, state: State, changed: Collection[int] | None) -> None:
        """Note what is no longer true in a state of the project.

        Args:
            state: whoever sees it, or one before it in which the same is said, may use what is kept, and leave here
                what it reads.
            changed: the memories that say something else in it, or are new or gone; None for all.
        """
        with self._lock:
            self.state = state
            if changed is None:
                self._since = state
                self._forget()
            elif changed:
                self._outdate(changed)

    @abstractmethod
    def _forget(self) -> None: ...

    @abstractmethod
    def _outdate(self, changed: Collection[int]) -> None: ...


class Columns(Following):
    """Facts about memories, by row number. It is derived: dropped, they come back the same.

    Args:
        dtype: the columns.
        read: gives a row for each of these memories, in their order; one of zeros for a memory that is gone.
        capacity: so many memories are kept; when they are more, all are read anew.
    """

    def __init__(self, dtype: npt.DTypeLike, read: Callable[[View, Sequence[int]], Table], capacity: int) -> None:
        self._dtype, self._read, self._capacity = np.dtype(dtype), read, capacity
        self._changed: Int64 = np.full(FEWEST, NO_STATE[0], dtype=np.int64)
        super().__init__()

    def _forget(self) -> None:
        self._place: Int32 = np.full(len(self._changed), NOWHERE, dtype=np.int32)
        self._table: Table = np.zeros(FEWEST, dtype=self._dtype)
        self._used = 0
        self._free: list[int] = []

    def _outdate(self, changed: Collection[int]) -> None:
        # The others are the same since before.
        self._drop(self._told(np.fromiter(changed, dtype=np.int64)))

    def change(self, state: State, numbers: Int64, changed: Callable[[Table], tuple[Table, Mask]]) -> None:
        """Bring what is kept of some memories up to a state, in which nothing else is another.

        `changed` gives their rows as they are in that state, and which of these are known; the others are dropped.
        """
        with self._lock:
            self.state = state
            held = self._told(numbers)
            places = self._place[held]
            self._table[places], known = changed(self._table[places])
            self._drop(held[~known])

    def _told(self, numbers: Int64) -> Int64:
        """Note that these memories changed on the way to the present state, and return those that are kept."""
        self._reach(numbers)
        self._changed[numbers] = self.state[0]
        held: Int64 = numbers[self._place[numbers] != NOWHERE]
        return held

    def _drop(self, held: Int64) -> None:
        self._free += self._place[held].tolist()
        self._place[held] = NOWHERE

    def rows(self, view: View, state: State, numbers: Int64) -> Table:
        """Return the facts about these memories, each once, in their order.

        `state` is the one that the view sees; only what is the same in the one that was followed to is left here.
        """
        with self._lock:
            self._reach(numbers)
            places = self._place[numbers]
            found: Table = self._table[places]
        missing = np.flatnonzero(places == NOWHERE)
        if len(missing):
            wanted = numbers[missing]
            found[missing] = read = self._read(view, wanted.tolist())
            with self._lock:
                if self._since <= state <= self.state:
                    # Another thread may have seen a later change of the same memories.
                    same = self._changed[wanted] <= state[0]
                    self._keep(wanted[same], read[same])
        return found

    def _keep(self, numbers: Int64, read: Table) -> None:
        if self._used - len(self._free) + len(numbers) > self._capacity:
            self._forget()
        self._reach(numbers)
        # Another thread may have kept some of them just now.
        new = self._place[numbers] == NOWHERE
        places = [self._free.pop() if self._free else self._next() for _ in range(int(new.sum()))]
        if self._used > len(self._table):
            self._table = _grown(self._table, 2 * self._used, 0)
        self._place[numbers[new]], self._table[places] = places, read[new]

    def _reach(self, numbers: Int64) -> None:
        if (largest := int(numbers.max(initial=0))) >= len(self._place):
            self._place = _grown(self._place, 2 * largest, NOWHERE)
            self._changed = _grown(self._changed, 2 * largest, NO_STATE[0])

    def _next(self) -> int:
        self._used += 1
        return self._used - 1


def _grown(array: npt.NDArray[Any], size: int, fill: int) -> npt.NDArray[Any]:
    larger = np.full(size, fill, dtype=array.dtype) if fill else np.zeros(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
