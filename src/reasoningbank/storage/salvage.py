"""Saves what can be read of a damaged database, and puts a copy in a project's place."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reasoningbank.errors import CorruptionError, InvalidInputError, ScopeError, StorageError
from reasoningbank.signals import time_text
from reasoningbank.storage import files, meta
from reasoningbank.storage.database import apply_migrations
from reasoningbank.storage.failures import reported
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME, Project
from reasoningbank.storage.transaction import number_anew
from reasoningbank.storage.write_ahead import is_of_another_state

# Rows that are asked for at once, and questions that may fail in one table: each finds a hole, or half of one.
CHUNK = 4_096
MOST_FAILURES = 20_000
# Where a table that does not say its last row ends at the most.
FARTHEST = 2**40


@dataclass
class Saved:
    """How many rows of each table were saved, and the tables of which some could not be read."""

    rows: dict[str, int] = field(default_factory=dict)
    torn: list[str] = field(default_factory=list)


def salvage(folder: Path, target: Path, owner: dict[str, str]) -> Saved:
    """Make a new folder of all that can be read of a project; what is derived is made anew when it is opened.

    Args:
        folder: the project's; nothing in it is changed.
        target: the new folder.
        owner: the facts that a project has from its beginning, in case those cannot be read.

    Raises:
        CorruptionError: nothing at all can be read.
        ScopeError: it is another project's.
        StorageError: the disk refuses; there is no new folder then.
    """
    with reported(target), files.new_folder(target, "salvage") as made:
        files.make_folders(made / SIGNALS_NAME)
        saved = _salvage_database(folder / DATABASE_NAME, made / DATABASE_NAME, owner)
        for segment in (folder / SIGNALS_NAME).glob("*.jsonl"):
            shutil.copyfile(segment, made / SIGNALS_NAME / segment.name)
    return saved


def _salvage_database(damaged: Path, made: Path, owner: dict[str, str]) -> Saved:
    # A copy: opening it replays its write-ahead log, and nothing may be changed in the original.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / DATABASE_NAME
        shutil.copyfile(damaged, copy)
        # One of another state would be mixed into it.
        if files.write_ahead_log(damaged).exists() and not is_of_another_state(damaged):
            shutil.copyfile(files.write_ahead_log(damaged), files.write_ahead_log(copy))
        with closing(sqlite3.connect(copy, isolation_level=None)) as source:
            source.text_factory = lambda raw: raw.decode("utf-8", "replace")
            try:
                version = source.execute("PRAGMA user_version").fetchone()[0]
                there = {name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            except sqlite3.DatabaseError as error:
                raise CorruptionError(
                    f"nothing of {damaged} can be read ({error}): restore a backup; its signal log is whole",
                    path=damaged,
                ) from error
            if "meta" not in there:
                raise CorruptionError(f"{damaged} holds no bank: restore a backup", path=damaged)
            with closing(sqlite3.connect(made, isolation_level=None)) as target:
                return _copied(source, target, version, owner)


def _copied(source: sqlite3.Connection, target: sqlite3.Connection, version: int, owner: dict[str, str]) -> Saved:
    saved = Saved()
    target.execute("BEGIN IMMEDIATE")
    apply_migrations(target, version or None)
    triggers = target.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        target.execute(f"DROP TRIGGER {name}")
    for _, table, kind, _, without_rowid, _ in target.execute("PRAGMA main.table_list").fetchall():
        if kind == "table" and not table.startswith("sqlite_"):
            _copy_table(source, target, table, bool(without_rowid), saved)
    for _, sql in triggers:
        target.execute(sql)
    target.executemany("INSERT OR IGNORE INTO meta(key, value) VALUES (?, ?)", owner.items())
    said = dict(target.execute("SELECT key, value FROM meta").fetchall())
    if (said["tenant"], said["project"]) != (owner["tenant"], owner["project"]):
        raise ScopeError(
            f"it is project {said['project']!r} of tenant {said['tenant']!r}: salvage it under its own names"
        )
    number_anew(target)
    target.execute("COMMIT")
    target.execute("PRAGMA journal_mode = wal")
    return saved


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, without_rowid: bool, saved: Saved
) -> None:
    wanted = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
    try:
        there = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
    except sqlite3.DatabaseError:
        there = set()
    columns = [name for name in wanted if name in there]
    if not columns:
        return
    holes: list[str] = []
    rows = (
        _from_both_ends(source, table, columns, holes) if without_rowid else _by_number(source, table, columns, holes)
    )
    put = f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    before = target.total_changes
    target.executemany(put, rows)
    saved.rows[table] = target.total_changes - before
    if holes:
        saved.torn.append(table)


def _by_number(
    source: sqlite3.Connection, table: str, columns: list[str], holes: list[str]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table, but for those on pages that cannot be read: what fails is halved until it is found."""
    ask = f"SELECT {', '.join(columns)} FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    try:
        first, last = source.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
    except sqlite3.DatabaseError:
        first, last = 1, FARTHEST
    spans = [] if first is None else [(first, last)]
    while spans and len(holes) < MOST_FAILURES:
        low, high = spans.pop()
        if high - low >= CHUNK and last != FARTHEST:
            spans += [(low + CHUNK, high), (low, low + CHUNK - 1)]
            continue
        try:
            yield from source.execute(ask, (low, high)).fetchall()
        except sqlite3.DatabaseError:
            holes.append(table)
            middle = (low + high) // 2
            spans += [(middle + 1, high), (low, middle)] if low < high else []


def _from_both_ends(
    source: sqlite3.Connection, table: str, columns: list[str], holes: list[str]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table without numbers, up to the first page that cannot be read from either end."""
    keys = [row[1] for row in sorted(source.execute(f"PRAGMA table_info({table})"), key=lambda row: row[5]) if row[5]]
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{key} {direction}" for key in keys)
        try:
            yield from source.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
        except sqlite3.DatabaseError:
            holes.append(table)
        else:
            return


# -- a copy in a project's place -----------------------------------------------------------------------------------


def put_back(folder: Path, backup: Path, *, tenant: str, project: str, now: datetime) -> Path | None:
    """Put a backup in a project's place; return where what was there is kept, inside the new folder.

    Raises:
        InvalidInputError: it is no backup.
        ScopeError: it is another project's.
        StorageError: the backup cannot be read, or the disk refuses; what was there stays.
    """
    if not (backup / DATABASE_NAME).is_file():
        raise InvalidInputError(f"{backup} is no backup: it holds no {DATABASE_NAME}")
    # Not beside the project, where it would look like one.
    made = files.aside(folder.parent, "backup")
    with reported(folder):
        files.make_folders(folder.parent)
        try:
            _checked_copy(backup, made, tenant, project)
            before = _aside(folder)
            files.rename(made, folder)
            kept = folder / f"before-{time_text(now).replace(':', '')[:15]}"
            if before is not None:
                files.rename(before, kept)
            files.sync_folder(folder.parent)
        finally:
            files.remove_tree(made)
    return None if before is None else kept


def _checked_copy(backup: Path, made: Path, tenant: str, project: str) -> None:
    source = Project(backup, durability="normal", busy_timeout=10.0)
    # It is looked at and not touched.
    source.database.read_only = True
    with closing(source.database):
        with source.read() as reading:
            owner = meta.read(reading)
            damage = source.damage(reading)
        if (owner.get("tenant"), owner.get("project")) != (tenant, project):
            raise ScopeError(
                f"{backup} is of project {owner.get('project')!r} of tenant {owner.get('tenant')!r}: name them to put "
                "it in their place"
            )
        if damage:
            raise CorruptionError(f"{backup / DATABASE_NAME} is damaged ({damage}): salvage it first", path=backup)
        source.backup(made)


def _aside(folder: Path) -> Path | None:
    """Take what is in a project's place out of it, while nobody writes; None when there is nothing."""
    if not folder.exists():
        return None
    before = files.aside(folder.parent, "before")
    there = Project(folder, durability="normal", busy_timeout=10.0)
    with closing(there.database), suppress(StorageError), there.database.write():
        files.rename(folder, before)
    if folder.exists():
        # It cannot be locked since it is damaged, or gone: so nobody writes to it either.
        files.rename(folder, before)
    return before
