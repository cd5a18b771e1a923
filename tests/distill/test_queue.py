from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reasoningbank.distill import queue
from reasoningbank.distill.distillation import Distillation, DistillStatus, Rejection
from reasoningbank.distill.queue import LEASE, MOST_ATTEMPTS, Held, Job, JobStatus, pause_after, task_key
from reasoningbank.runs.trajectory import RunVerdict, Step, Trajectory
from reasoningbank.storage.lifecycle import create_database

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
RUN = Trajectory(task="List files", steps=(Step(action="ls"),), verdict=RunVerdict.SUCCESS)
DONE = Distillation(DistillStatus.DONE)


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "bank.sqlite3"
    create_database(path, {})
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def add(rows: sqlite3.Connection, run: Trajectory = RUN, key: str | None = None, now: datetime = NOW) -> Job:
    payload = run.model_dump_json()
    key = key or queue.key_of("run", payload)
    count = rows.execute("SELECT count(*) FROM jobs").fetchone()[0]
    return queue.add(rows, kind="run", payload=payload, run=run, key=key, job_id=f"j{count}", now=now)


def take(rows: sqlite3.Connection, token: str = "a", now: datetime = NOW) -> Held:
    held = queue.take(rows, token=token, now=now)
    assert held is not None
    return held


def finish(rows: sqlite3.Connection, held: Held, result: Distillation = DONE, **given: object) -> None:
    options: dict[str, object] = {"run": RUN, "memories": ["m1"], "duplicates": 0, "now": NOW, **given}
    queue.finish(rows, held, result, **options)  # type: ignore[arg-type]


def test_a_run_enqueued_again_is_the_same_job() -> None:
    assert task_key("List  files!") == task_key("list files")
    assert task_key("List files") != task_key("List dirs")


def test_the_same_run_is_one_job_and_another_verdict_is_another(rows: sqlite3.Connection) -> None:
    first, again = add(rows), add(rows)
    other = add(rows, RUN.model_copy(update={"verdict": RunVerdict.FAILURE}))

    assert again == first
    assert other.id != first.id


def test_a_key_makes_two_runs_one_job(rows: sqlite3.Connection) -> None:
    assert add(rows, key="k").id == add(rows, Trajectory(task="other"), key="k").id


def test_jobs_are_taken_in_their_order_and_by_one_worker(rows: sqlite3.Connection) -> None:
    first, second = add(rows, key="1"), add(rows, key="2")

    assert [take(rows, "a").job.id, take(rows, "b").job.id] == [first.id, second.id]
    assert queue.take(rows, token="c", now=NOW) is None
    assert not queue.is_due(rows, NOW)


def test_a_job_carries_its_run(rows: sqlite3.Connection) -> None:
    add(rows)

    held = take(rows)

    assert held.run == RUN
    assert (held.job.status, held.job.attempts, held.job.due_at) == (JobStatus.RUNNING, 1, NOW + LEASE)


def test_the_job_of_a_dead_worker_is_taken_up_again_and_the_dead_cannot_finish_it(rows: sqlite3.Connection) -> None:
    add(rows)
    dead = take(rows, "dead")
    assert queue.take(rows, token="b", now=NOW + LEASE - timedelta(seconds=1)) is None

    alive = take(rows, "alive", NOW + LEASE)

    assert alive.job.attempts == 2
    assert not queue.is_held(rows, dead)
    assert queue.is_held(rows, alive)


def test_a_worker_that_renews_keeps_its_job(rows: sqlite3.Connection) -> None:
    add(rows)
    held = take(rows)

    assert queue.renew(rows, held, NOW + LEASE / 2)
    assert queue.take(rows, token="b", now=NOW + LEASE) is None
    take(rows, "b", NOW + 2 * LEASE)
    assert not queue.renew(rows, held, NOW + 2 * LEASE)


def test_a_finished_job_tells_what_came_of_it(rows: sqlite3.Connection) -> None:
    add(rows, Trajectory(task="t"))
    judged = Trajectory(task="t", verdict=RunVerdict.FAILURE, reason="wrong")
    result = Distillation(DistillStatus.DONE, rejected=(Rejection("cut off"),))

    finish(rows, take(rows), result, run=judged, memories=["m1", "m2"], duplicates=1)

    job = queue.find(rows, "j0")
    assert job is not None
    assert (job.status, job.verdict, job.memories) == (JobStatus.DONE, RunVerdict.FAILURE, ("m1", "m2"))
    assert job.counts == {"lessons": 2, "cut off": 1, "duplicates": 1}
    assert job.status.is_over


def test_earlier_judged_runs_of_the_task_come_with_a_job(rows: sqlite3.Connection) -> None:
    add(rows, Trajectory(task="list FILES", verdict=RunVerdict.FAILURE, result="lost"))
    add(rows, Trajectory(task="List files"))
    add(rows, Trajectory(task="other", verdict=RunVerdict.FAILURE))
    add(rows)

    earlier = [take(rows, str(n)).earlier for n in range(4)][-1]

    assert [run.result for run in earlier] == ["lost"]


def test_a_failed_attempt_is_tried_again_later_and_the_last_one_ends_it(rows: sqlite3.Connection) -> None:
    add(rows)
    now = NOW
    for attempt in range(1, MOST_ATTEMPTS + 1):
        held = take(rows, str(attempt), now)
        queue.fail(rows, held, "no answer", now)
        now += pause_after(attempt)

    job = queue.find(rows, "j0")
    assert job is not None
    assert (job.status, job.reason, job.attempts) == (JobStatus.FAILED, "no answer", MOST_ATTEMPTS)
    assert queue.take(rows, token="x", now=now + timedelta(days=1)) is None


def test_pauses_double_up_to_an_hour() -> None:
    assert [pause_after(n).total_seconds() for n in (0, 1, 2, 3, 20)] == [30, 30, 60, 120, 3600]


def test_a_job_that_its_workers_die_of_ends_as_failed_and_holds_up_no_other(rows: sqlite3.Connection) -> None:
    add(rows, key="deadly")
    now = NOW
    for attempt in range(MOST_ATTEMPTS):
        take(rows, str(attempt), now)
        now += LEASE
    later = add(rows, key="later", now=now)

    assert take(rows, "x", now).job.id == later.id
    job = queue.find(rows, "j0")
    assert job is not None
    assert (job.status, job.reason) == (JobStatus.FAILED, f"{MOST_ATTEMPTS} workers died of it or with it")


def test_a_retry_gives_all_attempts_back_and_leaves_what_is_done_or_waiting(rows: sqlite3.Connection) -> None:
    add(rows, key="1")
    finish(rows, take(rows), Distillation(DistillStatus.TRUNCATED, reason="cut"), memories=[])
    add(rows, key="2")
    finish(rows, take(rows))

    retried, done = queue.retry(rows, "j0", NOW), queue.retry(rows, "j1", NOW)

    assert retried is not None
    assert done is not None
    assert (retried.status, retried.attempts, done.status) == (JobStatus.QUEUED, 0, JobStatus.DONE)
    assert queue.retry(rows, "none", NOW) is None
    assert not retried.status.is_over


def test_jobs_are_listed_by_status_the_newest_first_and_counted(rows: sqlite3.Connection) -> None:
    for key in "123":
        add(rows, key=key)
    finish(rows, take(rows))

    assert [job.id for job in queue.page(rows, JobStatus, 2)] == ["j2", "j1"]
    assert [job.id for job in queue.page(rows, [JobStatus.DONE], 9)] == ["j0"]
    assert queue.counts(rows) == {"done": 1, "queued": 2}


def test_old_jobs_are_forgotten_unless_a_retry_may_help(rows: sqlite3.Connection) -> None:
    for number, status in enumerate((DistillStatus.DONE, DistillStatus.EMPTY, DistillStatus.TRUNCATED)):
        add(rows, key=str(number))
        finish(rows, take(rows), Distillation(status))
    add(rows, key="waiting")

    assert queue.forget(rows, NOW) == 0
    assert queue.forget(rows, NOW + timedelta(days=1)) == 2
    assert queue.counts(rows) == {"queued": 1, "truncated": 1}


def test_an_anti_pattern_has_no_run_to_compare_and_keeps_its_payload(rows: sqlite3.Connection) -> None:
    payload = json.dumps({"reason": "x"})
    add(rows)
    queue.add(rows, kind="anti-pattern", payload=payload, run=RUN, key="k", job_id="anti", now=NOW)
    take(rows)

    held = take(rows, "b")
    finish(rows, held)

    assert (held.earlier, held.payload) == ((), {"reason": "x"})
    assert rows.execute("SELECT payload FROM jobs WHERE id = 'anti'").fetchone()[0] == payload
