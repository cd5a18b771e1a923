"""The signal log as a table: the lines of a folder's files, in segments of a day, with a number for an offset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from reasoningbank.signals import Signal, to_line
from reasoningbank.storage import evidence
from reasoningbank.storage.contract import number
from reasoningbank.storage.signal_log import Line, Segment, read_line

if TYPE_CHECKING:
    from reasoningbank.storage.postgres.transaction import PostgresReading


class SignalTable:
    """The log that one transaction sees; `Log` says what its calls do. A table has no torn, damaged or lost lines."""

    def __init__(self, reading: PostgresReading) -> None:
        self._reading = reading

    def segments(self) -> list[Segment]:
        return [position.segment for position in evidence.kept(self._reading)]

    def sizes(self) -> dict[str, int]:
        return {position.segment.name: position.end for position in evidence.kept(self._reading)}

    def kept_aside(self) -> tuple[str, ...]:
        return ()

    def size(self, segment: Segment) -> int:
        newest = "SELECT coalesce(max(number), 0) FROM signals WHERE segment = ?"
        return number(self._reading, newest, (segment.number,))

    def ends_line_at(self, segment: Segment, position: int) -> bool:
        return position <= self.size(segment)

    def checksum(self, segment: Segment, start: int, end: int, begun: int = 0) -> int:  # noqa: ARG002 - as for files
        # The server keeps checksums of its own.
        return begun

    def keep_aside(self, segment: Segment) -> None:
        """Keep nothing: no line is damaged."""

    def drop_unreadable(self, segment: Segment) -> None:
        """Drop nothing: every line can be read."""

    def heal_tail(self, segment: Segment, start: int) -> None:
        """Heal nothing: no line is torn."""

    def append(self, segment: Segment, signals: Sequence[Signal]) -> tuple[int, int]:
        before = self.size(segment)
        return before, self.put(segment, signals, before)

    def put(self, segment: Segment, signals: Sequence[Signal], before: int) -> int:
        """Append behind the newest number of a segment, and return the newest one then."""
        rows = [(segment.number, n, to_line(signal).rstrip(b"\n")) for n, signal in enumerate(signals, before + 1)]
        for start in range(0, len(rows), 1_000):
            some = rows[start : start + 1_000]
            marks = ", ".join(["(?, ?, ?)"] * len(some))
            inserted = f"INSERT INTO signals(segment, number, line) VALUES {marks}"
            self._reading.execute(inserted, [value for row in some for value in row])
        return before + len(rows)

    def lines(self, segment: Segment, start: int) -> Iterator[Line]:
        asked = "SELECT number, line FROM signals WHERE segment = ? AND number > ? ORDER BY number"
        for n, line in self._reading.execute(asked, (segment.number, start)):
            yield read_line(bytes(line), n)

    def reword(self, segment: Segment, said: Callable[[Signal], Signal]) -> int:
        changed = [
            (to_line(said(line.signal)).rstrip(b"\n"), segment.number, line.end)
            for line in list(self.lines(segment, 0))
            if line.signal is not None and said(line.signal) != line.signal
        ]
        for values in changed:
            self._reading.execute("UPDATE signals SET line = ? WHERE segment = ? AND number = ?", values)
        return len(changed)

    def take_back(self, segment: Segment, *, start: int, end: int) -> None:
        """Take nothing back: the transaction does."""

    def delete(self, segment: Segment) -> None:
        self._reading.execute("DELETE FROM signals WHERE segment = ?", (segment.number,))
