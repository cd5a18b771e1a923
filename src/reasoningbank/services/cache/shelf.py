"""What this process last read of the memories of one project, kept until the change feed says they changed."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from reasoningbank.forks import renew_after_fork
from reasoningbank.storage.stored_vectors import MEMORIES

T = TypeVar("T")


class Shelf(Generic[T]):
    """What is known of memories, by row number: of those used last. It is derived: dropped, it comes back the same.

    What a transaction reads through it is what the transaction itself sees: a memory that changed since is read anew,
    and one that began before the newest change known here reads past the shelf.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[int, T] = OrderedDict()
        self._covered = -1
        self._basis: object = None
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._kept, self._covered, self._lock = OrderedDict(), -1, threading.Lock()

    def look_up(
        self,
        connection: sqlite3.Connection,
        numbers: Sequence[int],
        basis: object,
        load: Callable[[Sequence[int]], dict[int, T]],
    ) -> dict[int, T]:
        """Return what is known of these memories, in the given order; numbers that are gone are left out.

        Args:
            connection: inside a read transaction, never one that writes: what it wrote may come to nothing.
            basis: what it depends on besides the memory; another one than last time makes all anew.
            load: reads what is not kept, in the same transaction.
        """
        newest = MEMORIES.newest(connection)
        with self._lock:
            current = self._follow(connection, newest, basis)
            found = {n: self._kept[n] for n in numbers if n in self._kept} if current else {}
            # Which were used last is of no matter as long as there is room.
            if 2 * len(self._kept) > self._capacity:
                for n in found:
                    self._kept.move_to_end(n)
        if len(found) == len(numbers):
            return found
        loaded = load([n for n in numbers if n not in found])
        self._keep(loaded, newest, basis)
        found |= loaded
        return {n: found[n] for n in numbers if n in found}

    def _follow(self, connection: sqlite3.Connection, newest: int, basis: object) -> bool:
        """Drop what changed up to `newest`; tell whether the rest is what a transaction that sees `newest` sees."""
        if newest < self._covered:
            return False
        if basis != self._basis or self._covered < 0 or MEMORIES.tail_is_gone(connection, self._covered, newest):
            self._kept.clear()
        elif newest > self._covered:
            for (n,) in connection.execute("SELECT memory FROM changes WHERE seq > ?", (self._covered,)):
                self._kept.pop(n, None)
        self._covered, self._basis = newest, basis
        return True

    def _keep(self, loaded: dict[int, T], newest: int, basis: object) -> None:
        with self._lock:
            # Meanwhile another thread may have seen a later change of the same memories.
            if (self._covered, self._basis) != (newest, basis):
                return
            self._kept.update(loaded)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
