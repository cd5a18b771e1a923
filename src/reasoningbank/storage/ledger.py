"""The signal log together with how far it is counted: appending, folding, healing, rolling up.

Everything that writes runs inside the caller's write transaction, which is the log's lock.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from reasoningbank.signals import Signal, SignalKind, day_number, parse_time
from reasoningbank.storage.fold import (
    UNIT,
    Contribution,
    Folded,
    Verdicts,
    evidence_in,
    fold,
    forget_fold,
    roll_up,
    set_verdicts,
    weight_of,
)
from reasoningbank.storage.log_positions import insert_position, kept_segments, newest_segment, position_of
from reasoningbank.storage.signal_log import Segment, SignalLog, segment_of


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
        torn: names of files with what was cut off unfinished lines.
        short: names of segments that end before what was counted of them, or are gone (a power loss, or a hand).
    """

    segments: int
    rolled: int
    bad: int
    orphans: int
    set_back: int
    unfolded: int
    strays: tuple[str, ...]
    torn: tuple[str, ...]
    short: tuple[str, ...]


RECENT = 2
"""Segments that a power loss may still hurt: what is older has long been on the disk."""

Appended = dict[Segment, tuple[int, int]]
"""Where a transaction's lines begin and end, by segment."""


class Ledger:
    """The signal log of one project and the rows that say how far it is counted.

    Args:
        folder: where the segments are.
        fsync: wait for the disk after each append.

    """

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.log = SignalLog(folder, fsync=fsync)
        self._appended: Appended = {}
        self._caught_up = False

    # -- one transaction -------------------------------------------------------------------------------------------

    def begin(self, appended: Appended) -> None:
        """Begin with a transaction; what it appends is noted in `appended`."""
        self._appended, self._caught_up = appended, False

    def take_back(self, appended: Appended) -> None:
        """Cut off what a transaction appended that does not commit."""
        for segment, (start, end) in appended.items():
            self.log.take_back(segment, start=start, end=end)

    def _append(self, segment: Segment, signals: Sequence[Signal]) -> int:
        """Append lines and return the offset behind them."""
        start, end = self.log.append(segment, signals)
        first, _ = self._appended.get(segment, (start, end))
        self._appended[segment] = (first, end)
        return end

    def write(self, connection: sqlite3.Connection, signals: Sequence[Signal], now: datetime) -> list[Folded]:
        """Append signals and count them.

        What earlier writers appended and could not count any more is counted first.

        Raises:
            StorageError: the disk refused; nothing was appended.
        """
        if not signals:
            return []
        segment = self._newest(connection, now)
        if not self._caught_up:
            self._mend(connection, segment)
            self._fold_pending(connection, segment)
        end = self._append(segment, signals)
        verdicts: Verdicts = {}
        folded = [fold(connection, signal, segment.number, verdicts) for signal in signals]
        set_verdicts(connection, verdicts)
        connection.execute(
            "UPDATE log_positions SET position = ?, orphans = orphans + ? WHERE segment = ?",
            (end, folded.count(Folded.ORPHAN), segment.number),
        )
        return folded

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Count what stands in the log and is not counted yet."""
        if not self._is_counted(connection):
            segments = self._register(connection)
            for segment in kept_segments(connection)[-RECENT:]:
                self._mend(connection, segment)
            for segment in segments:
                self._fold_pending(connection, segment)
        # Until the transaction ends nobody else can append.
        self._caught_up = True

    def _is_counted(self, connection: sqlite3.Connection) -> bool:
        """Tell whether all that stands in the log is counted, and still there, which is the rule."""
        rows = connection.execute(
            "SELECT segment, name, day, position FROM log_positions WHERE rolled = 0 ORDER BY segment"
        ).fetchall()
        counted = {name: position for _, name, _, position in rows}
        return all(size <= counted.get(name, -1) for name, size in self.log.sizes().items()) and all(
            self.log.ends_line_at(Segment(*row[:3]), row[3]) for row in rows[-RECENT:]
        )

    def _newest(self, connection: sqlite3.Connection, now: datetime) -> Segment:
        """Return the segment to append to: the newest one, or a new one when that is not of this day.

        A clock that is a day behind goes on in the newest one, so that two clocks around midnight do not take turns
        in making segments; one that is further behind shows that the newest one's day was wrong.
        """
        today = day_number(now)
        newest = newest_segment(connection)
        if newest is not None and today <= newest.day <= today + 1:
            return newest
        self.catch_up(connection)
        newest = newest_segment(connection)
        if newest is not None and today <= newest.day <= today + 1:
            return newest
        last = connection.execute("SELECT max(segment) FROM log_positions").fetchone()[0] or 0
        segment = segment_of(last + 1, today)
        insert_position(connection, segment)
        return segment

    def _register(self, connection: sqlite3.Connection) -> list[Segment]:
        """Return the segments that count and are not rolled up, taking up those a killed process left unregistered."""
        rows = connection.execute("SELECT segment, name, rolled FROM log_positions").fetchall()
        known = {name: rolled for _, name, rolled in rows}
        numbers = {number for number, _, _ in rows}
        counted = []
        for segment in self.log.segments():
            if segment.name not in known and segment.number not in numbers:
                insert_position(connection, segment)
                numbers.add(segment.number)
                known[segment.name] = 0
            if known.get(segment.name) == 0:
                counted.append(segment)
        return counted

    def _fold_pending(self, connection: sqlite3.Connection, segment: Segment) -> None:
        position = position_of(connection, segment)
        if position >= self.log.size(segment):
            return
        self.log.heal_tail(segment, position)
        bad = orphans = 0
        verdicts: Verdicts = {}
        for line in self.log.lines(segment, position):
            position = line.end
            if line.signal is not None:
                orphans += fold(connection, line.signal, segment.number, verdicts) is Folded.ORPHAN
            elif line.problem:
                bad += 1
        set_verdicts(connection, verdicts)
        connection.execute(
            "UPDATE log_positions SET position = ?, bad = bad + ?, orphans = orphans + ? WHERE segment = ?",
            (position, bad, orphans, segment.number),
        )

    # -- healing ---------------------------------------------------------------------------------------------------

    def _mend(self, connection: sqlite3.Connection, segment: Segment) -> None:
        """Make sure that a segment holds what was counted of it, and that its position is where a line ends.

        A power loss can take lines that were counted, or leave zeros in their place; a hand can move lines. What is
        missing is written again, and all is folded again: so nothing that comes is skipped, and nothing counts twice.
        """
        if self.log.ends_line_at(segment, position_of(connection, segment)):
            return
        self.log.heal_tail(segment, 0)
        self._write_lost_again(connection, segment)
        connection.execute("UPDATE log_positions SET set_back = set_back + 1 WHERE segment = ?", (segment.number,))
        forget_fold(connection)
        for kept in self._register(connection):
            self._fold_pending(connection, kept)

    def _write_lost_again(self, connection: sqlite3.Connection, segment: Segment) -> None:
        """Append what the evidence of a segment says and its lines do not, so that the log is the whole truth again."""
        said = {
            (line.signal.memory, line.signal.revision, line.signal.ref, line.signal.kind.value): line.signal
            for line in self.log.lines(segment, 0)
            if line.signal is not None
        }
        lost = []
        for contribution in evidence_in(connection, segment.number):
            signal = _signal(connection, contribution)
            kept = said.get((signal.memory, signal.revision, signal.ref, signal.kind.value))
            if kept is None or not _same(kept, signal):
                lost.append(signal)
        if lost:
            self._append(segment, lost)

    # -- upkeep ----------------------------------------------------------------------------------------------------

    def roll_up(self, connection: sqlite3.Connection, now: datetime, keep_days: int) -> list[Segment]:
        """Move segments older than `keep_days` into the tallies for good, and return them; their files may then go.

        Segments with bad lines are kept.
        """
        self.catch_up(connection)
        due = _due(self._register(connection), day_number(now) - keep_days)
        clean = [segment for segment in due if self._is_clean(connection, segment)]
        for segment in clean:
            roll_up(connection, segment.number)
        return clean

    def due(self, connection: sqlite3.Connection, now: datetime, keep_days: int) -> list[Segment]:
        """Return the known segments that are old enough to be rolled up. Changes nothing."""
        return _due(kept_segments(connection), day_number(now) - keep_days)

    def _is_clean(self, connection: sqlite3.Connection, segment: Segment) -> bool:
        position, bad = connection.execute(
            "SELECT position, bad FROM log_positions WHERE segment = ?", (segment.number,)
        ).fetchone()
        return bool(bad == 0 and position == self.log.size(segment))

    def delete_rolled(self, connection: sqlite3.Connection) -> None:
        """Delete the files of segments that are rolled up, also those that a killed process had no time for."""
        names = {row[0] for row in connection.execute("SELECT name FROM log_positions WHERE rolled = 1")}
        for segment in self.log.segments():
            if segment.name in names:
                self.log.delete(segment)

    def refold(self, connection: sqlite3.Connection) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        self._register(connection)
        for segment in kept_segments(connection):
            # What a segment lost, or all of one that was removed, is only in the rows that are about to go.
            self._mend(connection, segment)
        forget_fold(connection)
        self.catch_up(connection)

    def health(self, connection: sqlite3.Connection) -> LogHealth:
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
            unfolded=sum(max(0, self.log.size(s) - kept[s.name]) for s in on_disk if s.name in kept)
            + sum(self.log.size(s) for s in unknown if s.number not in taken),
            strays=tuple(s.name for s in unknown if s.number in taken),
            torn=self.log.torn(),
            short=tuple(s.name for s in kept_segments(connection) if self.log.size(s) < kept[s.name]),
        )


def _signal(connection: sqlite3.Connection, contribution: Contribution) -> Signal:
    """Return the signal that made a contribution, as far as it is known still."""
    memory, revision = connection.execute(
        "SELECT id, revision FROM memories WHERE n = ?", (contribution.memory,)
    ).fetchone()
    verdict = None
    if contribution.kind == SignalKind.OUTCOME and not contribution.alone:
        verdict = connection.execute("SELECT reason FROM episodes WHERE ref = ?", (contribution.ref,)).fetchone()
    return Signal(
        id=str(uuid.uuid4()),
        at=parse_time(contribution.at),
        memory=memory,
        revision=revision,
        kind=SignalKind(contribution.kind),
        polarity=contribution.polarity,
        strength=contribution.weight / UNIT or 1.0,
        ref=contribution.ref,
        source=contribution.source,
        by=contribution.judge,
        reason="" if verdict is None else verdict[0],
        alone=bool(contribution.alone),
        validates=tuple(SignalKind(kind) for kind in json.loads(contribution.validates)),
    )


def _same(one: Signal, other: Signal) -> bool:
    """Tell whether two signals of one (memory, ref, kind) contribute the same."""
    return weight_of(one) == weight_of(other) and replace(one, id="", reason="", strength=1.0) == replace(
        other, id="", reason="", strength=1.0
    )


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
