"""All rows of a project, taken from one engine to another with their numbers: nothing that refers to them changes.

Signals, beliefs, caches and merges refer to row numbers, revisions and changes of the feed: they stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import cast

from reasoningbank.errors import InvalidInputError, ProjectMovedError, ProjectNotFoundError, StorageError
from reasoningbank.signals import parse_time
from reasoningbank.storage import evidence, files, meta
from reasoningbank.storage.contract import INDEXES, Reading, Writing, column
from reasoningbank.storage.evidence import Position
from reasoningbank.storage.ledger import Log
from reasoningbank.storage.lifecycle import create_database
from reasoningbank.storage.place import Place, Project
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME, nothing
from reasoningbank.storage.project import Project as FolderProject

_AT_ONCE = 1_000
PATIENCE = 10.0  # seconds to wait for another writer
# Of one place only: what a process holds there, and what belongs to its files.
_OF_PLACE = ("moved_to", "words_left", "maintaining_since", "snapshot of vectors", "snapshot of node_vectors")
# What triggers tell of nodes' vectors, and what they look at for it: last.
_TOLD = "node_changes"
_LAST = ("generations", _TOLD)
# An offset in a file is a number on a server: written with the log.
_LOG, _OF_LOG = "log_positions", ("segment", "name", "day", "orphans", "rolled")


Digest = dict[str, tuple[int, int]]
"""How many rows each table has, and the sum of their hashes: what two places have in common is the same."""


@cache
def tables() -> dict[str, tuple[str, ...]]:
    """Return the columns of every table that holds a project's rows, by its name, in the order they are put in."""
    with nothing(None) as empty:
        names = column(
            empty, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
        )
        names = [name for name in names if not name.startswith("sqlite_")]
        names.sort(key=lambda name: _LAST.index(name) if name in _LAST else -1)
        found = {name: tuple(column(empty, "SELECT name FROM pragma_table_info(?)", (name,))) for name in names}
    return dict.fromkeys(INDEXES, ("rowid", "text")) | found


@dataclass(frozen=True, slots=True)
class Named:
    """A project by its names."""

    tenant: str
    project: str

    def at(self, place: Place, create_at: datetime | None = None) -> Project | None:
        """Open it at a place; None when it is not there, and was not to be made."""
        return place.open(
            self.tenant,
            self.project,
            durability="normal",
            busy_timeout=PATIENCE,
            create_at=create_at,
        )


def move(named: Named, source: Place, target: Place) -> int:
    """Take a project to another place, where it goes on with the same numbers, beliefs and answers.

    While it is moved, others can read it and wait to write. Stopped anywhere, it is in its old place, whole; moving
    again goes on. Afterwards it is open in the new place only: what is left in the old one says where it is.

    Returns:
        How many rows it has.

    Raises:
        ProjectNotFoundError: there is none of this name.
        InvalidInputError: another project of this name is there already.
        StorageError: a place refuses, or what arrived is not what was sent; nothing was moved.
    """
    opened = named.at(source)
    if opened is None:
        raise ProjectNotFoundError(named.project, named.tenant)
    with closing(opened), opened.write() as writing:
        writing.catch_up()
        sent = digest(writing)
        if not _arrived(named, target, sent):
            _send(named, opened, writing, target, sent)
        meta.put(writing, "moved_to", target.where(named.tenant, named.project))
        return sum(many for many, _ in sent.values())


def _arrived(named: Named, target: Place, sent: Digest) -> bool:
    """Tell whether a move that was stopped brought all of it there already."""
    try:
        there = named.at(target)
    except ProjectMovedError:
        # What is left of it from an earlier move.
        target.delete(named.tenant, named.project)
        return False
    if there is None:
        return False
    with closing(there), there.read() as arrived:
        if digest(arrived) == sent:
            return True
    where = target.where(named.tenant, named.project)
    raise InvalidInputError(f"{where} is another project of this name: move to a place without one, or delete it first")


def _send(named: Named, source: Project, reading: Reading, target: Place, sent: Digest) -> None:
    made = cast("Project", named.at(target, parse_time(meta.read(reading)["created_at"])))
    where = target.where(named.tenant, named.project)
    try:
        with closing(made), made.write() as writing:
            copy(reading, source.log_of(reading), writing, made.log_of(writing))
            if digest(writing) != sent:
                raise StorageError(f"{where} is not what was sent: nothing was moved", path=Path(where))
    except BaseException:
        target.delete(named.tenant, named.project)
        raise


def copy(reading: Reading, log: Log, writing: Writing, target: Log) -> None:
    """Put every row and line of a project into one that was just made, in the caller's transactions.

    Lines that cannot be read are left out.
    """
    writing.execute("DELETE FROM meta")
    for table, columns in tables().items():
        if table == _TOLD:
            # What the rows that were put told anew is none of it.
            writing.execute(f"DELETE FROM {table}")
        for rows in _rows(reading, table, columns):
            writing.insert(table, columns, rows)
    writing.go_on_from(reading.given())
    writing.refresh()
    for position in evidence.positions(reading):
        _copy_segment(position, log, writing, target)


def _copy_segment(position: Position, log: Log, writing: Writing, target: Log) -> None:
    segment, end, checksum = position.segment, 0, None
    lines = () if position.rolled else log.lines(segment, 0)
    counted = [line.signal for line in lines if line.signal is not None and line.end <= position.end]
    if counted:
        _, end = target.append(segment, counted)
        checksum = target.checksum(segment, 0, end)
    moved = "UPDATE log_positions SET position = ?, checksum = ?, bad = 0 WHERE segment = ?"
    writing.execute(moved, (end, checksum, segment.number))


def digest(reading: Reading) -> Digest:
    """Return what a project holds, as far as it is the same in every place."""
    return {table: _digest_of(reading, table, columns) for table, columns in tables().items()}


def _digest_of(reading: Reading, table: str, columns: tuple[str, ...]) -> tuple[int, int]:
    many = total = 0
    for rows in _rows(reading, table, columns if table != _LOG else _OF_LOG):
        for row in rows:
            many += 1
            total += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=16).digest())
    return many, total % (1 << 128)


def _rows(reading: Reading, table: str, columns: tuple[str, ...]) -> Iterator[list[tuple[object, ...]]]:
    which = f" WHERE key NOT IN ({', '.join('?' * len(_OF_PLACE))})" if table == "meta" else ""
    found = reading.execute(f"SELECT {', '.join(columns)} FROM {table}{which}", _OF_PLACE if which else ())
    while rows := found.fetchmany(_AT_ONCE):
        yield rows


def copy_to_folder(source: Project, reading: Reading, target: Path) -> None:
    """Copy what a reading sees into a new folder that can be opened as a project."""
    made = files.aside(target, "backup")
    try:
        files.make_folders(made / SIGNALS_NAME)
        facts = meta.read(reading)
        create_database(made / DATABASE_NAME, {name: facts[name] for name in ("tenant", "project", "created_at")})
        copied = FolderProject(made, durability="full", busy_timeout=PATIENCE)
        with closing(copied), copied.write() as writing:
            copy(reading, source.log_of(reading), writing, copied.log)
        files.rename(made, target)
        files.sync_folder(target.parent)
    finally:
        files.remove_tree(made)
