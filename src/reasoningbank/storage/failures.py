"""What the database or the disk refuses, in the library's own terms."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reasoningbank.address import ServerAddress
from reasoningbank.errors import (
    BusyError,
    CorruptionError,
    ProjectDeletedError,
    ProjectMovedError,
    ReadOnlyError,
    StorageError,
)

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def busy_error(path: Path) -> BusyError:
    """Say that another writer held the lock for too long."""
    return BusyError(f"{path} stayed locked by another writer: try again, or raise busy_timeout", path=path)


def read_only_error(path: Path) -> ReadOnlyError:
    """Say that the file or folder cannot be written."""
    return ReadOnlyError(f"{path} cannot be written by this user: give write access, or another root", path=path)


def not_allowed_error(path: Path) -> StorageError:
    """Say that this user may not even look."""
    return StorageError(f"{path} may not be looked at by this user: give access to its folder", path=path)


def deleted_error(path: Path) -> ProjectDeletedError:
    """Say that the project was deleted."""
    return ProjectDeletedError(
        f"{path} belongs to a project that was deleted: open a new bank to start it anew", path=path
    )


def moved_error(path: Path | ServerAddress, moved_to: str) -> ProjectMovedError:
    """Say that the project is in another place now."""
    return ProjectMovedError(f"{path} held a project that was moved to {moved_to}: open it there", path=path)


def storage_error(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """Say in the library's own terms what the database or the disk refused."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    number = error.errno if isinstance(error, OSError) else None
    if code in _BUSY:
        return busy_error(path)
    if code == sqlite3.SQLITE_READONLY or number in _READ_ONLY:
        return read_only_error(path)
    if code == sqlite3.SQLITE_FULL or number in _FULL:
        return StorageError(f"no space left for {path}: free some and try again; nothing was changed", path=path)
    # An empty file is a database without tables.
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table: meta" in str(error):
        is_empty = code == sqlite3.SQLITE_ERROR
        what = "is empty, or holds no bank" if is_empty else f"is damaged ({error})"
        or_else = "" if is_empty else ", or save what can be read: reasoningbank salvage FOLDER"
        return CorruptionError(f"{path} {what}: restore a backup of it{or_else}", path=path)
    if code == sqlite3.SQLITE_CANTOPEN or number == errno.ENOENT:
        return StorageError(f"{path} is gone or cannot be opened: put it back, or open a new bank", path=path)
    return StorageError(f"{path} could not be used: {error}", path=path)


@contextmanager
def reported(path: Path, *, files: bool = True) -> Iterator[None]:
    """Raise what the database or the disk refuses inside the block as the StorageError that names `path`.

    An error that is one already goes on as it is. `files` is False where callers do things of their own in the block:
    what their files refuse is theirs.
    """
    try:
        yield
    except StorageError:
        raise
    except (sqlite3.Error, OSError) as error:
        if not files and isinstance(error, OSError):
            raise
        raise storage_error(error, path) from error
