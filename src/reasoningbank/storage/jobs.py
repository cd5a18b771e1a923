"""The queue: jobs as rows of the project's database. A job is held by a token, so no two workers finish it."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from reasoningbank.moments import shifted
from reasoningbank.runs.jobs import LEASE, MOST_ATTEMPTS, RETRYABLE, DistillStatus, Held, Job, pause_after, task_key
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import records
from reasoningbank.storage.contract import Reading, Values, Writing
from reasoningbank.verdict import Verdict

EARLIER_RUNS = 3
# Before the key of a job that was given one.
GIVEN = "given:"
TASK_SHOWN = 200
_COLUMNS = "id, kind, status, task, verdict, attempts, due_at, reason, outcome, created_at, updated_at"


def add(writing: Writing, *, kind: str, payload: str, run: Trajectory, key: str, job_id: str, now: datetime) -> Job:
    """Put a job at the end of the queue; the job that is there under this key comes back as it is."""
    at = time_text(now)
    writing.execute(
        "INSERT INTO jobs(id, key, kind, status, task, task_key, verdict, payload, attempts, due_at, token, reason, "
        "outcome, created_at, updated_at) VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, 0, ?, '', '', '{}', ?, ?) "
        "ON CONFLICT(key) DO NOTHING",
        (job_id, key, kind, run.task[:TASK_SHOWN], task_key(run.task), run.verdict.value, payload, at, at, at),
    )
    return _jobs(writing, "key = ?", (key,))[0]


def put_off(
    writing: Writing, key: str, *, payload: str, run: Trajectory, ref: str | None, now: datetime, until: datetime
) -> Job:
    """Let a job that nobody has taken up wait, with all others of its run's thread, and put what is now known into it.

    Args:
        ref: the run's episode, by which its thread is known.
    """
    of_thread = "(SELECT thread FROM episodes WHERE ref = :ref)"
    writing.execute(
        "UPDATE jobs SET due_at = :until, updated_at = :now WHERE status = 'queued' AND attempts = 0 "
        f"AND (key = :key OR key IN (SELECT '{GIVEN}' || ref FROM episodes WHERE thread = {of_thread}))",
        {"until": time_text(until), "now": time_text(now), "key": key, "ref": ref},
    )
    writing.execute(
        "UPDATE jobs SET payload = :payload, verdict = :verdict "
        "WHERE key = :key AND status = 'queued' AND attempts = 0",
        {"payload": payload, "verdict": run.verdict.value, "key": key},
    )
    return _jobs(writing, "key = ?", (key,))[0]


# A job that was written in days to come was written by a clock that was wrong: it is not waited for.
_DUE = "status IN ('queued', 'running') AND (due_at <= :now OR updated_at > :ahead)"
_AHEAD = timedelta(days=1)


def _due(now: datetime) -> dict[str, str]:
    return {"now": time_text(now), "ahead": time_text(shifted(now, _AHEAD))}


def is_due(reading: Reading, now: datetime) -> bool:
    """Tell whether there is a job to take."""
    return reading.execute(f"SELECT 1 FROM jobs WHERE {_DUE} LIMIT 1", _due(now)).fetchone() is not None


def take(writing: Writing, *, token: str, now: datetime) -> Held | None:
    """Hold the job that is due first, if there is one: a queued one, or one whose worker is dead."""
    while True:
        row = writing.execute(
            f"SELECT id, attempts, payload, task_key, kind, status FROM jobs WHERE {_DUE} ORDER BY due_at, n LIMIT 1",
            _due(now),
        ).fetchone()
        if row is None:
            return None
        job_id, attempts, payload, task, kind, status = row
        if status == "running" and attempts >= MOST_ATTEMPTS:
            # It may be what kills them.
            _end(writing, job_id, DistillStatus.FAILED, f"{attempts} workers died of it or with it", "{}", now)
            continue
        writing.execute(
            "UPDATE jobs SET status = 'running', token = ?, attempts = attempts + 1, due_at = ?, updated_at = ? "
            "WHERE id = ?",
            (token, time_text(shifted(now, LEASE)), time_text(now), job_id),
        )
        earlier = _earlier(writing, task, job_id) if kind == "run" else ()
        return Held(_jobs(writing, "id = ?", (job_id,))[0], token, json.loads(payload), earlier)


def _earlier(reading: Reading, task: str, job_id: str) -> tuple[Trajectory, ...]:
    """Return other judged runs of the same task, the newest of each verdict first."""
    rows = reading.execute(
        "SELECT payload FROM jobs WHERE task_key = ? AND kind = 'run' AND id <> ? "
        "AND verdict IN ('success', 'failure') ORDER BY n DESC LIMIT ?",
        (task, job_id, EARLIER_RUNS),
    )
    return tuple(Trajectory.model_validate_json(payload) for (payload,) in rows)


def renew(writing: Writing, held: Held, now: datetime) -> bool:
    """Hold a job for another while; False when it is no longer this worker's."""
    renewed = writing.execute(
        "UPDATE jobs SET due_at = ? WHERE id = ? AND token = ? AND status = 'running'",
        (time_text(shifted(now, LEASE)), held.job.id, held.token),
    )
    return renewed.rowcount == 1


def is_held(reading: Reading, held: Held) -> bool:
    """Tell whether a job is still this worker's."""
    hold = "SELECT 1 FROM jobs WHERE id = ? AND token = ? AND status = 'running'"
    return reading.execute(hold, (held.job.id, held.token)).fetchone() is not None


def finish(
    writing: Writing,
    held: Held,
    status: DistillStatus,
    *,
    reason: str,
    run: Trajectory,
    memories: Sequence[str],
    counts: Mapping[str, int],
    now: datetime,
) -> None:
    """Write down what came of a job that is held; a run that was judged on the way keeps its verdict."""
    outcome = json.dumps({"memories": list(memories), "counts": dict(counts)})
    writing.execute(
        "UPDATE jobs SET verdict = ?, payload = CASE kind WHEN 'run' THEN ? ELSE payload END WHERE id = ?",
        (run.verdict.value, run.model_dump_json(), held.job.id),
    )
    _end(writing, held.job.id, status, reason, outcome, now)


def fail(writing: Writing, held: Held, reason: str, now: datetime) -> None:
    """Put a job that is held back into the queue after a pause, or at its end if it had all its attempts."""
    if held.job.attempts >= MOST_ATTEMPTS:
        _end(writing, held.job.id, DistillStatus.FAILED, reason, "{}", now)
        return
    writing.execute(
        "UPDATE jobs SET status = 'queued', token = '', reason = ?, due_at = ?, updated_at = ? WHERE id = ?",
        (reason[:1_000], time_text(shifted(now, pause_after(held.job.attempts))), time_text(now), held.job.id),
    )


def _end(writing: Writing, job_id: str, status: DistillStatus, reason: str, outcome: str, now: datetime) -> None:
    writing.execute(
        "UPDATE jobs SET status = ?, token = '', reason = ?, outcome = ?, updated_at = ? WHERE id = ?",
        (status.value, reason[:1_000], outcome, time_text(now), job_id),
    )


def retry(writing: Writing, job_id: str, now: datetime) -> Job | None:
    """Put a job that ended without lessons back into the queue, with all its attempts; others stay as they are."""
    writing.execute(
        "UPDATE jobs SET status = 'queued', attempts = 0, due_at = :now, updated_at = :now, outcome = '{}' "
        "WHERE id = :id AND status IN (:retryable)",
        {"now": time_text(now), "id": job_id, "retryable": list(RETRYABLE)},
    )
    return find(writing, job_id)


def find(reading: Reading, job_id: str) -> Job | None:
    """Return a job."""
    return next(iter(_jobs(reading, "id = ?", (job_id,))), None)


def page(reading: Reading, statuses: Iterable[DistillStatus], limit: int) -> list[Job]:
    """Return jobs with one of these statuses, the newest first."""
    asked = {"statuses": list(statuses), "limit": limit}
    return _jobs(reading, "status IN (:statuses) ORDER BY n DESC LIMIT :limit", asked)


def counts(reading: Reading) -> dict[str, int]:
    """Return how many jobs there are with each status."""
    return dict(reading.execute("SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status").fetchall())


def forget(writing: Writing, before: datetime) -> int:
    """Delete jobs that ended before a time with lessons, or with nothing to learn; others are kept for a retry."""
    ended = (DistillStatus.DONE.value, DistillStatus.EMPTY.value, time_text(before))
    return writing.execute("DELETE FROM jobs WHERE status IN (?, ?) AND updated_at < ?", ended).rowcount


def _jobs(reading: Reading, which: str, values: Values) -> list[Job]:
    rows = reading.execute(f"SELECT {_COLUMNS} FROM jobs WHERE {which}", values).fetchall()
    outcomes = [json.loads(row[8]) for row in rows]
    made = [memory for outcome in outcomes for memory in outcome.get("memories", ())]
    # A job's lessons are those that are still there.
    there = records.numbers_of(reading, made)
    return [_job(row, outcome, there) for row, outcome in zip(rows, outcomes, strict=True)]


def _job(row: Sequence[Any], outcome: Mapping[str, Any], there: Container[str]) -> Job:
    return Job(
        id=row[0],
        kind=row[1],
        status=DistillStatus(row[2]),
        task=row[3],
        verdict=Verdict(row[4]),
        attempts=row[5],
        due_at=parse_time(row[6]),
        reason=row[7],
        created_at=parse_time(row[9]),
        updated_at=parse_time(row[10]),
        memories=tuple(memory for memory in outcome.get("memories", ()) if memory in there),
        counts=outcome.get("counts", {}),
    )
