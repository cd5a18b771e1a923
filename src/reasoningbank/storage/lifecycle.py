"""How a project's files come into being, and how they go."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from reasoningbank.errors import CorruptionError, StorageError
from reasoningbank.storage import files
from reasoningbank.storage.database import Database, empty, inode
from reasoningbank.storage.failures import reported
from reasoningbank.storage.transaction import number_anew

_POSIX = os.name == "posix"


def create_database(path: Path, meta: dict[str, str]) -> None:
    """Build a new database aside and put it into place whole, so that nobody meets a half-made one.

    One that is there stays; when another process was first, ours is dropped.

    StorageError when the disk refuses.
    """
    if inode(path) is not None:
        return
    with reported(path):
        files.make_folders(path.parent)
        made = files.aside(path, "new")
        try:
            _build(made, meta)
            _put_into_place(made, path)
            files.sync_folder(path.parent)
        except (sqlite3.Error, OSError):
            # Another process that was first swept ours away.
            if not path.exists():
                raise
        finally:
            # Also what killed processes left.
            files.remove_files(*files.asides(path, "new"))


def check_nothing_is_missing(path: Path, signals: Path) -> None:
    """Check that no database is missing here; CorruptionError when it is gone and what belongs to it is there.

    A new one would take the pages of the old one's write-ahead log for its own, and signals would be about nothing.
    """
    # Looked at twice: the folder may just be taken away as a whole.
    if inode(path) is None and _left_of(path, signals) and inode(path) is None and (left := _left_of(path, signals)):
        raise CorruptionError(
            f"{path} is gone, but {left} is there: put the file or a backup of it back, or move {left} away to start "
            "anew",
            path=path,
        )


def _left_of(path: Path, signals: Path) -> str:
    """Return the name of what belongs to a database and is there; "" when nothing is."""
    log = files.write_ahead_log(path)
    # (An empty log is that of a process that opened the database while its folder was taken away.)
    return log.name if files.size_of(log) else signals.name if any(signals.glob("*.jsonl")) else ""


def _build(made: Path, meta: dict[str, str]) -> None:
    made.write_bytes(empty())
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as connection:
        # (Its commit syncs the whole file.)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        number_anew(connection)
        connection.execute("COMMIT")
        # Last: what goes through a write-ahead log is in the file once that is closed, and that can fail unheard.
        connection.execute("PRAGMA journal_mode = wal")


def _put_into_place(made: Path, path: Path) -> None:
    """Give `made` its name, unless there is one of that name."""
    try:
        os.link(made, path)
    except FileExistsError:
        return
    except OSError:
        # A file system without hard links.
        _rename_into_place(made, path)


def _rename_into_place(made: Path, path: Path) -> None:
    # A rename would replace what is there; a database that nobody else has is the lock that keeps others out meanwhile.
    gate = path.with_name(f".gate-{path.name}")
    with contextlib.closing(sqlite3.connect(gate, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        if not path.exists():
            files.rename(made, path)
        files.remove_files(gate)


def remove_deleted(database: Database) -> None:
    """Take the folder of a project out of sight if it is marked as deleted, then remove it.

    The marked database's own lock sees to it that of several processes one does it, and that none takes away the
    folder of a project that was started anew. After a StorageError the mark stays, and it can be tried again.
    """
    folder = database.path.parent
    doomed = files.aside(folder, "deleted")
    with reported(folder):
        try:
            with database.write() as connection:
                marked = connection.execute("SELECT 1 FROM meta WHERE key = 'deleted'").fetchone()
                if marked and _POSIX:
                    files.rename(folder, doomed)
        except StorageError:
            if database.in_place:
                raise
            # Another process was first.
            marked = None
        database.close()
        if marked and not _POSIX:
            # An open file keeps its folder in place there, so nobody can have started anew.
            files.rename(folder, doomed)
        sweep(folder)


def finish_deletion(path: Path) -> None:
    """Remove the folder, if it is there, of a project whose database says that it is deleted, or raise StorageError."""
    with contextlib.closing(Database(path, durability="full", busy_timeout=10.0)) as database:
        remove_deleted(database)


def remove_damaged(folder: Path) -> None:
    """Remove the folder of a project whose database cannot be read, or raise StorageError."""
    with reported(folder):
        files.rename(folder, files.aside(folder, "deleted"))
        sweep(folder)


def sweep(folder: Path) -> None:
    """Remove what deletions of this project left behind, also those that were killed."""
    for doomed in files.asides(folder, "deleted"):
        with contextlib.suppress(PermissionError):
            files.remove_tree(doomed)
