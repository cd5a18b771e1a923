"""Rows of episodes and of what was served in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from reasoningbank.episode import Episode, Served, Verdict
from reasoningbank.signals import parse_time, time_text

_COLUMNS = "ref, task, thread, opened_at, closed_at, verdict, reason, judge"


def open_episode(
    connection: sqlite3.Connection,
    *,
    ref: str,
    task: str,
    thread: str | None,
    served: Sequence[tuple[int, Served]],
    tokens: int,
    now: datetime,
) -> None:
    """Store a new open episode, the memories (row number and value) served in it, and the tokens they came in."""
    connection.execute(
        "INSERT INTO episodes(ref, task, thread, opened_at, tokens) VALUES (?, ?, ?, ?, ?)",
        (ref, task, thread, time_text(now), tokens),
    )
    connection.executemany(
        "INSERT INTO served(ref, position, memory, revision, confidence, deviation, provisional, similarity, keyword, "
        "score) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                ref,
                s.position,
                n,
                s.revision,
                s.confidence,
                s.deviation,
                s.provisional,
                s.similarity,
                s.keyword,
                s.score,
            )
            for n, s in served
        ],
    )


def load_episode(connection: sqlite3.Connection, ref: str) -> Episode | None:
    """Return an episode with what was served in it; memories deleted since are left out."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM episodes WHERE ref = ?", (ref,)).fetchone()
    if row is None:
        return None
    served = connection.execute(
        "SELECT m.id, s.position, s.revision, s.confidence, s.deviation, s.provisional, s.similarity, s.keyword, "
        "s.score FROM served AS s JOIN memories AS m ON m.n = s.memory WHERE s.ref = ? ORDER BY s.position",
        (ref,),
    )
    return Episode(
        ref=row[0],
        task=row[1],
        thread=row[2],
        opened_at=parse_time(row[3]),
        closed_at=None if row[4] is None else parse_time(row[4]),
        verdict=None if row[5] is None else Verdict(row[5]),
        reason=row[6],
        by=row[7],
        memories=tuple(
            Served(
                memory=memory,
                position=position,
                revision=revision,
                confidence=confidence,
                deviation=deviation,
                provisional=bool(provisional),
                similarity=similarity,
                keyword=keyword,
                score=score,
            )
            for memory, position, revision, confidence, deviation, provisional, similarity, keyword, score in served
        ),
    )


def page(
    connection: sqlite3.Connection,
    *,
    after: str | None,
    thread: str | None,
    verdict: Verdict | None,
    is_open: bool | None,
    limit: int,
) -> list[str]:
    """Return the references of up to `limit` episodes that pass the filters, the newest first, behind `after`."""
    found = connection.execute(
        "SELECT ref FROM episodes "
        "WHERE (:after IS NULL OR (opened_at, ref) < (SELECT opened_at, ref FROM episodes WHERE ref = :after)) "
        "AND (:thread IS NULL OR thread = :thread) AND (:verdict IS NULL OR verdict = :verdict) "
        "AND (:open IS NULL OR (verdict IS NULL) = :open) ORDER BY opened_at DESC, ref DESC LIMIT :limit",
        {"after": after, "thread": thread, "verdict": verdict, "open": is_open, "limit": limit},
    )
    return [str(row[0]) for row in found]


def exists(connection: sqlite3.Connection, ref: str) -> bool:
    """Tell whether there is an episode with this reference."""
    return connection.execute("SELECT 1 FROM episodes WHERE ref = ?", (ref,)).fetchone() is not None


def is_sealed(connection: sqlite3.Connection, ref: str) -> bool:
    """Tell whether an episode's evidence was rolled up, so that its verdict can no longer be revised."""
    row = connection.execute("SELECT sealed FROM episodes WHERE ref = ?", (ref,)).fetchone()
    return bool(row and row[0])


def newest_of_thread(connection: sqlite3.Connection, thread: str, since: datetime) -> str | None:
    """Return the reference of the newest episode of a thread that was opened at or after `since`, open or not."""
    row = connection.execute(
        "SELECT ref FROM episodes WHERE thread = ? AND opened_at >= ? ORDER BY opened_at DESC, ref DESC LIMIT 1",
        (thread, time_text(since)),
    ).fetchone()
    return None if row is None else str(row[0])


def newest_open_that_served(connection: sqlite3.Connection, memory: int, since: datetime) -> str | None:
    """Return the reference of the newest open episode that served a memory, opened at or after `since`."""
    row = connection.execute(
        "SELECT e.ref FROM served AS s JOIN episodes AS e ON e.ref = s.ref "
        "WHERE s.memory = ? AND e.verdict IS NULL AND e.opened_at >= ? ORDER BY e.opened_at DESC, e.ref DESC LIMIT 1",
        (memory, time_text(since)),
    ).fetchone()
    return None if row is None else str(row[0])


def set_verdict(
    connection: sqlite3.Connection, ref: str, verdict: Verdict, *, reason: str, by: str, now: datetime
) -> None:
    """Close an episode, or replace its verdict."""
    connection.execute(
        "UPDATE episodes SET verdict = ?, closed_at = ?, reason = ?, judge = ? WHERE ref = ?",
        (verdict.value, time_text(now), reason, by, ref),
    )


def expire(connection: sqlite3.Connection, now: datetime, after: timedelta) -> int:
    """Close the episodes that stayed open for longer than `after` as unknown, and return how many."""
    return connection.execute(
        "UPDATE episodes SET verdict = 'unknown', closed_at = ?, reason = 'expired' "
        "WHERE verdict IS NULL AND opened_at < ?",
        (time_text(now), time_text(before(now, after))),
    ).rowcount


def count_overdue(connection: sqlite3.Connection, now: datetime, after: timedelta) -> int:
    """Return how many episodes `expire` would close."""
    total: int = connection.execute(
        "SELECT count(*) FROM episodes WHERE verdict IS NULL AND opened_at < ?", (time_text(before(now, after)),)
    ).fetchone()[0]
    return total


def count_open(connection: sqlite3.Connection) -> int:
    """Return how many episodes are open."""
    total: int = connection.execute("SELECT count(*) FROM episodes WHERE verdict IS NULL").fetchone()[0]
    return total


def before(now: datetime, span: timedelta) -> datetime:
    """Return `now - span`, or the first moment there is: a clock in year 1 has no day before it."""
    try:
        return now - span
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)
