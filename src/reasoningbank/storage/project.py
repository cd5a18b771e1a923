"""One project's files, opened together: the database and the signal log whose lock it is."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from reasoningbank.errors import ScopeError, StorageError
from reasoningbank.signals import Signal, day_number, time_text
from reasoningbank.storage.database import Database, create_database, storage_error
from reasoningbank.storage.fold import Folded, fold, forget_fold, roll_up
from reasoningbank.storage.signal_log import Segment, SignalLog, segment_of

DATABASE_NAME = "bank.sqlite3"
SIGNALS_NAME = "signals"


@dataclass(frozen=True, slots=True)
class LogHealth:
    """What the signal log looks like from outside.

    Attributes:
        segments: segments on the disk that are not rolled up.
        rolled: segments that were rolled up.
        bad: lines that cannot be read.
        orphans: lines about memories that are gone or say something else now.
        set_back: how often a position was behind the file's end (a power loss).
        unfolded: bytes not counted yet; the next write counts them.
        strays: names of segment files that are not counted: rolled up before, or with a number that is taken.
    """

    segments: int
    rolled: int
    bad: int
    orphans: int
    set_back: int
    unfolded: int
    strays: tuple[str, ...]


class Project:
    """The files of one project of one tenant.

    Args:
        folder: the project's folder.
        durability: "full" waits for the disk at every write.
        busy_timeout: seconds to wait for another writer.
    """

    def __init__(self, folder: Path, *, durability: Literal["normal", "full"], busy_timeout: float) -> None:
        self.folder = folder
        read_only = not os.access(folder, os.W_OK) or not os.access(folder / DATABASE_NAME, os.W_OK)
        self.database = Database(
            folder / DATABASE_NAME, durability=durability, busy_timeout=busy_timeout, read_only=read_only
        )
        self.log = SignalLog(folder / SIGNALS_NAME, fsync=durability == "full")
        self._appended: tuple[Segment, int, int] | None = None

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
            create_at: make them when they are not there yet, with this time; None leaves the disk alone.

        Returns:
            None when there is no such project and none was to be made.

        Raises:
            ScopeError: the folder belongs to another tenant or project.
            NewerFormatError, StorageError: as their names say.
        """
        path = folder / DATABASE_NAME
        if not path.exists():
            if create_at is None:
                return None
            _make_folder(folder)
            create_database(path, {"tenant": tenant, "project": project, "created_at": time_text(create_at)})
        opened = cls(folder, durability=durability, busy_timeout=busy_timeout)
        try:
            opened.database.migrate()
            opened._check_scope(tenant, project)
        except BaseException:
            opened.database.close()
            raise
        return opened

    def _check_scope(self, tenant: str, project: str) -> None:
        with self.database.read() as connection:
            owner = read_meta(connection)
        if (owner.get("tenant"), owner.get("project")) != (tenant, project):
            raise ScopeError(
                f"{self.folder} belongs to project {owner.get('project')!r} of tenant {owner.get('tenant')!r}, "
                f"not to project {project!r} of tenant {tenant!r}: open it under its own names"
            )

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction; signals appended in it are taken back if it fails."""
        with self.database.write(undo=self._take_back) as connection:
            self._appended = None
            yield connection

    def _take_back(self) -> None:
        if self._appended is not None:
            segment, start, end = self._appended
            self._appended = None
            self.log.take_back(segment, start=start, end=end)

    # -- signals -------------------------------------------------------------------------------------------------

    def write_signals(self, connection: sqlite3.Connection, signals: Sequence[Signal], now: datetime) -> list[Folded]:
        """Append signals to the log and count them, inside the caller's write transaction.

        What earlier writers appended and could not count any more is counted first.

        Raises:
            StorageError: the disk refused; nothing was appended.
        """
        if not signals:
            return []
        segment = self._newest(connection, now)
        self._fold_pending(connection, segment)
        start, end = self.log.append(segment, signals)
        first = start if self._appended is None else self._appended[1]
        self._appended = (segment, first, end)
        folded = [fold(connection, signal, segment.number) for signal in signals]
        connection.execute(
            "UPDATE log_positions SET position = ?, orphans = orphans + ? WHERE segment = ?",
            (end, folded.count(Folded.ORPHAN), segment.number),
        )
        return folded

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Count what stands in the log and is not counted yet, inside the caller's write transaction."""
        for segment in self._register(connection):
            self._fold_pending(connection, segment)

    def _newest(self, connection: sqlite3.Connection, now: datetime) -> Segment:
        """Return the segment to append to: the newest one, or a new one when that is not of this day.

        A clock that is a day behind goes on in the newest one, so that two clocks around midnight do not take turns
        in making segments; one that is further behind shows that the newest one's day was wrong.
        """
        today = day_number(now)
        newest = _newest_known(connection)
        if newest is not None and today <= newest.day <= today + 1:
            return newest
        self.catch_up(connection)
        newest = _newest_known(connection)
        if newest is not None and today <= newest.day <= today + 1:
            return newest
        last = connection.execute("SELECT max(segment) FROM log_positions").fetchone()[0] or 0
        segment = segment_of(last + 1, today)
        _insert_position(connection, segment)
        return segment

    def _register(self, connection: sqlite3.Connection) -> list[Segment]:
        """Return the segments that count and are not rolled up, taking up those a killed process left unregistered."""
        known = dict(connection.execute("SELECT name, rolled FROM log_positions").fetchall())
        numbers = {row[0] for row in connection.execute("SELECT segment FROM log_positions")}
        counted = []
        for segment in self.log.segments():
            if segment.name not in known and segment.number not in numbers:
                _insert_position(connection, segment)
                numbers.add(segment.number)
                known[segment.name] = 0
            if known.get(segment.name) == 0:
                counted.append(segment)
        return counted

    def _fold_pending(self, connection: sqlite3.Connection, segment: Segment) -> None:
        position = _position(connection, segment.number)
        size = self.log.size(segment)
        if position > size:
            # A power loss took lines that were counted; what comes next must not be skipped.
            position = size
            connection.execute(
                "UPDATE log_positions SET position = ?, set_back = set_back + 1 WHERE segment = ?",
                (size, segment.number),
            )
        if position == size:
            return
        self.log.heal_tail(segment, position)
        bad = orphans = 0
        for line in self.log.lines(segment, position):
            position = line.end
            if line.signal is not None:
                orphans += fold(connection, line.signal, segment.number) is Folded.ORPHAN
            elif line.problem:
                bad += 1
        connection.execute(
            "UPDATE log_positions SET position = ?, bad = bad + ?, orphans = orphans + ? WHERE segment = ?",
            (position, bad, orphans, segment.number),
        )

    # -- upkeep --------------------------------------------------------------------------------------------------

    def roll_up(self, now: datetime, keep_days: int) -> list[str]:
        """Move segments older than `keep_days` into the tallies for good, then delete their files.

        Segments with bad lines are kept. Safe to run twice and by several processes at once.

        Returns:
            The names of the segments rolled up.
        """
        oldest_kept = day_number(now) - keep_days
        with self.write() as connection:
            segments = self._register(connection)
            self.catch_up(connection)
            due = _due(segments, oldest_kept)
            clean = [s for s in due if self._is_clean(connection, s)]
            for segment in clean:
                roll_up(connection, segment.number)
        for segment in clean:
            self.log.delete(segment)
        self._delete_rolled()
        return [segment.name for segment in clean]

    def _is_clean(self, connection: sqlite3.Connection, segment: Segment) -> bool:
        position, bad = connection.execute(
            "SELECT position, bad FROM log_positions WHERE segment = ?", (segment.number,)
        ).fetchone()
        return bool(bad == 0 and position == self.log.size(segment))

    def _delete_rolled(self) -> None:
        # A process killed between the mark and the deletion leaves the file; its mark says that it may go.
        with self.database.read() as connection:
            names = {row[0] for row in connection.execute("SELECT name FROM log_positions WHERE rolled = 1")}
        for segment in self.log.segments():
            if segment.name in names:
                self.log.delete(segment)

    def refold(self) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        with self.write() as connection:
            self._register(connection)
            forget_fold(connection)
            self.catch_up(connection)

    def log_health(self, connection: sqlite3.Connection) -> LogHealth:
        """Look at the log without changing anything."""
        rows = connection.execute(
            "SELECT segment, name, position, bad, orphans, set_back, rolled FROM log_positions"
        ).fetchall()
        kept = {name: position for _, name, position, _, _, _, rolled in rows if not rolled}
        taken = {number for number, *_ in rows}
        on_disk = self.log.segments()
        unknown = [s for s in on_disk if s.name not in kept]
        return LogHealth(
            segments=sum(s.name in kept or s.number not in taken for s in on_disk),
            rolled=sum(row[6] for row in rows),
            bad=sum(row[3] for row in rows),
            orphans=sum(row[4] for row in rows),
            set_back=sum(row[5] for row in rows),
            unfolded=sum(max(0, self.log.size(s) - kept.get(s.name, 0)) for s in on_disk if s.name in kept)
            + sum(self.log.size(s) for s in unknown if s.number not in taken),
            strays=tuple(s.name for s in unknown if s.number in taken),
        )

    def close(self) -> None:
        """Fold the write-ahead log into the file where that is possible, and close it. Closing twice is fine."""
        # It is only tidier: what is in the log is as safe there, and the files may be gone.
        with contextlib.suppress(StorageError):
            self.database.truncate_wal()
        self.database.close()


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the project-wide facts: tenant, project, created_at and what upkeep remembers."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error


def _newest_known(connection: sqlite3.Connection) -> Segment | None:
    row = connection.execute(
        "SELECT segment, name, day, rolled FROM log_positions ORDER BY segment DESC LIMIT 1"
    ).fetchone()
    return None if row is None or row[3] else Segment(*row[:3])


def _insert_position(connection: sqlite3.Connection, segment: Segment) -> None:
    connection.execute(
        "INSERT INTO log_positions(segment, name, day) VALUES (?, ?, ?)", (segment.number, segment.name, segment.day)
    )


def _position(connection: sqlite3.Connection, number: int) -> int:
    position: int = connection.execute("SELECT position FROM log_positions WHERE segment = ?", (number,)).fetchone()[0]
    return position


def _due(segments: Sequence[Segment], oldest_kept: int) -> list[Segment]:
    """Return the segments that are old enough to be rolled up; the newest one never is.

    A segment is as old as the oldest of itself and those after it: a day in the future was a wrong clock's.
    """
    due: list[Segment] = []
    day = None
    for segment in reversed(segments):
        if day is not None and min(day, segment.day) < oldest_kept:
            due.append(segment)
        day = segment.day if day is None else min(day, segment.day)
    return due[::-1]
