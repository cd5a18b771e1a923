"""Rows of how far each segment of the signal log is counted."""

from __future__ import annotations

from typing import NamedTuple

from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.signal_log import Segment


class Position(NamedTuple):
    """How far a segment is counted, and what was found in it.

    Attributes:
        end: the offset behind the last line that is counted.
        bad: lines that cannot be read.
        orphans: lines about memories that are gone or say something else now.
        set_back: how often the position was behind the file's end.
        rolled: it counts for good, and its file may be gone.
    """

    segment: Segment
    end: int = 0
    bad: int = 0
    orphans: int = 0
    set_back: int = 0
    rolled: bool = False


def every(reading: Reading) -> list[Position]:
    """Return the positions of all segments, in the order of evidence."""
    rows = reading.execute(
        "SELECT segment, name, day, position, bad, orphans, set_back, rolled FROM log_positions ORDER BY segment"
    )
    return [
        Position(Segment(n, name, day), end, bad, orphans, set_back, bool(rolled))
        for n, name, day, end, bad, orphans, set_back, rolled in rows
    ]


def kept(reading: Reading) -> list[Segment]:
    """Return the segments that are not rolled up, in the order of evidence."""
    return [position.segment for position in every(reading) if not position.rolled]


def end_of(reading: Reading, segment: Segment) -> int:
    """Return how far a segment is counted."""
    row = reading.execute("SELECT position FROM log_positions WHERE segment = ?", (segment.number,)).fetchone()
    return int(row[0])


def insert(writing: Writing, segment: Segment) -> None:
    """Begin to count a segment."""
    writing.insert("log_positions", ("segment", "name", "day"), [(segment.number, segment.name, segment.day)])


def move(writing: Writing, segment: Segment, end: int, *, bad: int = 0, orphans: int = 0) -> None:
    """Note that a segment is counted up to an offset, and what was found on the way."""
    writing.execute(
        "UPDATE log_positions SET position = ?, bad = bad + ?, orphans = orphans + ? WHERE segment = ?",
        (end, bad, orphans, segment.number),
    )


def count_set_back(writing: Writing, segment: Segment) -> None:
    """Note that counted lines were missing from a segment's file."""
    writing.execute("UPDATE log_positions SET set_back = set_back + 1 WHERE segment = ?", (segment.number,))
