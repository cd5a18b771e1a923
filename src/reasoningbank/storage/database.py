"""Connections and transactions on one project's SQLite file.

Every write is `BEGIN IMMEDIATE`: a read that turns into a write would fail at once, whatever the busy timeout. Reads
run in one deferred transaction, so that they see one state. Connections are pooled, because worker threads come and
go, and are left behind after a fork: a child that closed them would drop its parent's locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from reasoningbank.errors import (
    BusyError,
    CorruptionError,
    NewerFormatError,
    ProjectDeletedError,
    ReadOnlyError,
    StorageError,
)
from reasoningbank.storage.migrations import scripts, statements

# A parent's connections after a fork: kept referenced, so that the child never closes them.
_left_behind: list[list[sqlite3.Connection]] = []


def busy_error(path: Path) -> BusyError:
    """Say that another writer held the lock for too long."""
    return BusyError(f"{path} stayed locked by another writer: try again, or raise busy_timeout", path=path)


def read_only_error(path: Path) -> ReadOnlyError:
    """Say that the file or folder cannot be written."""
    return ReadOnlyError(f"{path} cannot be written by this user: give write access, or another root", path=path)


def storage_error(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """Say in the library's own terms what the database or the disk refused."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    number = error.errno if isinstance(error, OSError) else None
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy_error(path)
    if code == sqlite3.SQLITE_READONLY or number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return read_only_error(path)
    if code == sqlite3.SQLITE_FULL or number in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"no space left for {path}: free some and try again; nothing was changed", path=path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CorruptionError(f"{path} is damaged ({error}): restore a backup of it", path=path)
    if code == sqlite3.SQLITE_CANTOPEN or number == errno.ENOENT:
        return StorageError(f"{path} is gone or cannot be opened: put it back, or open a new bank", path=path)
    return StorageError(f"{path} could not be used: {error}", path=path)


class Database:
    """The SQLite file of one project.

    Args:
        path: the file, which must exist.
        durability: "full" waits for the disk at every commit.
        busy_timeout: seconds to wait for another writer.
        read_only: the folder cannot be written; what is there is shown.
    """

    def __init__(
        self, path: Path, *, durability: Literal["normal", "full"], busy_timeout: float, read_only: bool = False
    ) -> None:
        self.path, self.read_only = path, read_only
        self._durability, self._busy_timeout = durability, busy_timeout
        self._immutable = False
        self._reset()
        self._inode = self._stat_inode()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._write_lock = threading.Lock()
        self._closed = False

    def _stat_inode(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError as error:
            raise storage_error(error, self.path) from error

    # -- connections ---------------------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        mode = ("immutable=1" if self._immutable else "mode=ro") if self.read_only else "mode=rw"
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
            connection.execute("PRAGMA temp_store = memory")
            connection.execute("PRAGMA cache_size = -16000")
            connection.create_function("casefold", 1, str.casefold, deterministic=True)
            connection.execute("SELECT 1 FROM meta").fetchone()
        except sqlite3.Error:
            connection.close()
            if self.read_only and not self._immutable:
                # Without a shared-memory file that can be made, only the checkpointed part can be read.
                self._immutable = True
                return self._connect()
            raise
        return connection

    def _take(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            _left_behind.append(self._idle)
            self._reset()
        if self._closed:
            raise StorageError(f"{self.path} was closed: open a new bank", path=self.path)
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _give_back(self, connection: sqlite3.Connection, pid: int) -> None:
        if pid == os.getpid() and not self._closed:
            self._idle.append(connection)
        elif pid == os.getpid():
            connection.close()
        else:
            _left_behind.append([connection])

    # -- transactions --------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one read transaction: everything read in it is of one state.

        Raises:
            StorageError: the file is gone or damaged; ProjectDeletedError when the project was deleted.
        """
        try:
            connection = self._take()
            pid = os.getpid()
            try:
                connection.execute("BEGIN")
                self._check_not_deleted(connection)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._give_back(connection, pid)
        except sqlite3.Error as error:
            raise storage_error(error, self.path) from error

    @contextmanager
    def write(self, undo: Callable[[], None] | None = None) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction: it commits at the end, or changes nothing.

        Args:
            undo: called before the lock is given up when the transaction does not commit, to take back what was done
                outside the database.

        Raises:
            BusyError: another writer held the lock for too long.
            ReadOnlyError, ProjectDeletedError, StorageError: as their names say; nothing was changed.
        """
        if self.read_only:
            raise read_only_error(self.path)
        try:
            connection = self._take()
            pid, lock = os.getpid(), self._write_lock
            if not lock.acquire(timeout=self._busy_timeout):
                self._give_back(connection, pid)
                raise busy_error(self.path)
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._check_in_place()
                self._check_not_deleted(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if undo is not None:
                    undo()
                raise
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                lock.release()
                self._give_back(connection, pid)
        except sqlite3.Error as error:
            raise storage_error(error, self.path) from error

    def _check_in_place(self) -> None:
        # Writing to a file that was removed or replaced under us would be lost without a word.
        if self._stat_inode() != self._inode:
            raise StorageError(f"{self.path} was replaced while it was open: open a new bank", path=self.path)

    def _check_not_deleted(self, connection: sqlite3.Connection) -> None:
        if connection.execute("SELECT 1 FROM meta WHERE key = 'deleted'").fetchone():
            raise ProjectDeletedError(
                f"{self.path} belongs to a project that was deleted: open a new bank to start it anew", path=self.path
            )

    # -- the file as a whole -------------------------------------------------------------------------------------

    def migrate(self) -> None:
        """Bring the schema to the present format; safe when several processes do it at once.

        Raises:
            NewerFormatError: the file is of a newer version; it is left alone.
        """
        newest = scripts()[-1][0]
        with self.read() as connection:
            found = _format(connection)
        if found > newest:
            raise NewerFormatError(
                f"{self.path} has format {found}, this version reads up to {newest}: upgrade reasoningbank-core",
                path=self.path,
            )
        if found == newest:
            return
        with self.write() as connection:
            # Another process may have migrated it between the look and the lock.
            apply_migrations(connection)

    def truncate_wal(self) -> None:
        """Fold the write-ahead log into the file, as far as no reader needs it."""
        if self.read_only:
            return
        try:
            connection = self._take()
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._give_back(connection, os.getpid())
        except sqlite3.Error as error:
            raise storage_error(error, self.path) from error

    @contextmanager
    def hold_still(self) -> Iterator[None]:
        """Keep every writer out while the project's files are copied; reading goes on. Nothing is written."""
        if self.read_only:
            yield
            return
        with self.write():
            yield

    def backup_to(self, target: Path) -> None:
        """Copy the file through SQLite's backup interface; a plain copy would miss the log and drop locks."""
        try:
            with self.read() as source:
                copy = sqlite3.connect(target)
                try:
                    source.backup(copy)
                finally:
                    copy.close()
        except sqlite3.Error as error:
            raise storage_error(error, target) from error

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they come back."""
        if self._pid != os.getpid():
            _left_behind.append(self._idle)
            self._idle = []
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def _format(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def apply_migrations(connection: sqlite3.Connection) -> None:
    """Run the migrations that the database does not have yet, inside the caller's write transaction."""
    for number, script in scripts():
        if number > _format(connection):
            for statement in statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")


def create_database(path: Path, meta: dict[str, str]) -> None:
    """Build a new database beside `path` and link it into place, so that nobody meets a half-made one.

    When another process was first, its database stays and ours is dropped.
    """
    aside = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}")
    try:
        connection = sqlite3.connect(aside, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = wal")
            connection.execute("BEGIN IMMEDIATE")
            apply_migrations(connection)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute("COMMIT")
        finally:
            connection.close()
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    except (sqlite3.Error, OSError) as error:
        raise storage_error(error, path) from error
    finally:
        for leftover in (aside, Path(f"{aside}-wal"), Path(f"{aside}-shm")):
            leftover.unlink(missing_ok=True)
