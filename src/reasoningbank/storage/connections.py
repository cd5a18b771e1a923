"""The pooled connections to one SQLite file.

SQLite keeps what it knows of a file's locks per process, and a fork copies that knowledge but not the locks: a child
that then opens the file believes to hold what it does not, and its writes can vanish when the parent closes. So no
connection is open across a fork. Before one, those in use are waited for and the idle ones are closed.
"""

from __future__ import annotations

import ctypes
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reasoningbank.errors import StorageError
from reasoningbank.forks import settle_before_fork

# Threads in a transaction at once, and connections kept open when nobody uses them. Further ones wait for their turn:
# they would take the interpreter's lock from each other at every statement, and all be done when the last one is.
AT_ONCE = 2
LONGEST_TURN = 0.05  # seconds in which a transaction should end; nobody waits for those that take longer
FORK_WAIT = 5.0  # seconds that a fork waits for the transactions of other threads


class Connections:
    """Connections to one file, which `connect` opens, lent to one thread at a time."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path, self._connect = path, connect
        self._closed = self._split = False
        self._begin()
        settle_before_fork(self)

    def _begin(self) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._lent: dict[sqlite3.Connection | object, int] = {}
        # The threads that others wait for, and those that wait, in the order in which they came.
        self._awaited: set[int] = set()
        self._queue: deque[threading.Condition] = deque()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._forking = False

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that no other thread uses, until the end of the block.

        Once they were closed, or a fork came in the middle of a transaction, it raises StorageError.
        """
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        opening, here = object(), threading.get_ident()
        with self._lock:
            # A thread that is in a transaction already would wait for itself.
            if (self._queue or self._forking or len(self._awaited) >= AT_ONCE) and here not in self._lent.values():
                self._wait_for_turn()
            self._check_usable()
            self._awaited.add(here)
            if self._idle:
                connection = self._idle.pop()
                self._lent[connection] = here
                return connection
            self._lent[opening] = here
        try:
            connection = self._connect()
        except BaseException:
            self._forget(opening)
            raise
        with self._lock:
            self._lent[connection] = self._lent.pop(opening)
        return connection

    def _wait_for_turn(self) -> None:
        turn = threading.Condition(self._lock)
        self._queue.append(turn)
        try:
            while self._queue[0] is not turn or self._forking or len(self._awaited) >= AT_ONCE:
                is_next = self._queue[0] is turn and not self._forking
                if not turn.wait(LONGEST_TURN if is_next else None):
                    self._awaited.clear()
        finally:
            self._queue.remove(turn)
            self._call_next()

    def _call_next(self) -> None:
        if self._queue:
            self._queue[0].notify()

    def _check_usable(self) -> None:
        if self._closed:
            raise StorageError(f"{self._path} was closed: open a new bank", path=self._path)
        if self._split:
            raise StorageError(
                f"{self._path} cannot be used in this process, which was forked in the middle of a transaction on it: "
                "fork before the bank is used, or start a new process",
                path=self._path,
            )

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if connection not in self._lent:
                # Lent before a fork, in the parent.
                return
            fit = not (self._closed or connection.in_transaction or len(self._idle) >= AT_ONCE)
            if fit:
                self._idle.append(connection)
        if not fit:
            connection.close()
        self._forget(connection)

    def _forget(self, lent: sqlite3.Connection | object) -> None:
        with self._lock:
            thread = self._lent.pop(lent, None)
            if thread not in self._lent.values():
                self._awaited.discard(thread)
            self._changed.notify_all()
            self._call_next()

    def close_idle(self) -> None:
        """Close what nobody uses; the next use opens anew."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close for good; connections in use are closed when they come back."""
        with self._lock:
            self._closed = True
        self.close_idle()

    # -- forks -----------------------------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close what is idle, after waiting for the other threads that use one."""
        here = threading.get_ident()
        with self._lock:
            self._forking = True
            self._changed.wait_for(lambda: all(thread == here for thread in self._lent.values()), timeout=FORK_WAIT)
        self.close_idle()

    def after_fork_in_parent(self) -> None:
        """Lend again."""
        with self._lock:
            self._forking = False
            self._call_next()

    def after_fork(self) -> None:
        """Start with no connection. One that was in use is the parent's: closing it here would harm the file."""
        for connection in self._lent:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        self._split = self._split or bool(self._lent)
        self._begin()
