"""Tells a write-ahead log that was left beside another state of its database from one that belongs to it.

SQLite takes any log that stands beside a database for its own, and nothing in either says whose it is. So every commit
raises a number in the database's header by one, and copies begin with a number of their own. What a log belongs to has
the number before its first commit, or one of those that it holds, as far as it was folded back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from reasoningbank.errors import CorruptionError
from reasoningbank.storage.files import write_ahead_log
from reasoningbank.storage.transaction import HIGHEST

# SQLite's file format: the header of a log and of each page in it, and where the first page has the number.
_HEADER, _FRAME, _NUMBER_AT = 32, 24, 68
# A checkpoint beside us may come between two looks; at each try it has to do so again.
_TRIES = 5


def check_log(path: Path) -> None:
    """Raise CorruptionError where the log beside a database is of another state than the database is.

    Only what is certain is refused: a database that was never numbered goes with any log.
    """
    if is_of_another_state(path):
        log = write_ahead_log(path).name
        raise CorruptionError(
            f"{log} is of another state than {path}, which was put back beside it, or copied without it: to go on with "
            f"the file as it is, close every program and move {log} and {path.name}-shm away; or put a whole backup in "
            "its place: reasoningbank restore FOLDER",
            path=path,
        )


def is_of_another_state(path: Path) -> bool:
    """Tell whether the log beside a database was written to another state than the one that the file holds."""
    for _ in range(_TRIES):
        try:
            if not write_ahead_log(path).stat().st_size:
                return False
            before = _number_of(path)
            held = [*_numbers_in(write_ahead_log(path))]
            after = _number_of(path)
        except (OSError, sqlite3.Error):
            # What cannot be read is told by whoever opens it.
            return False
        if not held or 0 in {before, *held}:
            return False
        if before == after:
            base = held[0] - 1
            return (before - base) % HIGHEST > (held[-1] - base) % HIGHEST
    return False


def _number_of(path: Path) -> int:
    """Return the number in the file itself. Asked of SQLite: to close a file of one's own would drop its locks."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        number: int = connection.execute("PRAGMA application_id").fetchone()[0]
        return number


def _numbers_in(log: Path) -> Iterator[int]:
    """Yield the number of each first page in a log, in order."""
    with log.open("rb") as file:
        header = file.read(_HEADER)
        page, salts = int.from_bytes(header[8:12]), header[16:24]
        while len(frame := file.read(_FRAME)) == _FRAME and frame[8:16] == salts:
            if int.from_bytes(frame[:4]) == 1:
                file.seek(_NUMBER_AT, 1)
                yield int.from_bytes(file.read(4))
                file.seek(page - _NUMBER_AT - 4, 1)
            else:
                file.seek(page, 1)
