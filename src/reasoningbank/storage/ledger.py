"""The signal log together with how far it is counted: appending, folding, healing, rolling up.

Everything that writes runs inside the caller's write transaction, which is the log's lock.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reasoningbank.signals import Signal, SignalKind, day_number, parse_time
from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.evidence import Position
from reasoningbank.storage.fold import OUTCOME, UNIT, Contribution, Folded, batches, folded, say_the_same
from reasoningbank.storage.signal_log import Line, Segment, SignalLog, segment_of

if TYPE_CHECKING:
    from reasoningbank.storage.transaction import SqliteWriting


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


RECENT = 2  # segments that a power loss may still hurt: what is older has long been on the disk
FOLDED_AT_ONCE = 200  # lines whose facts are asked for together when a log is folded again

Appended = dict[Segment, tuple[int, int]]
"""Where a transaction's lines begin and end, by segment."""


class Ledger:
    """The signal log of one project and the rows that say how far it is counted; `fsync` waits at each append."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.log = SignalLog(folder, fsync=fsync)

    # -- one transaction -------------------------------------------------------------------------------------------

    def take_back(self, appended: Appended) -> None:
        """Cut off what a transaction appended that does not commit."""
        for segment, (start, end) in appended.items():
            self.log.take_back(segment, start=start, end=end)

    def _append(self, writing: SqliteWriting, segment: Segment, signals: Sequence[Signal]) -> int:
        start, end = self.log.append(segment, signals)
        first, _ = writing.appended.get(segment, (start, end))
        writing.appended[segment] = (first, end)
        return end

    def write(
        self, writing: SqliteWriting, signals: Sequence[Signal], now: datetime, *, only_news: bool
    ) -> list[Folded]:
        """Append signals and count them; see `Writing.write_signals`.

        What earlier writers appended and could not count any more is counted first.
        """
        if not signals:
            return []
        self.catch_up(writing)
        facts = evidence.facts_of(writing, signals)
        news = [signal for signal in signals if not only_news or facts.is_news(signal)]
        if not news:
            return [Folded.REPEATED] * len(signals)
        segment = self._newest(writing, now)
        end = self._append(writing, segment, news)
        changes = folded(facts, [(signal, segment.number) for signal in news])
        evidence.put(writing, changes)
        evidence.move(writing, segment, end, orphans=changes.results.count(Folded.ORPHAN))
        results = iter(changes.results)
        # Signals are equal by all they say, their ids included.
        kept = {signal.id for signal in news}
        return [next(results) if signal.id in kept else Folded.REPEATED for signal in signals]

    def catch_up(self, writing: SqliteWriting) -> None:
        """Count what stands in the log and is not counted yet."""
        # Until the transaction ends nobody else can append.
        if writing.positions is None:
            writing.positions = evidence.positions(writing)
            if not self._is_counted(writing.positions):
                segments = self._register(writing)
                for segment in evidence.kept_segments(writing)[-RECENT:]:
                    self._mend(writing, segment)
                for segment in segments:
                    self._fold_pending(writing, segment)
                writing.positions = evidence.positions(writing)

    def _is_counted(self, positions: Sequence[Position]) -> bool:
        """Tell whether all that stands in the log is counted, and still there, which is the rule."""
        kept = [position for position in positions if not position.rolled]
        counted = {position.segment.name: position.end for position in kept}
        return all(size <= counted.get(name, -1) for name, size in self.log.sizes().items()) and all(
            self.log.ends_line_at(position.segment, position.end) for position in kept[-RECENT:]
        )

    def _newest(self, writing: SqliteWriting, now: datetime) -> Segment:
        """Return the segment to append to: the newest one, or a new one when that is not of this day.

        A clock that is a day behind goes on in the newest one, so that two clocks around midnight do not take turns
        in making segments; one that is further behind shows that the newest one's day was wrong.
        """
        positions, today = writing.positions or (), day_number(now)
        newest = positions[-1] if positions else None
        if newest is not None and not newest.rolled and today <= newest.segment.day <= today + 1:
            return newest.segment
        segment = segment_of(1 if newest is None else newest.segment.number + 1, today)
        evidence.begin(writing, segment)
        writing.positions = [*positions, Position(segment)]
        return segment

    def _register(self, writing: SqliteWriting) -> list[Segment]:
        """Return the segments that count and are not rolled up, taking up those a killed process left unregistered."""
        positions = evidence.positions(writing)
        known = {position.segment.name: position.rolled for position in positions}
        numbers = {position.segment.number for position in positions}
        counted = []
        for segment in self.log.segments():
            if segment.name not in known and segment.number not in numbers:
                evidence.begin(writing, segment)
                numbers.add(segment.number)
                known[segment.name] = False
            if known.get(segment.name) is False:
                counted.append(segment)
        return counted

    def _fold_pending(self, writing: SqliteWriting, segment: Segment) -> None:
        position = evidence.position_of(writing, segment)
        if position >= self.log.size(segment):
            return
        self.log.heal_tail(segment, position)
        lines = list(self.log.lines(segment, position))
        fold_lines(writing, segment, lines, lines[-1].end if lines else position)

    # -- healing ---------------------------------------------------------------------------------------------------

    def _mend(self, writing: SqliteWriting, segment: Segment) -> None:
        """Make sure that a segment holds what was counted of it, and that its position is where a line ends.

        A power loss can take lines that were counted, or leave zeros in their place; a hand can move lines. What is
        missing is written again, and all is folded again: so nothing that comes is skipped, and nothing counts twice.
        """
        if self.log.ends_line_at(segment, evidence.position_of(writing, segment)):
            return
        self.log.heal_tail(segment, 0)
        self._write_lost_again(writing, segment)
        evidence.count_set_back(writing, segment)
        evidence.forget(writing)
        for kept in self._register(writing):
            self._fold_pending(writing, kept)

    def _write_lost_again(self, writing: SqliteWriting, segment: Segment) -> None:
        """Append what the evidence of a segment says and its lines do not, so that the log is the whole truth again."""
        said = {
            (line.signal.memory, line.signal.revision, line.signal.ref, line.signal.kind.value): line.signal
            for line in self.log.lines(segment, 0)
            if line.signal is not None
        }
        lost = []
        for contribution in evidence.evidence_in(writing, segment.number):
            signal = _signal(writing, contribution)
            kept = said.get((signal.memory, signal.revision, signal.ref, signal.kind.value))
            if kept is None or not say_the_same(kept, signal):
                lost.append(signal)
        if lost:
            self._append(writing, segment, lost)

    # -- upkeep ----------------------------------------------------------------------------------------------------

    def roll_up(self, writing: SqliteWriting, now: datetime, keep_days: int) -> list[Segment]:
        """Move segments older than `keep_days` into the tallies for good, and return them; their files may then go.

        Segments with bad lines are kept.
        """
        self.catch_up(writing)
        due = _due(self._register(writing), day_number(now) - keep_days)
        whole = {p.segment.name for p in evidence.positions(writing) if not p.bad and p.end == self.log.size(p.segment)}
        clean = [segment for segment in due if segment.name in whole]
        for segment in clean:
            evidence.roll_up(writing, segment.number)
        return clean

    def due(self, reading: Reading, now: datetime, keep_days: int) -> list[Segment]:
        """Return the known segments that are old enough to be rolled up. Changes nothing."""
        return _due(evidence.kept_segments(reading), day_number(now) - keep_days)

    def delete_rolled(self, reading: Reading) -> None:
        """Delete the files of segments that are rolled up, also those that a killed process had no time for."""
        names = {position.segment.name for position in evidence.positions(reading) if position.rolled}
        for segment in self.log.segments():
            if segment.name in names:
                self.log.delete(segment)

    def refold(self, writing: SqliteWriting) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        self._register(writing)
        for segment in evidence.kept_segments(writing):
            # What a segment lost, or all of one that was removed, is only in the rows that are about to go.
            self._mend(writing, segment)
        evidence.forget(writing)
        writing.positions = None
        self.catch_up(writing)

    def health(self, reading: Reading) -> LogHealth:
        """Look at the log without changing anything."""
        positions = evidence.positions(reading)
        kept = {position.segment.name: position.end for position in positions if not position.rolled}
        taken = {position.segment.number for position in positions}
        on_disk = self.log.segments()
        unknown = [segment for segment in on_disk if segment.name not in kept]
        return LogHealth(
            segments=sum(s.name in kept or s.number not in taken for s in on_disk),
            rolled=sum(position.rolled for position in positions),
            bad=sum(position.bad for position in positions),
            orphans=sum(position.orphans for position in positions),
            set_back=sum(position.set_back for position in positions),
            unfolded=sum(max(0, self.log.size(s) - kept[s.name]) for s in on_disk if s.name in kept)
            + sum(self.log.size(s) for s in unknown if s.number not in taken),
            strays=tuple(s.name for s in unknown if s.number in taken),
            torn=self.log.torn(),
            short=tuple(s.name for s in evidence.kept_segments(reading) if self.log.size(s) < kept[s.name]),
        )


def fold_lines(writing: SqliteWriting, segment: Segment, lines: Sequence[Line], end: int) -> None:
    """Count lines of a segment, and note that it is counted up to `end`."""
    orphans = 0
    for batch in batches([line.signal for line in lines if line.signal is not None], FOLDED_AT_ONCE):
        changes = folded(evidence.facts_of(writing, batch), [(signal, segment.number) for signal in batch])
        evidence.put(writing, changes)
        orphans += changes.results.count(Folded.ORPHAN)
    evidence.move(writing, segment, end, bad=sum(bool(line.problem) for line in lines), orphans=orphans)


def _signal(reading: Reading, contribution: Contribution) -> Signal:
    """Return the signal that made a contribution, as far as it is known still."""
    memory, revision = reading.execute(
        "SELECT id, revision FROM memories WHERE n = ?", (contribution.memory,)
    ).fetchone()
    verdict = None
    if contribution.kind == OUTCOME and not contribution.alone:
        verdict = reading.execute("SELECT reason FROM episodes WHERE ref = ?", (contribution.ref,)).fetchone()
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
