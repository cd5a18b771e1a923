"""The pooled connections to one SQLite file.

SQLite keeps what it knows of a file's locks per process, and a fork copies that knowledge but not the locks: a child
that then opens the file believes to hold what it does not, and its writes can vanish when the parent closes. So no
connection is open across a fork. Before one, those in use are waited for and the idle ones are closed.
"""

from __future__ import annotations

import ctypes
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reasoningbank.errors import StorageError
from reasoningbank.forks import settle_before_fork

KEPT_IDLE = 8  # connections kept open when nobody uses them; each may hold a page cache of its own
FORK_WAIT = 5.0  # seconds that a fork waits for the transactions of other threads


class Connections:
    """Connections to one file, which `connect` opens, lent to one thread at a time."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path, self._connect = path, connect
        self._idle: list[sqlite3.Connection] = []
        self._lent: dict[sqlite3.Connection | object, int] = {}
        self._changed = threading.Condition()
        self._forking = self._closed = self._split = False
        settle_before_fork(self)

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
        opening = object()
        with self._changed:
            while self._forking:
                self._changed.wait()
            self._check_usable()
            if self._idle:
                connection = self._idle.pop()
                self._lent[connection] = threading.get_ident()
                return connection
            self._lent[opening] = threading.get_ident()
        try:
            connection = self._connect()
        except BaseException:
            self._forget(opening)
            raise
        with self._changed:
            self._lent[connection] = self._lent.pop(opening)
        return connection

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
        with self._changed:
            if connection not in self._lent:
                # Lent before a fork, in the parent.
                return
            fit = not (self._closed or connection.in_transaction or len(self._idle) >= KEPT_IDLE)
            if fit:
                self._idle.append(connection)
        if not fit:
            connection.close()
        self._forget(connection)

    def _forget(self, lent: sqlite3.Connection | object) -> None:
        with self._changed:
            self._lent.pop(lent, None)
            self._changed.notify_all()

    def close_idle(self) -> None:
        """Close what nobody uses; the next use opens anew."""
        with self._changed:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close for good; connections in use are closed when they come back."""
        with self._changed:
            self._closed = True
        self.close_idle()

    # -- forks -----------------------------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close what is idle, after waiting for the other threads that use one."""
        here = threading.get_ident()
        with self._changed:
            self._forking = True
            self._changed.wait_for(lambda: all(thread == here for thread in self._lent.values()), timeout=FORK_WAIT)
        self.close_idle()

    def after_fork_in_parent(self) -> None:
        """Lend again."""
        with self._changed:
            self._forking = False
            self._changed.notify_all()

    def after_fork(self) -> None:
        """Start with no connection. One that was in use is the parent's: closing it here would harm the file."""
        for connection in self._lent:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        self._split = self._split or bool(self._lent)
        self._idle, self._lent = [], {}
        self._changed = threading.Condition()
        self._forking = False
