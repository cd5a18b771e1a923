"""Rows of trajectories, and of where memories came from and were used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from reasoningbank.runs.results import EpisodeSummary
from reasoningbank.runs.trajectory import Step
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one run.

    Attributes:
        size: characters of its steps and result.
        left_out: steps that were not kept, since the run had grown too long.
        scrub_version: the oldest rules that any of it went through.
        at: when something was last added; None when nothing is kept.
    """

    steps: tuple[Step, ...] = ()
    result: str = ""
    size: int = 0
    left_out: int = 0
    scrub_version: int = 0
    at: datetime | None = None


def load(reading: Reading, ref: str) -> Kept | None:
    """Return what is kept of a run; None when nothing is."""
    kept = "SELECT result, size, left_out, scrub_version, at FROM trajectories WHERE ref = ?"
    row = reading.execute(kept, (ref,)).fetchone()
    if row is None:
        return None
    steps = reading.execute("SELECT step FROM steps WHERE ref = ? ORDER BY position", (ref,))
    result, size, left_out, scrub_version, at = row
    read = tuple(Step.model_validate_json(step) for (step,) in steps)
    return Kept(read, result, size, left_out, scrub_version, parse_time(at))


def size_of(reading: Reading, ref: str) -> int:
    """Return how many characters are kept of a run."""
    return number(reading, "SELECT coalesce(sum(size), 0) FROM trajectories WHERE ref = ?", (ref,))


def add(
    writing: Writing, ref: str, steps: Sequence[str], *, result: str, left_out: int, scrub_version: int, now: datetime
) -> None:
    """Add steps, as JSON, to what is kept of a run; a result that is not empty replaces the one before."""
    before = writing.execute("SELECT length(result) FROM trajectories WHERE ref = ?", (ref,)).fetchone()
    grown = sum(map(len, steps)) + (len(result) - (before[0] if before else 0) if result else 0)
    writing.execute(
        "INSERT INTO trajectories(ref, result, size, left_out, scrub_version, at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (ref) DO UPDATE SET "
        "result = CASE WHEN excluded.result = '' THEN trajectories.result ELSE excluded.result END, "
        "size = trajectories.size + excluded.size, left_out = trajectories.left_out + excluded.left_out, "
        "scrub_version = CASE WHEN excluded.scrub_version < trajectories.scrub_version "
        "THEN excluded.scrub_version ELSE trajectories.scrub_version END, at = excluded.at",
        (ref, result, grown, left_out, scrub_version, time_text(now)),
    )
    following = number(writing, "SELECT coalesce(max(position), -1) + 1 FROM steps WHERE ref = ?", (ref,))
    writing.insert("steps", ("ref", "position", "step"), [(ref, n, step) for n, step in enumerate(steps, following)])


def newest(reading: Reading) -> datetime | None:
    """Return when something was last added to what is kept of runs; None when nothing is."""
    (at,) = reading.execute("SELECT max(at) FROM trajectories").fetchone()
    return None if at is None else parse_time(at)


def count_old(reading: Reading, before: datetime) -> int:
    """Return of how many runs `expire` would delete what is kept."""
    return number(reading, "SELECT count(*) FROM trajectories WHERE at < ?", (time_text(before),))


def expire(writing: Writing, before: datetime) -> int:
    """Delete what is kept of runs to which nothing was added since, and return of how many."""
    old = "(SELECT ref FROM trajectories WHERE at < ?)"
    writing.execute(f"DELETE FROM steps WHERE ref IN {old}", (time_text(before),))
    return writing.execute("DELETE FROM trajectories WHERE at < ?", (time_text(before),)).rowcount


# -- where memories came from, and where they were used ------------------------------------------------------------


def add_origins(writing: Writing, memory_ids: Sequence[str], refs: Iterable[str]) -> None:
    """Note which runs memories were distilled from; those that are gone are left out."""
    for ref in refs:
        writing.execute(
            "INSERT INTO origins(memory, ref) SELECT n, :ref FROM memories WHERE id IN (:ids) "
            "ON CONFLICT (memory, ref) DO NOTHING",
            {"ref": ref, "ids": list(memory_ids)},
        )


_SUMMARY = (
    "e.task, e.verdict, e.opened_at, (SELECT count(*) FROM steps AS s WHERE s.ref = r.ref), "
    "coalesce((SELECT left_out FROM trajectories AS t WHERE t.ref = r.ref), 0)"
)


def origins(reading: Reading, n: int, limit: int) -> list[EpisodeSummary]:
    """Return the runs that a memory was distilled from, the newest first; sessions without an episode come last."""
    rows = reading.execute(
        f"SELECT r.ref, {_SUMMARY} FROM (SELECT ref FROM origins WHERE memory = :n "
        "UNION SELECT source_session FROM memories WHERE n = :n AND source_session IS NOT NULL) AS r "
        "LEFT JOIN episodes AS e ON e.ref = r.ref ORDER BY e.opened_at IS NULL, e.opened_at DESC, r.ref LIMIT :limit",
        {"n": n, "limit": limit},
    )
    return list(map(_summary, rows))


def distilled_from(reading: Reading, ref: str) -> list[int]:
    """Return the row numbers of the memories that were distilled from a run, in the order they were recorded."""
    came = "SELECT memory FROM origins WHERE ref = :ref UNION SELECT n FROM memories WHERE source_session = :ref"
    return column(reading, f"{came} ORDER BY 1", {"ref": ref})


def uses(reading: Reading, n: int, limit: int) -> list[EpisodeSummary]:
    """Return the runs that a memory was handed out in, the newest first."""
    rows = reading.execute(
        f"SELECT r.ref, {_SUMMARY} FROM served AS r JOIN episodes AS e ON e.ref = r.ref WHERE r.memory = ? "
        "ORDER BY e.opened_at DESC, r.ref LIMIT ?",
        (n, limit),
    )
    return [_summary(row) for row in rows]


def _summary(row: tuple[str, str | None, str | None, str | None, int, int]) -> EpisodeSummary:
    ref, task, verdict, opened, steps, left_out = row
    return EpisodeSummary(
        ref=ref,
        task=task or "",
        verdict=None if verdict is None else Verdict(verdict),
        opened_at=None if opened is None else parse_time(opened),
        steps=steps,
        left_out=left_out,
    )
