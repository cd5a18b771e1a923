"""Rows of trajectories, and of where memories came from and were used."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from reasoningbank.episode import Verdict
from reasoningbank.results import EpisodeSummary
from reasoningbank.runs.trajectory import Step
from reasoningbank.signals import parse_time, time_text


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


def load(connection: sqlite3.Connection, ref: str) -> Kept | None:
    """Return what is kept of a run; None when nothing is."""
    row = connection.execute(
        "SELECT result, size, left_out, scrub_version, at FROM trajectories WHERE ref = ?", (ref,)
    ).fetchone()
    if row is None:
        return None
    steps = connection.execute("SELECT step FROM steps WHERE ref = ? ORDER BY position", (ref,))
    result, size, left_out, scrub_version, at = row
    read = tuple(Step.model_validate_json(step) for (step,) in steps)
    return Kept(read, result, size, left_out, scrub_version, parse_time(at))


def size_of(connection: sqlite3.Connection, ref: str) -> int:
    """Return how many characters are kept of a run."""
    row = connection.execute("SELECT size FROM trajectories WHERE ref = ?", (ref,)).fetchone()
    return int(row[0]) if row else 0


def add(
    connection: sqlite3.Connection,
    ref: str,
    steps: Sequence[str],
    *,
    result: str,
    left_out: int,
    scrub_version: int,
    now: datetime,
) -> None:
    """Add steps, as JSON, to what is kept of a run; a result that is not empty replaces the one before."""
    before = connection.execute("SELECT length(result) FROM trajectories WHERE ref = ?", (ref,)).fetchone()
    grown = sum(map(len, steps)) + (len(result) - (before[0] if before else 0) if result else 0)
    connection.execute(
        "INSERT INTO trajectories(ref, result, size, left_out, scrub_version, at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET result = iif(excluded.result = '', result, excluded.result), "
        "size = size + excluded.size, left_out = left_out + excluded.left_out, "
        "scrub_version = min(scrub_version, excluded.scrub_version), at = excluded.at",
        (ref, result, grown, left_out, scrub_version, time_text(now)),
    )
    following = connection.execute(
        "SELECT coalesce(max(position), -1) + 1 FROM steps WHERE ref = ?", (ref,)
    ).fetchone()[0]
    connection.executemany(
        "INSERT INTO steps(ref, position, step) VALUES (?, ?, ?)",
        [(ref, following + i, step) for i, step in enumerate(steps)],
    )


def count_old(connection: sqlite3.Connection, before: datetime) -> int:
    """Return of how many runs `expire` would delete what is kept."""
    total: int = connection.execute("SELECT count(*) FROM trajectories WHERE at < ?", (time_text(before),)).fetchone()[
        0
    ]
    return total


def expire(connection: sqlite3.Connection, before: datetime) -> int:
    """Delete what is kept of runs to which nothing was added since, and return of how many."""
    old = "(SELECT ref FROM trajectories WHERE at < ?)"
    connection.execute(f"DELETE FROM steps WHERE ref IN {old}", (time_text(before),))
    return connection.execute("DELETE FROM trajectories WHERE at < ?", (time_text(before),)).rowcount


# -- where memories came from, and where they were used ------------------------------------------------------------


def add_origins(connection: sqlite3.Connection, memory_ids: Iterable[str], refs: Iterable[str]) -> None:
    """Note which runs memories were distilled from; those that are gone are left out."""
    kept = list(refs)
    connection.executemany(
        "INSERT OR IGNORE INTO origins(memory, ref) SELECT n, ? FROM memories WHERE id = ?",
        [(ref, memory_id) for memory_id in memory_ids for ref in kept],
    )


_SUMMARY = (
    "e.task, e.verdict, e.opened_at, (SELECT count(*) FROM steps AS s WHERE s.ref = r.ref), "
    "coalesce((SELECT left_out FROM trajectories AS t WHERE t.ref = r.ref), 0)"
)


def origins(connection: sqlite3.Connection, n: int, limit: int) -> list[EpisodeSummary]:
    """Return the runs that a memory was distilled from, the newest first; sessions without an episode come last."""
    rows = connection.execute(
        f"SELECT r.ref, {_SUMMARY} FROM (SELECT ref FROM origins WHERE memory = ?1 "
        "UNION SELECT source_session FROM memories WHERE n = ?1 AND source_session IS NOT NULL) AS r "
        "LEFT JOIN episodes AS e ON e.ref = r.ref ORDER BY e.opened_at DESC, r.ref LIMIT ?2",
        (n, limit),
    )
    return [_summary(row) for row in rows]


def uses(connection: sqlite3.Connection, n: int, limit: int) -> list[EpisodeSummary]:
    """Return the runs that a memory was handed out in, the newest first."""
    rows = connection.execute(
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
