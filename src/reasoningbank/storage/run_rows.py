"""Rows of runs as a whole, for exports and imports: episodes, what was served in them, what was learned from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from reasoningbank.exchange.runs import ExportedRun, HandedOver
from reasoningbank.signals import time_text


def page(connection: sqlite3.Connection, after: str, limit: int) -> list[str]:
    """Return up to `limit` references of episodes behind `after`, in their order."""
    rows = connection.execute("SELECT ref FROM episodes WHERE ref > ? ORDER BY ref LIMIT ?", (after, limit))
    return [ref for (ref,) in rows]


def tokens(connection: sqlite3.Connection, ref: str) -> int | None:
    """Return the tokens of the prompt block that a run was given; None where that was not noted."""
    found: int | None = connection.execute("SELECT tokens FROM episodes WHERE ref = ?", (ref,)).fetchone()[0]
    return found


def unchanged(connection: sqlite3.Connection, ref: str) -> set[int]:
    """Return the positions of the memories served in a run that still say what they said then."""
    rows = connection.execute(
        "SELECT s.position FROM served AS s JOIN memories AS m ON m.n = s.memory AND m.revision = s.revision "
        "WHERE s.ref = ?",
        (ref,),
    )
    return {position for (position,) in rows}


def lessons(connection: sqlite3.Connection, ref: str) -> list[str]:
    """Return the ids of the memories that were distilled from a run, in the order they were recorded."""
    rows = connection.execute(
        "SELECT m.id FROM origins AS o JOIN memories AS m ON m.n = o.memory WHERE o.ref = ? ORDER BY m.n", (ref,)
    )
    return [memory_id for (memory_id,) in rows]


def put(
    connection: sqlite3.Connection, run: ExportedRun, handed: Sequence[tuple[int, HandedOver]], learned: Iterable[int]
) -> None:
    """Store a run. Its evidence is rolled up: what was said in it counts as said, and can no longer be revised.

    Args:
        handed: what it was handed, with the row numbers.
        learned: the row numbers of what was distilled from it.
    """
    connection.execute(
        "INSERT INTO episodes(ref, task, thread, opened_at, closed_at, verdict, reason, judge, tokens, sealed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        (
            run.ref,
            run.task,
            run.thread,
            time_text(run.opened_at),
            None if run.closed_at is None else time_text(run.closed_at),
            None if run.verdict is None else run.verdict.value,
            run.reason,
            run.by,
            run.tokens,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO served(ref, position, memory, revision, confidence, deviation, provisional, similarity, "
        "keyword, score, sealed) SELECT ?, ?, n, iif(?, revision, 0), ?, ?, ?, ?, ?, ?, 1 FROM memories WHERE n = ?",
        [
            (
                run.ref,
                h.position,
                h.unchanged,
                h.confidence,
                h.deviation,
                h.provisional,
                h.similarity,
                h.keyword,
                h.score,
                n,
            )
            for n, h in handed
        ],
    )
    connection.executemany("INSERT OR IGNORE INTO origins(memory, ref) VALUES (?, ?)", [(n, run.ref) for n in learned])
