"""Rows of merges: which memories became one, and whose evidence counts for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from reasoningbank.signals import time_text

# Merged memories can be merged again: evidence goes all the way up.
_ALL_SOURCES = (
    "WITH RECURSIVE below(root, n) AS ("
    "SELECT into_memory, memory FROM merged WHERE counts = 1 AND into_memory IN ({marks}) "
    "UNION SELECT root, memory FROM merged JOIN below ON into_memory = below.n WHERE counts = 1) "
    "SELECT root, n FROM below"
)
_ALL_RESULTS = (
    "WITH RECURSIVE above(n) AS (SELECT into_memory FROM merged WHERE memory IN ({marks}) "
    "UNION SELECT into_memory FROM merged JOIN above ON memory = above.n) SELECT n FROM above"
)


def put(connection: sqlite3.Connection, sources: Sequence[int], result: int, now: datetime) -> None:
    """Let the evidence about `sources` count for `result` from now on."""
    connection.executemany(
        "INSERT OR REPLACE INTO merged(memory, into_memory, at) VALUES (?, ?, ?)",
        [(source, result, time_text(now)) for source in sources],
    )
    connection.execute("INSERT INTO changes(op, memory) VALUES ('evidence', ?)", (result,))


def sources_of(connection: sqlite3.Connection, result: int) -> list[int]:
    """Return the memories that were merged into one, in the order they were recorded."""
    rows = connection.execute("SELECT memory FROM merged WHERE into_memory = ? ORDER BY memory", (result,))
    return [n for (n,) in rows]


def take_out(connection: sqlite3.Connection, sources: Sequence[int]) -> None:
    """Give each of these memories its evidence back, if it had been merged into another."""
    tell_results(connection, sources)
    connection.executemany("DELETE FROM merged WHERE memory = ?", [(source,) for source in sources])


def stop_counting(connection: sqlite3.Connection, result: int) -> None:
    """Let what was merged into a memory no longer count for it: it says something else now."""
    connection.execute("UPDATE merged SET counts = 0 WHERE into_memory = ?", (result,))


def forget(connection: sqlite3.Connection, n: int) -> None:
    """Drop what is known of a memory's merges: it is deleted."""
    tell_results(connection, [n])
    connection.execute("DELETE FROM merged WHERE memory = ? OR into_memory = ?", (n, n))


def evidence_owners(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Return for each source, at any depth, the memories of `numbers` that its evidence counts for as well."""
    owners: dict[int, list[int]] = {}
    for root, n in connection.execute(_ALL_SOURCES.format(marks=_marks(numbers)), list(numbers)):
        owners.setdefault(n, []).append(root)
    return owners


def tell_results(connection: sqlite3.Connection, sources: Sequence[int]) -> None:
    """Tell the feed that the evidence changed of what these memories were merged into."""
    connection.execute(
        f"INSERT INTO changes(op, memory) SELECT 'evidence', n FROM ({_ALL_RESULTS.format(marks=_marks(sources))})",
        list(sources),
    )


def _marks(numbers: Sequence[int]) -> str:
    return ", ".join("?" * len(numbers))
