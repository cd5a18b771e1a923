"""Where a snapshot of an index stands, and whether it belongs to the database beside it.

A snapshot bears a token that was stored in the database in the transaction that put it into place. A database that
holds the token has been through that moment, so its feed goes on from what the snapshot covers: one that was put back,
copied or begun anew never takes another's snapshot for its own.
"""

from __future__ import annotations

from pathlib import Path

from reasoningbank.storage import meta
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.files import asides, remove_files, rename

_KEY = "snapshot of {}"


def path_of(reading: Reading, table: str) -> Path:
    """Return where the snapshot of a table's vectors stands; it need not be there."""
    return reading.folder / f"{table}.index"


def sweep(folder: Path) -> None:
    """Remove what killed processes left of snapshots that they were making. One being made now is made another time."""
    for table in ("vectors", "node_vectors"):
        remove_files(*asides(folder / f"{table}.index", "new"))


def token(reading: Reading, table: str) -> str | None:
    """Return the token of the snapshot that belongs to this database."""
    return meta.read(reading).get(_KEY.format(table))


def install(writing: Writing, table: str, made: Path, token: str) -> None:
    """Put a snapshot into place, inside the caller's write transaction; OSError if it is gone, or the disk refused."""
    rename(made, path_of(writing, table))
    meta.put(writing, _KEY.format(table), token)


def drop(writing: Writing, table: str) -> None:
    """Remove a snapshot, also one that is being made, inside the caller's write transaction.

    Called before anything that a snapshot may hold is deleted: not even its codes are to stay on the disk.
    """
    path = path_of(writing, table)
    remove_files(path, *asides(path, "new"))
    meta.drop(writing, _KEY.format(table))
