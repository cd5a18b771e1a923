"""Files that are whole or not there: made aside, synced, renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl

    _FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
except ImportError:  # pragma: no cover - Windows
    _FULL_SYNC = None

# Windows refuses to rename what a virus scanner or an indexer has open just now.
_PAUSES = (0.02, 0.1, 0.5)


def sync_file(descriptor: int) -> None:
    """Wait until what was written is on the disk, and not in the drive's own cache (which macOS needs to be told)."""
    if _FULL_SYNC is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, _FULL_SYNC)


def space_of(folder: Path) -> dict[str, int]:
    """Return the bytes that a folder's files hold (`disk_bytes`), and what is left on its disk (`free_bytes`)."""
    taken = sum(size_of(file) for file in folder.rglob("*") if file.is_file())
    return {"disk_bytes": taken, "free_bytes": shutil.disk_usage(folder).free}


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a new file is only there once its name is."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path) -> None:
    """Make a folder with those above it, and have their names on the disk."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def rename(source: Path, target: Path) -> None:
    """Rename a file or folder, a few times where it is refused for the moment; OSError if it stays refused."""
    for pause in _PAUSES:
        with contextlib.suppress(PermissionError):
            source.replace(target)
            return
        time.sleep(pause)
    source.replace(target)


def write_ahead_log(path: Path) -> Path:
    """Return the write-ahead log of a database, which need not be there."""
    return path.with_name(f"{path.name}-wal")


def aside(path: Path, purpose: str) -> Path:
    """Return an unused hidden name beside `path`; `purpose` and the name of `path` are in it."""
    return path.with_name(f".{purpose}-{path.name}-{os.urandom(4).hex()}")


def asides(path: Path, purpose: str) -> list[Path]:
    """Return what stands beside `path` under names that `aside` gave."""
    return sorted(path.parent.glob(f".{purpose}-{path.name}-*"))


def size_of(path: Path) -> int:
    """Return a file's length; 0 when it is not there."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


@contextlib.contextmanager
def new_folder(target: Path, purpose: str) -> Iterator[Path]:
    """Give a folder to fill that gets its name when all is in it; of one that was not filled nothing is left."""
    made = aside(target, purpose)
    try:
        yield made
        rename(made, target)
        sync_folder(target.parent)
    finally:
        remove_tree(made)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it; somebody else may be removing it too."""
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue


def remove_files(*paths: Path) -> None:
    """Remove files as far as that is possible now; what stays is found again by its name."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
