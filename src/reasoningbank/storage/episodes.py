"""Rows of episodes and of what was served in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from reasoningbank.episode import Episode, Served
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.verdict import Verdict

SERVED = ("ref", "position", "memory", *list(Served.model_fields)[2:])
_COLUMNS = "ref, task, thread, opened_at, closed_at, verdict, reason, judge"


def open_episode(
    writing: Writing,
    *,
    ref: str,
    task: str,
    thread: str | None,
    served: Sequence[tuple[int, Served]],
    tokens: int,
    now: datetime,
) -> bool:
    """Store a new open episode, the memories (row number and value) served in it, and the tokens they came in.

    Returns:
        False when there is one with this reference, which stays as it is.
    """
    if not writing.insert(
        "episodes",
        ("ref", "task", "thread", "opened_at", "tokens"),
        [(ref, task, thread, time_text(now), tokens)],
        "ON CONFLICT (ref) DO NOTHING",
    ):
        return False
    writing.insert(
        "served",
        SERVED,
        [
            (
                ref,
                s.position,
                n,
                s.revision,
                s.confidence,
                s.deviation,
                int(s.provisional),
                s.similarity,
                s.keyword,
                s.score,
            )
            for n, s in served
        ],
    )
    return True


def load_episode(reading: Reading, ref: str) -> Episode | None:
    """Return an episode with what was served in it; memories deleted since are left out."""
    row = reading.execute(f"SELECT {_COLUMNS} FROM episodes WHERE ref = ?", (ref,)).fetchone()
    if row is None:
        return None
    # In the order of the fields of `Served`.
    served = reading.execute(
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
        memories=tuple(Served(**dict(zip(Served.model_fields, values, strict=True))) for values in served),
    )


def page(
    reading: Reading,
    *,
    after: str | None,
    thread: str | None,
    verdict: Verdict | None,
    is_open: bool | None,
    limit: int,
) -> list[str]:
    """Return the references of up to `limit` episodes that pass the filters, the newest first, behind `after`."""
    return column(
        reading,
        "SELECT ref FROM episodes "
        "WHERE (:after IS NULL OR (opened_at, ref) < (SELECT opened_at, ref FROM episodes WHERE ref = :after)) "
        "AND (:thread IS NULL OR thread = :thread) AND (:verdict IS NULL OR verdict = :verdict) "
        "AND (:open IS NULL OR CASE WHEN verdict IS NULL THEN 1 ELSE 0 END = :open) "
        "ORDER BY opened_at DESC, ref DESC LIMIT :limit",
        {
            "after": after,
            "thread": thread,
            "verdict": verdict,
            "open": None if is_open is None else int(is_open),
            "limit": limit,
        },
    )


def exists(reading: Reading, ref: str) -> bool:
    """Tell whether there is an episode with this reference."""
    return reading.execute("SELECT 1 FROM episodes WHERE ref = ?", (ref,)).fetchone() is not None


def is_sealed(reading: Reading, ref: str) -> bool:
    """Tell whether an episode's evidence was rolled up, so that its verdict can no longer be revised."""
    row = reading.execute("SELECT sealed FROM episodes WHERE ref = ?", (ref,)).fetchone()
    return bool(row and row[0])


def newest_of_thread(reading: Reading, thread: str, since: datetime) -> str | None:
    """Return the reference of the newest episode of a thread that was opened at or after `since`, open or not."""
    row = reading.execute(
        "SELECT ref FROM episodes WHERE thread = ? AND opened_at >= ? ORDER BY opened_at DESC, ref DESC LIMIT 1",
        (thread, time_text(since)),
    ).fetchone()
    return None if row is None else str(row[0])


class Judged(NamedTuple):
    """A memory that is judged.

    Attributes:
        revision: for which alone evidence counts.
        open_ref: the newest open episode that served it; None when there is none.
    """

    n: int
    revision: int
    open_ref: str | None


def judged(reading: Reading, memory_id: str, *, since: datetime) -> Judged | None:
    """Return a memory with the newest open episode that served it, opened at or after `since`; None if it is gone."""
    row = reading.execute(
        "SELECT m.n, m.revision, (SELECT e.ref FROM served AS s JOIN episodes AS e ON e.ref = s.ref "
        "WHERE s.memory = m.n AND e.verdict IS NULL AND e.opened_at >= ? "
        "ORDER BY e.opened_at DESC, e.ref DESC LIMIT 1) FROM memories AS m WHERE m.id = ?",
        (time_text(since), memory_id),
    ).fetchone()
    return None if row is None else Judged(*row)


def set_verdict(writing: Writing, ref: str, verdict: Verdict, *, reason: str, by: str, now: datetime) -> None:
    """Close an episode, or replace its verdict."""
    writing.execute(
        "UPDATE episodes SET verdict = ?, closed_at = ?, reason = ?, judge = ? WHERE ref = ?",
        (verdict.value, time_text(now), reason, by, ref),
    )


def expire(writing: Writing, now: datetime, after: timedelta) -> int:
    """Close the episodes that stayed open for longer than `after` as unknown, and return how many."""
    return writing.execute(
        "UPDATE episodes SET verdict = 'unknown', closed_at = ?, reason = 'expired' "
        "WHERE verdict IS NULL AND opened_at < ?",
        (time_text(now), time_text(before(now, after))),
    ).rowcount


def count_overdue(reading: Reading, now: datetime, after: timedelta) -> int:
    """Return how many episodes `expire` would close."""
    overdue = "SELECT count(*) FROM episodes WHERE verdict IS NULL AND opened_at < ?"
    return number(reading, overdue, (time_text(before(now, after)),))


def count_open(reading: Reading) -> int:
    """Return how many episodes are open."""
    return number(reading, "SELECT count(*) FROM episodes WHERE verdict IS NULL")


def before(now: datetime, span: timedelta) -> datetime:
    """Return `now - span`, or the first moment there is: a clock in year 1 has no day before it."""
    try:
        return now - span
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)
