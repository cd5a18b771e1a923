"""Rows of episodes, of what was served in them, and of runs as a whole, for exports and imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank.episode import Episode, Served
from reasoningbank.moments import shifted
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.verdict import Verdict

if TYPE_CHECKING:
    from reasoningbank.exchange.runs import ExportedRun, HandedOver

_SERVED = ("ref", "position", "memory", *list(Served.model_fields)[2:])
# An episode, and in the order of the fields of `Served` what was served in it: in a row each, or in one of nothing.
_EPISODE = (
    "SELECT e.ref, e.task, e.thread, e.opened_at, e.closed_at, e.verdict, e.reason, e.judge, "
    "(SELECT CASE WHEN t.held = 1 THEN t.of ELSE '' END FROM trials AS t WHERE t.ref = e.ref), "
    "m.id, s.position, s.revision, s.confidence, s.deviation, s.provisional, s.similarity, s.keyword, s.score, "
    "s.about, s.step, s.pinned FROM episodes AS e LEFT JOIN served AS s ON s.ref = e.ref "
    "LEFT JOIN memories AS m ON m.n = s.memory WHERE e.ref = ? ORDER BY s.position"
)


def open_episode(
    writing: Writing,
    *,
    ref: str,
    task: str,
    thread: str | None,
    served: Sequence[tuple[int, Served]],
    tokens: int,
    now: datetime,
    doubtful: bool = False,
) -> bool:
    """Store a new open episode, the memories (row number and value) served in it, and the tokens they came in.

    `doubtful` says that most likely none of them is about the task. False comes back when there is one with this
    reference, which stays as it is.
    """
    if not writing.insert(
        "episodes",
        ("ref", "task", "thread", "opened_at", "tokens", "doubtful"),
        [(ref, task, thread, time_text(now), tokens, int(doubtful))],
        "ON CONFLICT (ref) DO NOTHING",
    ):
        return False
    writing.insert("served", _SERVED, [_served_row(ref, n, s, s.revision) for n, s in served])
    return True


def was_doubtful(reading: Reading, ref: str) -> bool:
    """Tell whether most likely nothing that an episode was handed is about its task."""
    return bool(number(reading, "SELECT doubtful FROM episodes WHERE ref = ?", (ref,)))


def serve_more(
    writing: Writing, ref: str, served: Sequence[tuple[int, Served]], tokens: int, *, doubtful: bool = False
) -> None:
    """Add memories to those that a run was handed, and the tokens they came in; doubt about some is about all."""
    writing.insert("served", _SERVED, [_served_row(ref, n, s, s.revision) for n, s in served])
    writing.execute(
        "UPDATE episodes SET tokens = coalesce(tokens, 0) + ?, "
        "doubtful = CASE WHEN doubtful = 1 THEN 1 ELSE ? END WHERE ref = ?",
        (tokens, int(doubtful), ref),
    )


def unserve(writing: Writing, ref: str, memory_ids: Sequence[str]) -> None:
    """Take memories out of those that a run was handed."""
    writing.execute(
        "DELETE FROM served WHERE ref = :ref AND memory IN (SELECT n FROM memories WHERE id IN (:ids))",
        {"ref": ref, "ids": list(memory_ids)},
    )


def _served_row(ref: str, n: int, s: Served | HandedOver, revision: int) -> tuple[Any, ...]:
    belief = s.confidence, s.deviation, int(s.provisional)
    return (ref, s.position, n, revision, *belief, s.similarity, s.keyword, s.score, s.about, s.step, int(s.pinned))


def load_episode(reading: Reading, ref: str) -> Episode | None:
    """Return an episode with what was served in it; memories deleted since are left out.

    None where there is none, or damage, or a hand, has its rows say what none can.
    """
    rows = reading.execute(_EPISODE, (ref,)).fetchall()
    try:
        return _loaded(reading, rows) if rows else None
    except (ValueError, TypeError):
        return None


def _loaded(reading: Reading, rows: Sequence[Sequence[Any]]) -> Episode:
    first = rows[0]
    return Episode(
        ref=first[0],
        task=first[1],
        thread=first[2],
        opened_at=parse_time(first[3]),
        closed_at=None if first[4] is None else parse_time(first[4]),
        verdict=None if first[5] is None else Verdict(first[5]),
        reason=first[6],
        by=first[7],
        memories=tuple(
            Served(**dict(zip(Served.model_fields, values[9:], strict=True)))
            for values in rows
            if values[9] is not None
        ),
        held_out=bool(first[8]),
        held_out_all=first[8] == "run",
        withheld=_withheld(reading, first[0]) if first[8] else (),
    )


def _withheld(reading: Reading, ref: str) -> tuple[str, ...]:
    out = (
        "SELECT m.id FROM candidates AS c JOIN memories AS m ON m.n = c.memory WHERE c.ref = ? AND c.given = 0 "
        "ORDER BY c.memory"
    )
    return tuple(column(reading, out, (ref,)))


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
    open_ = None if is_open is None else int(is_open)
    return column(
        reading,
        "SELECT ref FROM episodes "
        "WHERE (CAST(:after AS TEXT) IS NULL "
        "OR (opened_at, ref) < (SELECT opened_at, ref FROM episodes WHERE ref = :after)) "
        "AND (CAST(:thread AS TEXT) IS NULL OR thread = :thread) "
        "AND (CAST(:verdict AS TEXT) IS NULL OR verdict = :verdict) "
        "AND (CAST(:open AS INTEGER) IS NULL OR CASE WHEN verdict IS NULL THEN 1 ELSE 0 END = :open) "
        "ORDER BY opened_at DESC, ref DESC LIMIT :limit",
        {"after": after, "thread": thread, "verdict": verdict, "open": open_, "limit": limit},
    )


def exists(reading: Reading, ref: str) -> bool:
    """Tell whether there is an episode with this reference."""
    return reading.execute("SELECT 1 FROM episodes WHERE ref = ?", (ref,)).fetchone() is not None


def is_sealed(reading: Reading, ref: str) -> bool:
    """Tell whether an episode's evidence was rolled up, so that its verdict can no longer be revised."""
    row = reading.execute("SELECT sealed FROM episodes WHERE ref = ?", (ref,)).fetchone()
    return bool(row and row[0])


def newest_of_thread(reading: Reading, thread: str, now: datetime, ttl: timedelta) -> str | None:
    """Return the reference of the newest episode of a thread, open or not; one further from now than `ttl` is none.

    What a clock opened that was ahead by more than that is not waited for.
    """
    found = _newest(reading, thread, now, ttl)
    return None if found is None else found[0]


def opening_time(reading: Reading, thread: str, now: datetime, ttl: timedelta) -> datetime:
    """Return when an episode is opened: now, but never before the thread's last one, though the clock was set back."""
    last = _newest(reading, thread, now, ttl)
    return now if last is None else max(now, parse_time(last[1]) + timedelta(microseconds=1))


def _newest(reading: Reading, thread: str, now: datetime, ttl: timedelta) -> tuple[str, str] | None:
    row = reading.execute(
        "SELECT ref, opened_at FROM episodes WHERE thread = ? AND opened_at >= ? AND opened_at <= ? "
        "ORDER BY opened_at DESC, ref DESC LIMIT 1",
        (thread, time_text(shifted(now, -ttl)), time_text(shifted(now, ttl))),
    ).fetchone()
    return None if row is None else (row[0], row[1])


class Judged(NamedTuple):
    """A memory, the revision for which alone evidence counts, and the newest open episode that served it, if any."""

    n: int
    revision: int
    open_ref: str | None


def judged(reading: Reading, memory_id: str, *, now: datetime, ttl: timedelta) -> Judged | None:
    """Return a memory with the newest open episode that served it, opened within `ttl` of now; None if it is gone."""
    row = reading.execute(
        "SELECT m.n, m.revision, (SELECT e.ref FROM served AS s JOIN episodes AS e ON e.ref = s.ref "
        "WHERE s.memory = m.n AND e.verdict IS NULL AND e.opened_at >= ? AND e.opened_at <= ? "
        "ORDER BY e.opened_at DESC, e.ref DESC LIMIT 1) FROM memories AS m WHERE m.id = ?",
        (time_text(shifted(now, -ttl)), time_text(shifted(now, ttl)), memory_id),
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
        (time_text(now), time_text(shifted(now, -after))),
    ).rowcount


def count_overdue(reading: Reading, now: datetime, after: timedelta) -> int:
    """Return how many episodes `expire` would close."""
    overdue = "SELECT count(*) FROM episodes WHERE verdict IS NULL AND opened_at < ?"
    return number(reading, overdue, (time_text(shifted(now, -after)),))


def count_open(reading: Reading) -> int:
    """Return how many episodes are open."""
    return number(reading, "SELECT count(*) FROM episodes WHERE verdict IS NULL")


# -- runs as a whole -------------------------------------------------------------------------------------------------


def refs_behind(reading: Reading, after: str, limit: int) -> list[str]:
    """Return up to `limit` references of episodes behind `after`, in their order."""
    return column(reading, "SELECT ref FROM episodes WHERE ref > ? ORDER BY ref LIMIT ?", (after, limit))


def tokens_of(reading: Reading, ref: str) -> int | None:
    """Return the tokens of the prompt block that a run was given; None where that was not noted."""
    found: int | None = reading.execute("SELECT tokens FROM episodes WHERE ref = ?", (ref,)).fetchone()[0]
    return found


def unchanged_in(reading: Reading, ref: str) -> set[int]:
    """Return the positions of the memories served in a run that still say what they said then."""
    unchanged = (
        "SELECT s.position FROM served AS s JOIN memories AS m ON m.n = s.memory AND m.revision = s.revision "
        "WHERE s.ref = ?"
    )
    return set(column(reading, unchanged, (ref,)))


def lessons_of(reading: Reading, ref: str) -> list[str]:
    """Return the ids of the memories that were distilled from a run, in the order they were recorded."""
    lessons = "SELECT m.id FROM origins AS o JOIN memories AS m ON m.n = o.memory WHERE o.ref = ? ORDER BY m.n"
    return column(reading, lessons, (ref,))


def put_run(
    writing: Writing, run: ExportedRun, handed: Sequence[tuple[int, HandedOver]], learned: Iterable[int]
) -> None:
    """Store a run, what it was handed, and what was learned from it, both with row numbers.

    Its evidence is rolled up: what was said in it counts as said, and can no longer be revised.
    """
    closed = None if run.closed_at is None else time_text(run.closed_at)
    verdict = None if run.verdict is None else run.verdict.value
    writing.insert(
        "episodes",
        ("ref", "task", "thread", "opened_at", "closed_at", "verdict", "reason", "judge", "tokens", "sealed"),
        [(run.ref, run.task, run.thread, time_text(run.opened_at), closed, verdict, run.reason, run.by, run.tokens, 1)],
    )
    there = "SELECT n, revision FROM memories WHERE n IN (:handed)"
    revisions = dict(writing.execute(there, {"handed": [n for n, _ in handed]}).fetchall())
    rows = [(*_served_row(run.ref, n, h, revisions[n] if h.unchanged else 0), 1) for n, h in handed if n in revisions]
    writing.insert("served", (*_SERVED, "sealed"), rows, "ON CONFLICT (ref, position) DO NOTHING")
    origins = [(n, run.ref) for n in learned]
    writing.insert("origins", ("memory", "ref"), origins, "ON CONFLICT (memory, ref) DO NOTHING")
