"""The signal log together with how far it is counted: appending, folding, healing, rolling up.

Everything that writes runs inside the caller's write transaction, which is the log's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from reasoningbank.signals import Signal, day_number
from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.evidence import Position
from reasoningbank.storage.fold import Facts, Folded, batches, folded, say_the_same
from reasoningbank.storage.signal_log import Line, Segment, segment_of

Appended: TypeAlias = dict[Segment, tuple[int, int]]
"""Where a transaction's lines begin and end, by segment."""


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
        kept_aside: names of files with what was cut off unfinished lines, and of copies of damaged segments.
        altered: names of segments in which what was counted is not what stands there now (damage, or a hand).
        short: names of segments that end before what was counted of them, or are gone (a power loss, or a hand).
    """

    segments: int
    rolled: int
    bad: int
    orphans: int
    set_back: int
    unfolded: int
    strays: tuple[str, ...]
    kept_aside: tuple[str, ...]
    altered: tuple[str, ...]
    short: tuple[str, ...]


RECENT = 2  # segments that a power loss may still hurt: what is older has long been on the disk
FOLDED_AT_ONCE = 200  # lines whose facts are asked for together when a log is folded again


class Log(Protocol):
    """Where the lines of a project's signals are kept; `SignalLog` says what the calls do."""

    def segments(self) -> list[Segment]: ...
    def sizes(self) -> dict[str, int]: ...
    def kept_aside(self) -> tuple[str, ...]: ...
    def size(self, segment: Segment) -> int: ...
    def ends_line_at(self, segment: Segment, position: int) -> bool: ...
    def checksum(self, segment: Segment, start: int, end: int, begun: int = 0) -> int: ...
    def keep_aside(self, segment: Segment) -> None: ...
    def drop_unreadable(self, segment: Segment) -> None: ...
    def reword(self, segment: Segment, said: Callable[[Signal], Signal]) -> int: ...
    def heal_tail(self, segment: Segment, start: int) -> None: ...
    def append(self, segment: Segment, signals: Sequence[Signal]) -> tuple[int, int]: ...
    def lines(self, segment: Segment, start: int) -> Iterator[Line]: ...
    def take_back(self, segment: Segment, *, start: int, end: int) -> None: ...
    def delete(self, segment: Segment) -> None: ...


class Logged(Writing, Protocol):
    """A writing with what it noted of the log: what it appended, and how far all is counted (None: not looked at)."""

    appended: Appended
    positions: list[Position] | None


class Ledger:
    """The signal log of one project and the rows that say how far it is counted."""

    def __init__(self, log: Log) -> None:
        self.log = log

    # -- one transaction -------------------------------------------------------------------------------------------

    def take_back(self, appended: Appended) -> None:
        """Cut off what a transaction appended that does not commit."""
        for segment, (start, end) in appended.items():
            self.log.take_back(segment, start=start, end=end)

    def append(self, writing: Logged, segment: Segment, signals: Sequence[Signal]) -> int:
        """Append signals to a segment, and return where it ends then."""
        start, end = self.log.append(segment, signals)
        first, _ = writing.appended.get(segment, (start, end))
        writing.appended[segment] = (first, end)
        return end

    def write(
        self, writing: Logged, signals: Sequence[Signal], now: datetime, *, only_news: bool, facts: Facts | None = None
    ) -> list[Folded]:
        """Append signals and count them; see `Writing.write_signals`.

        What earlier writers appended and could not count any more is counted first.
        """
        if not signals:
            return []
        self.catch_up(writing)
        facts = facts or evidence.facts_of(writing, signals)
        news = [signal for signal in signals if not only_news or facts.is_news(signal)]
        if not news:
            return [Folded.REPEATED] * len(signals)
        newest = self._newest(writing, now)
        end = self.append(writing, newest.segment, news)
        changes = folded(facts, [(signal, newest.segment.number) for signal in news])
        evidence.put(writing, changes)
        moved = self.moved(newest, end)
        evidence.move(writing, moved, orphans=changes.results.count(Folded.ORPHAN))
        writing.positions = [*(writing.positions or ())[:-1], moved]
        results = iter(changes.results)
        # Signals are equal by all they say, their ids included.
        kept = {signal.id for signal in news}
        return [next(results) if signal.id in kept else Folded.REPEATED for signal in signals]

    def catch_up(self, writing: Logged) -> None:
        """Count what stands in the log and is not counted yet."""
        # Until the transaction ends nobody else can append.
        if writing.positions is not None:
            return
        writing.positions = evidence.positions(writing)
        kept = [position for position in writing.positions if not position.rolled]
        counted = {position.segment.name: position.end for position in kept}
        # That all which stands in the log is counted, and still there, is the rule.
        if any(size > counted.get(name, -1) for name, size in self.log.sizes().items()) or not all(
            self.log.ends_line_at(position.segment, position.end) for position in kept[-RECENT:]
        ):
            self._register(writing)
            self._mend(writing)
            self.fold_pending(writing)
            writing.positions = evidence.positions(writing)

    def _newest(self, writing: Logged, now: datetime) -> Position:
        """Return where to append: in the newest segment, or in a new one when that is not of this day.

        A clock that is a day behind goes on in the newest one, so that two clocks around midnight do not take turns
        in making segments; one that is further behind shows that the newest one's day was wrong.
        """
        positions, today = writing.positions or (), day_number(now)
        newest = positions[-1] if positions else None
        if newest is not None and not newest.rolled and today <= newest.segment.day <= today + 1:
            return newest
        begun = Position(segment_of(1 if newest is None else newest.segment.number + 1, today))
        evidence.begin(writing, begun.segment)
        writing.positions = [*positions, begun]
        return begun

    def moved(self, position: Position, end: int) -> Position:
        """Return the position behind what stands in the log up to `end`."""
        known = position.checksum is not None
        start, begun = (position.end, position.checksum or 0) if known else (0, 0)
        return position._replace(end=end, checksum=self.log.checksum(position.segment, start, end, begun))

    def _register(self, writing: Logged) -> None:
        """Take up the segments that a killed process left unregistered."""
        numbers = {position.segment.number for position in evidence.positions(writing)}
        for segment in self.log.segments():
            if segment.number not in numbers:
                evidence.begin(writing, segment)
                numbers.add(segment.number)

    def fold_pending(self, writing: Logged) -> None:
        """Count what stands in the segments behind their positions."""
        for position in evidence.kept(writing):
            if position.end < self.log.size(position.segment):
                self.log.heal_tail(position.segment, position.end)
                lines = list(self.log.lines(position.segment, position.end))
                fold_lines(writing, self.moved(position, lines[-1].end if lines else position.end), lines)

    # -- healing ---------------------------------------------------------------------------------------------------

    def _mend(self, writing: Logged) -> None:
        """Make sure that each segment holds what was counted of it, and that its position is where a line ends.

        A power loss can take lines that were counted, or leave zeros in their place; a hand can move lines, or put an
        older log back. What is missing is written again, and all is folded again: so nothing that comes is skipped,
        and nothing counts twice.
        """
        kept = evidence.kept(writing)
        hurt = [p.segment for p in kept if not self.log.ends_line_at(p.segment, p.end)]
        for segment in hurt:
            evidence.count_set_back(writing, segment)
        if hurt:
            self._complete(writing)
            evidence.forget(writing)

    def _complete(self, writing: Logged) -> None:
        """Make the kept log say all that was counted of it: the rows are the better witness of what it said.

        A segment that was altered is kept aside as it is. What cannot be read in it, where nothing was unreadable
        before, is what the damage left of lines that are written again.
        """
        for position in evidence.kept(writing):
            segment = position.segment
            altered = self.is_altered(position)
            if altered:
                self.log.keep_aside(segment)
            self.log.heal_tail(segment, 0)
            if altered and not position.bad:
                self.log.drop_unreadable(segment)
            self._write_lost_again(writing, segment)

    def is_altered(self, position: Position) -> bool:
        """Tell whether what was counted of a segment is another than what stands there; unknown is no."""
        return (
            position.checksum is not None
            and self.log.size(position.segment) >= position.end
            and self.log.checksum(position.segment, 0, position.end) != position.checksum
        )

    def _write_lost_again(self, writing: Logged, segment: Segment) -> None:
        """Append what the evidence of a segment says and its lines do not, so that the log is the whole truth again."""
        # Loaded with the first mending, and not with the package.
        from reasoningbank.storage.pieces import signal_of

        said = {
            (line.signal.memory, line.signal.revision, line.signal.ref, line.signal.kind.value): line.signal
            for line in self.log.lines(segment, 0)
            if line.signal is not None
        }
        lost = []
        for contribution in evidence.evidence_in(writing, segment.number):
            if (signal := signal_of(writing, contribution)) is None:
                continue
            kept = said.get((signal.memory, signal.revision, signal.ref, signal.kind.value))
            if kept is None or not say_the_same(kept, signal):
                lost.append(signal)
        if lost:
            self.append(writing, segment, lost)

    # -- upkeep ----------------------------------------------------------------------------------------------------

    def roll_up(self, writing: Logged, now: datetime, keep_days: int) -> list[Segment]:
        """Move segments older than `keep_days` into the tallies for good, and return them; their files may then go.

        Segments with bad lines are kept.
        """
        self.catch_up(writing)
        due = self.due(writing, now, keep_days)
        whole = {p.segment.name for p in evidence.positions(writing) if not p.bad and p.end == self.log.size(p.segment)}
        clean = [segment for segment in due if segment.name in whole]
        for segment in clean:
            evidence.roll_up(writing, segment.number)
        return clean

    def due(self, reading: Reading, now: datetime, keep_days: int) -> list[Segment]:
        """Return the known segments that are old enough to be rolled up. Changes nothing."""
        segments = [position.segment for position in evidence.kept(reading)]
        return _due(segments, day_number(now), keep_days)

    def delete_rolled(self, reading: Reading) -> None:
        """Delete the files of segments that are rolled up, also those that a killed process had no time for."""
        names = {position.segment.name for position in evidence.positions(reading) if position.rolled}
        for segment in self.log.segments():
            if segment.name in names:
                self.log.delete(segment)

    def refold(self, writing: Logged) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        self._register(writing)
        # What a segment lost, or all of one that was removed, is only in the rows that are about to go.
        self._complete(writing)
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
            kept_aside=self.log.kept_aside(),
            altered=tuple(p.segment.name for p in positions if not p.rolled and self.is_altered(p)),
            short=tuple(p.segment.name for p in positions if not p.rolled and self.log.size(p.segment) < p.end),
        )


def fold_lines(writing: Logged, position: Position, lines: Sequence[Line]) -> None:
    """Count lines of a segment, and note how far it is counted with them."""
    orphans = 0
    for batch in batches([line.signal for line in lines if line.signal is not None], FOLDED_AT_ONCE):
        changes = folded(evidence.facts_of(writing, batch), [(signal, position.segment.number) for signal in batch])
        evidence.put(writing, changes)
        orphans += changes.results.count(Folded.ORPHAN)
    evidence.move(writing, position, bad=sum(bool(line.problem) for line in lines), orphans=orphans)


def _due(segments: Sequence[Segment], today: int, keep_days: int) -> list[Segment]:
    """Return the segments that are old enough to be rolled up; the newest one never is.

    Their order is the truth, for a clock can be wrong: a segment is no older than one before it, of those that are not
    in the future, and then as old as the oldest of itself and those after it.
    """
    due: list[Segment] = []
    least = 0
    days = [segment.day for segment in segments]
    for at, segment in enumerate(segments[:-1]):
        least = max(least, segment.day if segment.day <= today else 0)
        if min((day for day in days[at:] if day >= least), default=today) < today - keep_days:
            due.append(segment)
    return due
