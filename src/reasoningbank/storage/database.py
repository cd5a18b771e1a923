"""Transactions on one project's SQLite file.

Every write is `BEGIN IMMEDIATE`: a read that turns into a write would fail at once, whatever the busy timeout. Reads
run in one deferred transaction, so that they see one state.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Literal

from reasoningbank.errors import NewerFormatError, StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.identity import identity
from reasoningbank.storage.connections import Connections
from reasoningbank.storage.failures import busy_error, deleted_error, not_allowed_error, read_only_error, reported
from reasoningbank.storage.files import size_of, write_ahead_log
from reasoningbank.storage.migrations import scripts, statements


class Database:
    """The SQLite file of one project: connections and bare transactions, whatever is in it.

    Args:
        path: the file; without it, every use is an error.
        durability: "full" waits for the disk at every commit.
        busy_timeout: seconds to wait for another writer.
        read_only: the folder cannot be written; what is there is shown.
    """

    def __init__(
        self, path: Path, *, durability: Literal["normal", "full"], busy_timeout: float, read_only: bool = False
    ) -> None:
        self.path, self.read_only = path, read_only
        self._durability, self._busy_timeout = durability, busy_timeout
        self._connections = Connections(path, self._connect)
        # What its thread holds already was left by a call that was interrupted: no write begins inside of another.
        self._one_writer = threading.RLock()
        self._writing: sqlite3.Connection | None = None
        self._frozen = False
        self._inode = inode(path)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock: the thread that held it is not in this process."""
        self._one_writer, self._writing = threading.RLock(), None

    # -- connections ---------------------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        # Loaded with the first connection, and not with the package.
        from reasoningbank.storage.write_ahead import check_log

        check_log(self.path)
        if not self.read_only:
            return self._open("mode=rw")
        try:
            connection = self._open("mode=ro")
        except sqlite3.Error:
            # Without a shared-memory file that can be made, only the checkpointed part can be read. The mode has to be
            # named: SQLite would make a file that is not there.
            self._frozen = True
            return self._open("mode=ro&immutable=1")
        self._frozen = False
        return connection

    def _open(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?{mode}",
            uri=True,
            timeout=self._busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._durability}")
            if self._durability == "full":
                # On macOS a plain fsync leaves the data in the drive's own cache; elsewhere this changes nothing.
                connection.execute("PRAGMA fullfsync = on")
            connection.execute("PRAGMA temp_store = memory")
            # What is deleted is gone from the file: its pages are overwritten.
            connection.execute("PRAGMA secure_delete = on")
            connection.execute("PRAGMA cache_size = -16000")
            prepare(connection)
            connection.execute("SELECT 1 FROM meta").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @property
    def hides_recent_writes(self) -> bool:
        """Whether a write-ahead log is there that this user cannot read."""
        return self._frozen and size_of(write_ahead_log(self.path)) > 0

    # -- transactions --------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one read transaction: everything read in it is of one state.

        StorageError when the file is gone, replaced or damaged; ProjectDeletedError when that was a deletion.
        """
        with reported(self.path, files=False):
            with self._connections.lend() as connection:
                connection.execute("BEGIN")
                try:
                    self._check_in_place(connection)
                    yield connection
                finally:
                    _roll_back(connection)
            if self._frozen:
                # What SQLite takes for frozen, it never looks at again: others may write it all the same.
                self._connections.close_idle()

    @contextmanager
    def write(self, undo: Callable[[], None] | None = None) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction: it commits at the end, or changes nothing.

        When it does not commit, `undo` is called under the lock, to take back what was done outside the database.

        Raises:
            BusyError: another writer held the lock for too long.
            ReadOnlyError, ProjectDeletedError, StorageError: as their names say; nothing was changed.
        """
        if self.read_only:
            raise read_only_error(self.path)
        with reported(self.path, files=False), self._waiting_turn(), self._connections.lend() as connection:
            # What an interrupted call left in the midst of writing is given up.
            left, self._writing = self._writing, connection
            if left is not None:
                self._connections.abandon(left)
            committing = False
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._check_in_place(connection)
                yield connection
                committing = True
                connection.execute("COMMIT")
            except BaseException as error:
                # Interrupted just after the commit, it is committed.
                done = committing and not isinstance(error, sqlite3.Error) and not connection.in_transaction
                if undo is not None and not done and self._writing is connection:
                    _undo(connection, undo)
                raise
            finally:
                try:
                    _roll_back(connection)
                finally:
                    if self._writing is connection:
                        self._writing = None

    @contextmanager
    def _waiting_turn(self) -> Iterator[None]:
        # SQLite's own waiting is a sleep that grows; among threads a lock is fair and costs nothing.
        lock = self._one_writer
        try:
            if not lock.acquire(timeout=self._busy_timeout):
                raise busy_error(self.path)
            yield
        finally:
            # Whatever an interrupted call took is given back with it.
            with suppress(RuntimeError):
                while True:
                    lock.release()

    @property
    def in_place(self) -> bool:
        """Whether the file still stands under its name."""
        return self._inode is not None and inode(self.path) == self._inode

    def _check_in_place(self, connection: sqlite3.Connection) -> None:
        # Writing to a file that was removed or replaced under us would be lost without a word.
        if self.in_place:
            return
        if connection.execute("SELECT 1 FROM meta WHERE key = 'deleted'").fetchone():
            raise deleted_error(self.path)
        raise StorageError(f"{self.path} was removed or replaced while it was open: open a new bank", path=self.path)

    # -- the file as a whole -------------------------------------------------------------------------------------

    def migrate(self) -> None:
        """Bring the schema to the present format; safe when several processes do it at once.

        NewerFormatError when the file is of a newer version, which is left alone.
        """
        with self.read() as connection:
            found = _format(connection)
        self.check_format(found)
        if found == scripts()[-1][0]:
            return
        with self.write() as connection:
            # Another process may have migrated it between the look and the lock.
            apply_migrations(connection)

    def check_format(self, found: int) -> None:
        """Raise NewerFormatError for a format that only a newer version knows."""
        newest = scripts()[-1][0]
        if found > newest:
            raise NewerFormatError(
                f"{self.path} has format {found}, this version reads up to {newest}: upgrade reasoningbank-core",
                path=self.path,
            )

    def settle(self) -> None:
        """Wait until all that is committed is on the disk, whatever the durability."""
        with reported(self.path), self._connections.lend() as connection:
            # A checkpoint begins with waiting for the log.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def truncate_wal(self) -> None:
        """Fold the write-ahead log into the file, as far as nobody needs it."""
        # A connection that was opened while the folder was taken away may hold the log of the project started anew.
        if self.read_only or not self.in_place:
            return
        with reported(self.path), self._connections.lend() as connection:
            before = connection.execute("PRAGMA busy_timeout").fetchone()[0]
            # It is only tidier: nobody is kept waiting for it.
            connection.execute("PRAGMA busy_timeout = 100")
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {before:d}")

    def close(self) -> None:
        """Close the connections; those in use are closed when they come back."""
        self._connections.close()


def prepare(connection: sqlite3.Connection) -> None:
    """Give a new connection what our statements use beside tables."""
    # Views of the text index, which take no space and are never out of date.
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'terms', 'row')")
    connection.execute("CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab('main', 'terms', 'instance')")
    connection.create_function("folded", 1, str.casefold, deterministic=True)


def inode(path: Path) -> int | None:
    """Return the number of the file that has this name now, None without one; StorageError where we may not look."""
    with reported(path):
        try:
            return path.stat().st_ino
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise not_allowed_error(path) from error


def _roll_back(connection: sqlite3.Connection) -> None:
    # Of an interrupted call it may be closed by now.
    with suppress(sqlite3.ProgrammingError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _undo(connection: sqlite3.Connection, undo: Callable[[], None]) -> None:
    """Call `undo` under the write lock; a commit that failed may have given it up."""
    try:
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error:
        # What was done outside stays, and the next writer finds it as a killed one would have left it.
        return
    undo()


def _format(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def apply_migrations(connection: sqlite3.Connection, up_to: int | None = None) -> None:
    """Run the migrations that the database does not have yet, inside the caller's write transaction.

    Up to a format, or all there are when None.
    """
    _apply(connection, [step for step in scripts() if up_to is None or step[0] <= up_to])


def empty() -> bytes:
    """Return a database with the schema and no rows; to copy it takes a fraction of making it."""
    return _made_by(tuple(scripts()))


@cache
def _made_by(steps: tuple[tuple[int, str], ...]) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _apply(connection, steps)
        return connection.serialize()


def _apply(connection: sqlite3.Connection, steps: Iterable[tuple[int, str]]) -> None:
    connection.create_function("lesson_identity", 5, identity, deterministic=True)
    for number, script in steps:
        if number > _format(connection):
            for statement in statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")
