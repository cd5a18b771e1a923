"""The queue: jobs as rows of the project's database. A job is held by a token, so no two workers finish it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from reasoningbank.distill.distillation import Distillation, DistillStatus
from reasoningbank.memory import fingerprint_text
from reasoningbank.runs.trajectory import RunVerdict, Trajectory
from reasoningbank.signals import parse_time, time_text

MOST_ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
# A worker renews its hold well within this; one that does not is taken for dead, and its job is taken up again.
LEASE = timedelta(seconds=60)
EARLIER_RUNS = 3
TASK_SHOWN = 200

_COLUMNS = "id, kind, status, task, verdict, attempts, due_at, reason, outcome, created_at, updated_at"


class JobStatus(StrEnum):
    """Where a job is: waiting, held by a worker, or at one of the ends of a distillation."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether no worker will take it up any more, unless it is retried."""
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


# Ends that a retry may change: with another model, more room, or an endpoint that answers.
RETRYABLE = (JobStatus.FAILED, JobStatus.TRUNCATED, JobStatus.UNPARSEABLE, JobStatus.REFUSED, JobStatus.EMPTY)


@dataclass(frozen=True, slots=True)
class Job:
    """A run that waits to be distilled, or what became of it.

    Attributes:
        task: the beginning of its task.
        attempts: how often a worker took it up.
        due_at: while queued, not before this time; while running, when its worker is taken for dead.
        reason: why it is where it is, in words; "" where that needs no saying.
        memories: ids of the lessons it gave.
        counts: lessons recorded, duplicates of lessons that were there, and items rejected by reason.
    """

    id: str
    kind: str
    status: JobStatus
    task: str
    verdict: RunVerdict
    attempts: int
    due_at: datetime
    reason: str
    created_at: datetime
    updated_at: datetime
    memories: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Held:
    """A job that a worker holds: what is to be done, and the token that proves it."""

    job: Job
    token: str
    payload: dict[str, Any]
    earlier: tuple[Trajectory, ...] = ()

    @property
    def run(self) -> Trajectory:
        """The run that is to be distilled."""
        return Trajectory.model_validate(self.payload)


def key_of(kind: str, payload: str) -> str:
    """Return the idempotency key of a job that was given none: what is to be done, in short."""
    return hashlib.blake2b(f"{kind}\n{payload}".encode(), digest_size=16).hexdigest()


def task_key(task: str) -> str:
    """Return a digest that two wordings of a task share if they differ in case, spacing and punctuation only."""
    return hashlib.blake2b(fingerprint_text("", task).encode(), digest_size=16).hexdigest()


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait after so many failed attempts: 30 s, doubled each time, an hour at the most."""
    pause: timedelta = FIRST_PAUSE * 2 ** max(0, attempts - 1)
    return min(LONGEST_PAUSE, pause)


def add(
    connection: sqlite3.Connection, *, kind: str, payload: str, run: Trajectory, key: str, job_id: str, now: datetime
) -> Job:
    """Put a job at the end of the queue; the job that is there under this key comes back as it is."""
    at = time_text(now)
    connection.execute(
        "INSERT INTO jobs(id, key, kind, status, task, task_key, verdict, payload, attempts, due_at, token, reason, "
        "outcome, created_at, updated_at) VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, 0, ?, '', '', '{}', ?, ?) "
        "ON CONFLICT(key) DO NOTHING",
        (job_id, key, kind, run.task[:TASK_SHOWN], task_key(run.task), run.verdict.value, payload, at, at, at),
    )
    return _job(connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE key = ?", (key,)).fetchone())


def is_due(connection: sqlite3.Connection, now: datetime) -> bool:
    """Tell whether there is a job to take."""
    row = connection.execute(
        "SELECT 1 FROM jobs WHERE status IN ('queued', 'running') AND due_at <= ? LIMIT 1", (time_text(now),)
    )
    return row.fetchone() is not None


def take(connection: sqlite3.Connection, *, token: str, now: datetime) -> Held | None:
    """Hold the job that is due first, if there is one: a queued one, or one whose worker is dead."""
    while True:
        row = connection.execute(
            "SELECT id, attempts, payload, task_key, kind, status FROM jobs "
            "WHERE status IN ('queued', 'running') AND due_at <= ? ORDER BY due_at, n LIMIT 1",
            (time_text(now),),
        ).fetchone()
        if row is None:
            return None
        job_id, attempts, payload, task, kind, status = row
        if status == "running" and attempts >= MOST_ATTEMPTS:
            # It may be what kills them.
            _end(connection, job_id, JobStatus.FAILED, f"{attempts} workers died of it or with it", "{}", now)
            continue
        connection.execute(
            "UPDATE jobs SET status = 'running', token = ?, attempts = attempts + 1, due_at = ?, updated_at = ? "
            "WHERE id = ?",
            (token, time_text(now + LEASE), time_text(now), job_id),
        )
        earlier = _earlier(connection, task, job_id) if kind == "run" else ()
        job = find(connection, job_id)
        assert job is not None  # noqa: S101 - it was just written
        return Held(job, token, json.loads(payload), earlier)


def _earlier(connection: sqlite3.Connection, task: str, job_id: str) -> tuple[Trajectory, ...]:
    """Return other judged runs of the same task, the newest of each verdict first."""
    rows = connection.execute(
        "SELECT payload FROM jobs WHERE task_key = ? AND kind = 'run' AND id <> ? "
        "AND verdict IN ('success', 'failure') ORDER BY n DESC LIMIT ?",
        (task, job_id, EARLIER_RUNS),
    )
    return tuple(Trajectory.model_validate_json(payload) for (payload,) in rows)


def renew(connection: sqlite3.Connection, held: Held, now: datetime) -> bool:
    """Hold a job for another while; False when it is no longer this worker's."""
    renewed = connection.execute(
        "UPDATE jobs SET due_at = ? WHERE id = ? AND token = ? AND status = 'running'",
        (time_text(now + LEASE), held.job.id, held.token),
    )
    return renewed.rowcount == 1


def is_held(connection: sqlite3.Connection, held: Held) -> bool:
    """Tell whether a job is still this worker's."""
    row = connection.execute("SELECT 1 FROM jobs WHERE id = ? AND token = ? AND status = 'running'", _hold(held))
    return row.fetchone() is not None


def _hold(held: Held) -> tuple[str, str]:
    return held.job.id, held.token


def finish(
    connection: sqlite3.Connection,
    held: Held,
    result: Distillation,
    *,
    run: Trajectory,
    memories: Sequence[str],
    duplicates: int,
    now: datetime,
) -> None:
    """Write down what came of a job that is held; a run that was judged on the way keeps its verdict."""
    outcome = json.dumps(
        {"memories": list(memories), "counts": {**result.counts, "lessons": len(memories), "duplicates": duplicates}}
    )
    connection.execute(
        "UPDATE jobs SET verdict = ?, payload = CASE kind WHEN 'run' THEN ? ELSE payload END WHERE id = ?",
        (run.verdict.value, run.model_dump_json(), held.job.id),
    )
    _end(connection, held.job.id, JobStatus(result.status.value), result.reason, outcome, now)


def fail(connection: sqlite3.Connection, held: Held, reason: str, now: datetime) -> None:
    """Put a job that is held back into the queue after a pause, or at its end if it had all its attempts."""
    if held.job.attempts >= MOST_ATTEMPTS:
        _end(connection, held.job.id, JobStatus.FAILED, reason, "{}", now)
        return
    connection.execute(
        "UPDATE jobs SET status = 'queued', token = '', reason = ?, due_at = ?, updated_at = ? WHERE id = ?",
        (reason[:1_000], time_text(now + pause_after(held.job.attempts)), time_text(now), held.job.id),
    )


def _end(
    connection: sqlite3.Connection, job_id: str, status: JobStatus, reason: str, outcome: str, now: datetime
) -> None:
    connection.execute(
        "UPDATE jobs SET status = ?, token = '', reason = ?, outcome = ?, updated_at = ? WHERE id = ?",
        (status.value, reason[:1_000], outcome, time_text(now), job_id),
    )


def retry(connection: sqlite3.Connection, job_id: str, now: datetime) -> Job | None:
    """Put a job that ended without lessons back into the queue, with all its attempts; others stay as they are."""
    marks = ", ".join("?" for _ in RETRYABLE)
    connection.execute(
        f"UPDATE jobs SET status = 'queued', attempts = 0, due_at = ?, updated_at = ?, outcome = '{{}}' "
        f"WHERE id = ? AND status IN ({marks})",
        (time_text(now), time_text(now), job_id, *RETRYABLE),
    )
    return find(connection, job_id)


def find(connection: sqlite3.Connection, job_id: str) -> Job | None:
    """Return a job."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return None if row is None else _job(row)


def page(connection: sqlite3.Connection, statuses: Iterable[JobStatus], limit: int) -> list[Job]:
    """Return jobs with one of these statuses, the newest first."""
    wanted = [status.value for status in statuses]
    marks = ", ".join("?" for _ in wanted)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM jobs WHERE status IN ({marks}) ORDER BY n DESC LIMIT ?", (*wanted, limit)
    )
    return [_job(row) for row in rows]


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many jobs there are with each status."""
    return dict(connection.execute("SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status").fetchall())


def forget(connection: sqlite3.Connection, before: datetime) -> int:
    """Delete jobs that ended before a time with lessons, or with nothing to learn; others are kept for a retry."""
    ended = (DistillStatus.DONE.value, DistillStatus.EMPTY.value, time_text(before))
    return connection.execute("DELETE FROM jobs WHERE status IN (?, ?) AND updated_at < ?", ended).rowcount


def _job(row: Sequence[Any]) -> Job:
    outcome = json.loads(row[8])
    return Job(
        id=row[0],
        kind=row[1],
        status=JobStatus(row[2]),
        task=row[3],
        verdict=RunVerdict(row[4]),
        attempts=row[5],
        due_at=parse_time(row[6]),
        reason=row[7],
        created_at=parse_time(row[9]),
        updated_at=parse_time(row[10]),
        memories=tuple(outcome.get("memories", ())),
        counts=outcome.get("counts", {}),
    )
