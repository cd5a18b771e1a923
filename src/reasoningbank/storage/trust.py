"""Rows of what is out of service: archived memories and forgotten sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from reasoningbank.memory import State
from reasoningbank.signals import time_text
from reasoningbank.storage import merges
from reasoningbank.storage.records import set_state


def archive(connection: sqlite3.Connection, numbers: Sequence[int], why: str, now: datetime) -> list[int]:
    """Take memories out of service, remembering the state they were in; those archived already are left alone."""
    done = []
    for n in numbers:
        row = connection.execute("SELECT state FROM memories WHERE n = ?", (n,)).fetchone()
        if row is None or row[0] == State.ARCHIVED.value:
            continue
        connection.execute("INSERT OR REPLACE INTO archived VALUES (?, ?, ?, ?)", (n, row[0], why, time_text(now)))
        set_state(connection, n, State.ARCHIVED, now)
        done.append(n)
    return done


def restore(connection: sqlite3.Connection, numbers: Sequence[int], now: datetime) -> list[int]:
    """Put archived memories back into the state they were in."""
    done = []
    for n in numbers:
        row = connection.execute("SELECT state FROM archived WHERE memory = ?", (n,)).fetchone()
        if row is not None:
            connection.execute("DELETE FROM archived WHERE memory = ?", (n,))
            merges.take_out(connection, [n])
            set_state(connection, n, State(row[0]), now)
            done.append(n)
    return done


def archived_because(connection: sqlite3.Connection, why: str) -> list[int]:
    """Return the memories that are archived for a reason."""
    return [n for (n,) in connection.execute("SELECT memory FROM archived WHERE why = ? ORDER BY memory", (why,))]


def of_source(connection: sqlite3.Connection, source: str) -> list[int]:
    """Return the memories that a source brought: by its name, or by its session."""
    rows = connection.execute(
        "SELECT n FROM memories WHERE source_by = ? OR source_session = ? ORDER BY n", (source, source)
    )
    return [n for (n,) in rows]


def set_forgotten(connection: sqlite3.Connection, source: str, *, forgotten: bool, now: datetime) -> int:
    """Make a source's signals count for nothing, or count again; return how many memories they are about."""
    if forgotten:
        connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (source, time_text(now)))
    else:
        connection.execute("DELETE FROM forgotten WHERE source = ?", (source,))
    touched = connection.execute(
        "SELECT DISTINCT memory FROM tallies WHERE source = ? OR judge = ?", (source, source)
    ).fetchall()
    connection.executemany("INSERT INTO changes(op, memory) VALUES ('evidence', ?)", touched)
    for (n,) in touched:
        merges.tell_results(connection, [n])
    return len(touched)


def is_forgotten(connection: sqlite3.Connection, *sources: str | None) -> bool:
    """Tell whether any of these sources is forgotten."""
    named = [source for source in sources if source]
    if not named:
        return False
    marks = ", ".join("?" * len(named))
    return connection.execute(f"SELECT 1 FROM forgotten WHERE source IN ({marks})", named).fetchone() is not None
