"""Rows of runs as a whole, for exports and imports: episodes, what was served in them, what was learned from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reasoningbank.exchange.runs import ExportedRun, HandedOver
from reasoningbank.signals import time_text
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.episodes import SERVED


def page(reading: Reading, after: str, limit: int) -> list[str]:
    """Return up to `limit` references of episodes behind `after`, in their order."""
    rows = reading.execute("SELECT ref FROM episodes WHERE ref > ? ORDER BY ref LIMIT ?", (after, limit))
    return [ref for (ref,) in rows]


def tokens(reading: Reading, ref: str) -> int | None:
    """Return the tokens of the prompt block that a run was given; None where that was not noted."""
    found: int | None = reading.execute("SELECT tokens FROM episodes WHERE ref = ?", (ref,)).fetchone()[0]
    return found


def unchanged(reading: Reading, ref: str) -> set[int]:
    """Return the positions of the memories served in a run that still say what they said then."""
    rows = reading.execute(
        "SELECT s.position FROM served AS s JOIN memories AS m ON m.n = s.memory AND m.revision = s.revision "
        "WHERE s.ref = ?",
        (ref,),
    )
    return {position for (position,) in rows}


def lessons(reading: Reading, ref: str) -> list[str]:
    """Return the ids of the memories that were distilled from a run, in the order they were recorded."""
    rows = reading.execute(
        "SELECT m.id FROM origins AS o JOIN memories AS m ON m.n = o.memory WHERE o.ref = ? ORDER BY m.n", (ref,)
    )
    return [memory_id for (memory_id,) in rows]


def put(writing: Writing, run: ExportedRun, handed: Sequence[tuple[int, HandedOver]], learned: Iterable[int]) -> None:
    """Store a run. Its evidence is rolled up: what was said in it counts as said, and can no longer be revised.

    Args:
        handed: what it was handed, with the row numbers.
        learned: the row numbers of what was distilled from it.
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
    served = []
    for n, h in handed:
        if n in revisions:
            belief = h.confidence, h.deviation, int(h.provisional)
            revision = revisions[n] if h.unchanged else 0
            served.append((run.ref, h.position, n, revision, *belief, h.similarity, h.keyword, h.score, 1))
    writing.insert("served", (*SERVED, "sealed"), served, "ON CONFLICT (ref, position) DO NOTHING")
    writing.insert(
        "origins", ("memory", "ref"), [(n, run.ref) for n in learned], "ON CONFLICT (memory, ref) DO NOTHING"
    )
