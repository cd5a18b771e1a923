"""This process's memories of one project as they were last read, kept until the change feed says they changed."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reasoningbank.confidence import Belief, ConfidenceModel
from reasoningbank.forks import renew_after_fork
from reasoningbank.memory import Memory
from reasoningbank.storage.stored_vectors import MEMORIES

CAPACITY = 10_000
"""Memories that are kept: some 30 MB of lessons of usual length."""


@dataclass(frozen=True, slots=True)
class Known:
    """A memory as it may be shown, with its present confidence, and the belief that is the mean of.

    Attributes:
        judged: anything but usage is known about it.
        blamed: more votes are against it than for it.
    """

    memory: Memory
    belief: Belief
    judged: bool
    blamed: bool


Load = Callable[[Sequence[int]], dict[int, Known]]


class Shelf:
    """Memories by row number, those used last. It is derived: dropped, it comes back the same.

    What a transaction reads through it is what the transaction itself sees: a memory that changed since is read anew,
    and one that began before the newest change known here reads past the shelf.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[int, Known] = OrderedDict()
        self._covered = -1
        self._model: ConfidenceModel | None = None
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._kept, self._covered, self._lock = OrderedDict(), -1, threading.Lock()

    def look_up(
        self, connection: sqlite3.Connection, numbers: Sequence[int], model: ConfidenceModel, load: Load
    ) -> dict[int, Known]:
        """Return the memories of these numbers, in the given order; numbers that are gone are left out.

        Args:
            connection: inside a read transaction, never one that writes: what it wrote may come to nothing.
            model: what beliefs are made with; another one than last time makes all anew.
            load: reads what is not kept, in the same transaction.
        """
        newest = MEMORIES.newest(connection)
        with self._lock:
            current = self._follow(connection, newest, model)
            found = {n: self._kept[n] for n in numbers if n in self._kept} if current else {}
            for n in found:
                self._kept.move_to_end(n)
        missing = [n for n in numbers if n not in found]
        if missing:
            loaded = load(missing)
            self._keep(loaded, newest, model)
            found |= loaded
        return {n: found[n] for n in numbers if n in found}

    def _follow(self, connection: sqlite3.Connection, newest: int, model: ConfidenceModel) -> bool:
        """Drop what changed up to `newest`; tell whether the rest is what a transaction that sees `newest` sees."""
        if newest < self._covered:
            return False
        if model != self._model or self._covered < 0 or MEMORIES.tail_is_gone(connection, self._covered, newest):
            self._kept.clear()
        elif newest > self._covered:
            for (n,) in connection.execute("SELECT memory FROM changes WHERE seq > ?", (self._covered,)):
                self._kept.pop(n, None)
        self._covered, self._model = newest, model
        return True

    def _keep(self, loaded: dict[int, Known], newest: int, model: ConfidenceModel) -> None:
        with self._lock:
            # Meanwhile another thread may have seen a later change of the same memories.
            if (self._covered, self._model) != (newest, model):
                return
            self._kept.update(loaded)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
