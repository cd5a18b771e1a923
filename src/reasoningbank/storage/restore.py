"""What an export says of a memory beside its text, put back into the rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from reasoningbank.memory import State
from reasoningbank.signals import SignalKind, Tally, time_text
from reasoningbank.storage.fold import UNIT

# Segments are numbered from 1: what was taught elsewhere stands in none of them, and folding again leaves it alone.
ELSEWHERE = 0


def restore_state(connection: sqlite3.Connection, n: int, state: State) -> None:
    """Put a memory that was just stored into the state it had."""
    connection.execute("UPDATE memories SET state = ? WHERE n = ?", (state.value, n))


def restore_archived(connection: sqlite3.Connection, n: int, before: State, why: str, now: datetime) -> None:
    """Take a memory that was just stored out of service again; it goes back to the state it had before."""
    restore_state(connection, n, State.ARCHIVED)
    connection.execute("INSERT OR REPLACE INTO archived VALUES (?, ?, ?, ?)", (n, before.value, why, time_text(now)))


def archived(connection: sqlite3.Connection, n: int) -> tuple[State, str] | None:
    """Return the state that an archived memory goes back to, and why it was archived; None when it was not."""
    row = connection.execute("SELECT state, why FROM archived WHERE memory = ?", (n,)).fetchone()
    return None if row is None else (State(row[0]), row[1])


def forgotten(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the sources that are forgotten."""
    return [source for (source,) in connection.execute("SELECT source FROM forgotten ORDER BY source")]


def restore_forgotten(connection: sqlite3.Connection, sources: Iterable[str], now: datetime) -> None:
    """Forget the sources that are forgotten in the bank that this one is a copy of."""
    connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(s, time_text(now)) for s in sources])


def restore_times(connection: sqlite3.Connection, n: int, created: datetime | None, updated: datetime | None) -> None:
    """Give a memory that was just stored the times it had; without them, those of now stay."""
    if created is not None:
        times = (time_text(created), time_text(updated or created), n)
        connection.execute("UPDATE memories SET created_at = ?, updated_at = ? WHERE n = ?", times)


def restore_tallies(connection: sqlite3.Connection, n: int, tallies: Iterable[Tally]) -> None:
    """Give a memory that was just stored its evidence, as if the segments of it had been rolled up here."""
    connection.executemany(
        "INSERT INTO tallies(memory, kind, day, source, judge, superseded, rolled, positive, negative, last) "
        "VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "positive = positive + excluded.positive, negative = negative + excluded.negative, "
        "last = max(last, excluded.last)",
        [
            (
                n,
                t.kind.value,
                t.day,
                t.source,
                t.by,
                int(t.superseded),
                round(t.positive * UNIT),
                round(t.negative * UNIT),
                time_text(t.last),
            )
            for t in tallies
        ],
    )


def taught(connection: sqlite3.Connection) -> dict[str, list[int]]:
    """Return how often votes confirmed and refuted each kind of evidence, by kind."""
    rows = connection.execute("SELECT kind, sum(confirmed), sum(refuted) FROM validations GROUP BY kind ORDER BY kind")
    return {kind: [confirmed, refuted] for kind, confirmed, refuted in rows}


def restore_taught(connection: sqlite3.Connection, counts: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Take over what votes taught in the bank that this one is a copy of."""
    connection.executemany(
        "INSERT OR REPLACE INTO validations(segment, kind, confirmed, refuted) VALUES (?, ?, ?, ?)",
        [(ELSEWHERE, kind.value, confirmed, refuted) for kind, confirmed, refuted in counts],
    )
