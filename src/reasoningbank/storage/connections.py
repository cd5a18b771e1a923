"""The pooled connections to one SQLite file.

SQLite keeps what it knows of a file's locks per process, and a fork copies that knowledge but not the locks: a child
that then opens the file believes to hold what it does not, and its writes can vanish when the parent closes. So no
connection is open across a fork. Before one, those in use are waited for and the idle ones are closed.

A signal's handler may raise between any two steps (Ctrl-C, the time limit of a worker). What is lent is noted under a
`Loan` that is there before anything is taken, so whatever was done by then can be undone, and undone twice.
"""

from __future__ import annotations

import ctypes
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reasoningbank.errors import StorageError
from reasoningbank.forks import settle_before_fork

# Threads in a transaction at once, and connections kept open when nobody uses them. Further ones wait for their turn:
# they would take the interpreter's lock from each other at every statement, and all be done when the last one is.
AT_ONCE = 2
LONGEST_TURN = 0.05  # seconds in which a transaction should end; nobody waits for those that take longer
FORK_WAIT = 5.0  # seconds that a fork waits for the transactions of other threads


class Loan:
    """A connection that a thread has, or is about to have."""

    thread: int
    connection: sqlite3.Connection | None = None


class Connections:
    """Connections to one file, which `connect` opens, lent to one thread at a time."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path, self._connect = path, connect
        self._closed = self._split = False
        self._begin()
        settle_before_fork(self)

    def _begin(self) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._lent: set[Loan] = set()
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
        loan = Loan()
        loan.thread = threading.get_ident()
        try:
            yield self._take(loan)
        finally:
            try:
                self._give_back(loan)
            except BaseException:
                self._give_back(loan)
                raise

    def _take(self, loan: Loan) -> sqlite3.Connection:
        with self._lock:
            # A thread that is in a transaction already would wait for itself.
            busy = self._queue or self._forking or len(self._awaited) >= AT_ONCE
            if busy and not self._has_some(loan.thread):
                self._wait_for_turn()
            self._check_usable()
            self._awaited.add(loan.thread)
            self._lent.add(loan)
            if self._idle:
                loan.connection = self._idle.pop()
                return loan.connection
        loan.connection = self._connect()
        return loan.connection

    def _has_some(self, thread: int) -> bool:
        return any(loan.thread == thread for loan in self._lent)

    def _wait_for_turn(self) -> None:
        turn = threading.Condition(self._lock)
        try:
            self._queue.append(turn)
            while self._queue[0] is not turn or self._forking or len(self._awaited) >= AT_ONCE:
                is_next = self._queue[0] is turn and not self._forking
                if not turn.wait(LONGEST_TURN if is_next else None):
                    self._awaited.clear()
        finally:
            if turn in self._queue:
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

    def _give_back(self, loan: Loan) -> None:
        with self._lock:
            # What is not lent was lent before a fork, in the parent, or is given back for the second time.
            connection = loan.connection if loan in self._lent else None
            try:
                fit = not (connection is None or self._closed or connection.in_transaction)
            except sqlite3.ProgrammingError:
                fit = False
            if connection is not None and fit and len(self._idle) < AT_ONCE:
                self._lent.discard(loan)
                self._idle.append(connection)
                connection = None
        if connection is not None:
            connection.close()
        with self._lock:
            self._lent.discard(loan)
            if not (self._lent and self._has_some(loan.thread)):
                self._awaited.discard(loan.thread)
            self._changed.notify_all()
            self._call_next()

    def abandon(self, connection: sqlite3.Connection) -> None:
        """Close a connection that an interrupted call left behind, and undo what was not committed."""
        with self._lock:
            self._lent -= {loan for loan in self._lent if loan.connection is connection}
        with suppress(sqlite3.Error):
            connection.rollback()
        connection.close()

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
            self._changed.wait_for(lambda: all(loan.thread == here for loan in self._lent), timeout=FORK_WAIT)
        self.close_idle()

    def after_fork_in_parent(self) -> None:
        """Lend again."""
        with self._lock:
            self._forking = False
            self._call_next()

    def after_fork(self) -> None:
        """Start with no connection. One that was in use is the parent's: closing it here would harm the file."""
        for loan in self._lent:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(loan.connection))
        self._split = self._split or bool(self._lent)
        self._begin()
