"""Rows of how far each segment of the signal log is counted."""

from __future__ import annotations

import sqlite3

from reasoningbank.storage.signal_log import Segment


def position_of(connection: sqlite3.Connection, segment: Segment) -> int:
    """Return how far a segment is counted."""
    position: int = connection.execute(
        "SELECT position FROM log_positions WHERE segment = ?", (segment.number,)
    ).fetchone()[0]
    return position


def kept_segments(connection: sqlite3.Connection) -> list[Segment]:
    """Return the segments that are not rolled up, in the order of evidence."""
    rows = connection.execute("SELECT segment, name, day FROM log_positions WHERE rolled = 0 ORDER BY segment")
    return [Segment(*row) for row in rows]


def newest_segment(connection: sqlite3.Connection) -> Segment | None:
    """Return the newest segment; None when there is none, or it is rolled up."""
    row = connection.execute(
        "SELECT segment, name, day, rolled FROM log_positions ORDER BY segment DESC LIMIT 1"
    ).fetchone()
    return None if row is None or row[3] else Segment(*row[:3])


def insert_position(connection: sqlite3.Connection, segment: Segment) -> None:
    """Begin to count a segment."""
    connection.execute(
        "INSERT INTO log_positions(segment, name, day) VALUES (?, ?, ?)", (segment.number, segment.name, segment.day)
    )
