from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from reasoningbank import Verdict
from reasoningbank.runs.jobs import LEASE, MOST_ATTEMPTS, DistillStatus, Held, Job, key_of, pause_after
from reasoningbank.runs.trajectory import Step, Trajectory
from reasoningbank.storage import jobs
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.project import Project
from tests.storage.files import NOON, project

__all__ = ["project"]

RUN = Trajectory(task="List files", steps=(Step(action="ls"),), verdict=Verdict.SUCCESS)


@pytest.fixture
def writing(project: Project) -> Iterator[Writing]:
    with project.write() as writing:
        yield writing


def add(writing: Writing, run: Trajectory = RUN, key: str | None = None, now: datetime = NOON) -> Job:
    payload = run.model_dump_json()
    key = key or key_of("run", payload)
    count = sum(jobs.counts(writing).values())
    return jobs.add(writing, kind="run", payload=payload, run=run, key=key, job_id=f"j{count}", now=now)


def take(writing: Writing, token: str = "a", now: datetime = NOON) -> Held:
    held = jobs.take(writing, token=token, now=now)
    assert held is not None
    return held


def finish(writing: Writing, held: Held, status: DistillStatus = DistillStatus.DONE, **given: object) -> None:
    options: dict[str, object] = {"reason": "", "run": RUN, "memories": ["m1"], "counts": {}, "now": NOON, **given}
    jobs.finish(writing, held, status, **options)  # type: ignore[arg-type]


def test_the_same_run_is_one_job_and_another_verdict_is_another(writing: Writing) -> None:
    first, again = add(writing), add(writing)
    other = add(writing, RUN.model_copy(update={"verdict": Verdict.FAILURE}))

    assert again == first
    assert other.id != first.id


def test_a_key_makes_two_runs_one_job(writing: Writing) -> None:
    assert add(writing, key="k").id == add(writing, Trajectory(task="other"), key="k").id


def test_jobs_are_taken_in_their_order_and_by_one_worker(writing: Writing) -> None:
    first, second = add(writing, key="1"), add(writing, key="2")

    assert [take(writing, "a").job.id, take(writing, "b").job.id] == [first.id, second.id]
    assert jobs.take(writing, token="c", now=NOON) is None
    assert not jobs.is_due(writing, NOON)


def test_a_job_carries_its_run(writing: Writing) -> None:
    add(writing)

    held = take(writing)

    assert held.run == RUN
    assert (held.job.status, held.job.attempts, held.job.due_at) == (DistillStatus.RUNNING, 1, NOON + LEASE)


def test_the_job_of_a_dead_worker_is_taken_up_again_and_the_dead_cannot_finish_it(writing: Writing) -> None:
    add(writing)
    dead = take(writing, "dead")
    assert jobs.take(writing, token="b", now=NOON + LEASE - timedelta(seconds=1)) is None

    alive = take(writing, "alive", NOON + LEASE)

    assert alive.job.attempts == 2
    assert not jobs.is_held(writing, dead)
    assert jobs.is_held(writing, alive)


def test_a_worker_that_renews_keeps_its_job(writing: Writing) -> None:
    add(writing)
    held = take(writing)

    assert jobs.renew(writing, held, NOON + LEASE / 2)
    assert jobs.take(writing, token="b", now=NOON + LEASE) is None
    take(writing, "b", NOON + 2 * LEASE)
    assert not jobs.renew(writing, held, NOON + 2 * LEASE)


def test_a_finished_job_tells_what_came_of_it(writing: Writing) -> None:
    add(writing, Trajectory(task="t"))
    judged = Trajectory(task="t", verdict=Verdict.FAILURE, reason="wrong")
    counts = {"lessons": 2, "cut off": 1, "duplicates": 1}

    finish(writing, take(writing), run=judged, counts=counts)

    job = jobs.find(writing, "j0")
    assert job is not None
    assert (job.status, job.verdict, job.reason) == (DistillStatus.DONE, Verdict.FAILURE, "")
    assert job.counts == counts
    assert job.status.is_over


def test_earlier_judged_runs_of_the_task_come_with_a_job(writing: Writing) -> None:
    add(writing, Trajectory(task="list FILES", verdict=Verdict.FAILURE, result="lost"))
    add(writing, Trajectory(task="List files"))
    add(writing, Trajectory(task="other", verdict=Verdict.FAILURE))
    add(writing)

    earlier = [take(writing, str(n)).earlier for n in range(4)][-1]

    assert [run.result for run in earlier] == ["lost"]


def test_a_failed_attempt_is_tried_again_later_and_the_last_one_ends_it(writing: Writing) -> None:
    add(writing)
    now = NOON
    for attempt in range(1, MOST_ATTEMPTS + 1):
        held = take(writing, str(attempt), now)
        jobs.fail(writing, held, "no answer", now)
        now += pause_after(attempt)

    job = jobs.find(writing, "j0")
    assert job is not None
    assert (job.status, job.reason, job.attempts) == (DistillStatus.FAILED, "no answer", MOST_ATTEMPTS)
    assert jobs.take(writing, token="x", now=now + timedelta(days=1)) is None


def test_a_job_that_its_workers_die_of_ends_as_failed_and_holds_up_no_other(writing: Writing) -> None:
    add(writing, key="deadly")
    now = NOON
    for attempt in range(MOST_ATTEMPTS):
        take(writing, str(attempt), now)
        now += LEASE
    later = add(writing, key="later", now=now)

    assert take(writing, "x", now).job.id == later.id
    job = jobs.find(writing, "j0")
    assert job is not None
    assert (job.status, job.reason) == (DistillStatus.FAILED, f"{MOST_ATTEMPTS} workers died of it or with it")


def test_a_retry_gives_all_attempts_back_and_leaves_what_is_done_or_waiting(writing: Writing) -> None:
    add(writing, key="1")
    finish(writing, take(writing), DistillStatus.TRUNCATED, reason="cut", memories=[])
    add(writing, key="2")
    finish(writing, take(writing))

    retried, done = jobs.retry(writing, "j0", NOON), jobs.retry(writing, "j1", NOON)

    assert retried is not None
    assert done is not None
    assert (retried.status, retried.attempts, done.status) == (DistillStatus.QUEUED, 0, DistillStatus.DONE)
    assert jobs.retry(writing, "none", NOON) is None
    assert not retried.status.is_over


def test_jobs_are_listed_by_status_the_newest_first_and_counted(writing: Writing) -> None:
    for key in "123":
        add(writing, key=key)
    finish(writing, take(writing))

    assert [job.id for job in jobs.page(writing, DistillStatus, 2)] == ["j2", "j1"]
    assert [job.id for job in jobs.page(writing, [DistillStatus.DONE], 9)] == ["j0"]
    assert jobs.counts(writing) == {"done": 1, "queued": 2}


def test_old_jobs_are_forgotten_unless_a_retry_may_help(writing: Writing) -> None:
    for number, status in enumerate((DistillStatus.DONE, DistillStatus.EMPTY, DistillStatus.TRUNCATED)):
        add(writing, key=str(number))
        finish(writing, take(writing), status)
    add(writing, key="waiting")

    assert jobs.forget(writing, NOON) == 0
    assert jobs.forget(writing, NOON + timedelta(days=1)) == 2
    assert jobs.counts(writing) == {"queued": 1, "truncated": 1}


def test_an_anti_pattern_has_no_run_to_compare_and_keeps_its_payload(writing: Writing) -> None:
    payload = json.dumps({"reason": "x"})
    add(writing)
    jobs.add(writing, kind="anti-pattern", payload=payload, run=RUN, key="k", job_id="anti", now=NOON)
    take(writing)

    held = take(writing, "b")
    finish(writing, held)

    assert (held.earlier, held.payload) == ((), {"reason": "x"})
    assert writing.execute("SELECT payload FROM jobs WHERE id = 'anti'").fetchone()[0] == payload
