"""One project's files, opened together: the database and the signal log whose lock it is."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

from reasoningbank.errors import ProjectDeletedError, ScopeError, StorageError
from reasoningbank.signals import Signal, time_text
from reasoningbank.storage import snapshots
from reasoningbank.storage.database import Database, inode
from reasoningbank.storage.failures import reported
from reasoningbank.storage.files import (
    aside,
    asides,
    make_folders,
    remove_files,
    remove_tree,
    rename,
    sync_file,
    sync_folder,
)
from reasoningbank.storage.fold import Folded
from reasoningbank.storage.ledger import Appended, Ledger, LogHealth
from reasoningbank.storage.lifecycle import create_database, finish_deletion
from reasoningbank.storage.signal_log import SignalLog

DATABASE_NAME = "bank.sqlite3"
SIGNALS_NAME = "signals"


class Project:
    """The files of one project of one tenant.

    Args:
        folder: the project's folder.
        durability: "full" waits for the disk at every write.
        busy_timeout: seconds to wait for another writer.
    """

    def __init__(self, folder: Path, *, durability: Literal["normal", "full"], busy_timeout: float) -> None:
        self.folder = folder
        read_only = _is_protected(folder) or _is_protected(folder / DATABASE_NAME)
        self.database = Database(
            folder / DATABASE_NAME, durability=durability, busy_timeout=busy_timeout, read_only=read_only
        )
        self._ledger = Ledger(folder / SIGNALS_NAME, fsync=durability == "full")

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        tenant: str,
        project: str,
        durability: Literal["normal", "full"],
        busy_timeout: float,
        create_at: datetime | None = None,
    ) -> Project | None:
        """Open a project's files.

        Args:
            create_at: make them when they are not there yet, with this time, also where a deletion was cut short; None
                leaves the disk alone.

        Returns:
            None when there is no such project and none was to be made.

        Raises:
            ScopeError: the folder belongs to another tenant or project.
            NewerFormatError, StorageError: as their names say.
        """
        path = folder / DATABASE_NAME
        meta = None if create_at is None else _meta(tenant, project, create_at)
        while inode(path) is not None or meta is not None:
            if meta is not None:
                create_database(path, meta)
            opened = cls(folder, durability=durability, busy_timeout=busy_timeout)
            try:
                opened._check(tenant, project)
            except ProjectDeletedError:
                if meta is None:
                    break
                finish_deletion(path)
            except StorageError:
                # What SQLite says when the folder is taken away while it opens the file can be anything.
                if opened.database.in_place:
                    raise
            else:
                return opened
        return None

    def _check(self, tenant: str, project: str) -> None:
        try:
            self.database.migrate()
            self._check_scope(tenant, project)
        except BaseException:
            self.database.close()
            raise

    def _check_scope(self, tenant: str, project: str) -> None:
        with self.database.read() as connection:
            owner = read_meta(connection)
        if (owner.get("tenant"), owner.get("project")) != (tenant, project):
            raise ScopeError(
                f"{self.folder} belongs to project {owner.get('project')!r} of tenant {owner.get('tenant')!r}, "
                f"not to project {project!r} of tenant {tenant!r}: open it under its own names"
            )

    @property
    def log(self) -> SignalLog:
        """The segments of the signal log."""
        return self._ledger.log

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction; signals appended in it are taken back if it fails."""
        appended: Appended = {}
        with self.database.write(undo=lambda: self._ledger.take_back(appended)) as connection:
            self._ledger.begin(appended)
            yield connection

    # -- signals -------------------------------------------------------------------------------------------------

    def write_signals(self, connection: sqlite3.Connection, signals: Sequence[Signal], now: datetime) -> list[Folded]:
        """Append signals to the log and count them, inside the caller's write transaction.

        Raises:
            StorageError: the disk refused; nothing was appended.
        """
        return self._ledger.write(connection, signals, now)

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Count what stands in the log and is not counted yet, inside the caller's write transaction."""
        self._ledger.catch_up(connection)

    def log_health(self, connection: sqlite3.Connection) -> LogHealth:
        """Look at the log without changing anything."""
        return self._ledger.health(connection)

    # -- upkeep --------------------------------------------------------------------------------------------------

    def roll_up(self, now: datetime, keep_days: int) -> list[str]:
        """Move segments older than `keep_days` into the tallies for good, then delete their files.

        Segments with bad lines are kept. Safe to run twice and by several processes at once.

        Returns:
            The names of the segments rolled up.
        """
        with self.write() as connection:
            rolled = self._ledger.roll_up(connection, now, keep_days)
        # A file may only go once the mark that its lines are counted for good is on the disk.
        self.database.settle()
        self.sweep()
        return [segment.name for segment in rolled]

    def due(self, connection: sqlite3.Connection, now: datetime, keep_days: int) -> list[str]:
        """Return the names of the segments that `roll_up` would look at. Changes nothing."""
        return [segment.name for segment in self._ledger.due(connection, now, keep_days)]

    def sweep(self) -> None:
        """Remove the files of segments that are rolled up, and what killed processes had no time to remove."""
        with self.database.read() as connection:
            self._ledger.delete_rolled(connection)
        remove_files(*asides(self.database.path, "new"))
        snapshots.sweep(self.folder)

    def refold(self) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        with self.write() as connection:
            self._ledger.refold(connection)

    def backup(self, target: Path) -> None:
        """Copy the files, as they are at one moment, into a new folder; other writers wait for an instant only.

        Raises:
            StorageError: the disk refused; there is no new folder.
        """
        made = aside(target, "backup")
        with reported(target), ExitStack() as open_files:
            try:
                make_folders(made / SIGNALS_NAME)
                with self._unchanging():
                    connection = open_files.enter_context(self.database.read())
                    # Opened now, a segment that is rolled up meanwhile can be read on.
                    segments = [
                        (name, open_files.enter_context((self.log.folder / name).open("rb")), size)
                        for name, size in self.log.files()
                    ]
                self.database.backup_to(made / DATABASE_NAME, connection)
                for name, source, size in segments:
                    with (made / SIGNALS_NAME / name).open("wb") as copy:
                        copy.write(source.read(size))
                        copy.flush()
                        sync_file(copy.fileno())
                rename(made, target)
                sync_folder(target.parent)
            finally:
                remove_tree(made)

    @contextmanager
    def _unchanging(self) -> Iterator[None]:
        if self.database.read_only:
            yield
        else:
            with self.database.write():
                yield

    def close(self) -> None:
        """Fold the write-ahead log into the file where that is possible, and close it. Closing twice is fine."""
        # It is only tidier: what is in the log is as safe there, and the files may be gone.
        with contextlib.suppress(StorageError):
            self.database.truncate_wal()
        self.database.close()


def _meta(tenant: str, project: str, created_at: datetime) -> dict[str, str]:
    return {"tenant": tenant, "project": project, "created_at": time_text(created_at)}


def _is_protected(path: Path) -> bool:
    """Tell whether something is there that this user cannot write."""
    return os.access(path, os.F_OK) and not os.access(path, os.W_OK)


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the project-wide facts: tenant, project, created_at and what upkeep remembers."""
    return dict(connection.execute("SELECT key, value FROM meta"))
