from __future__ import annotations

import logging
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import DistillStatus, ReasoningBank, StorageError, Trajectory
from reasoningbank.distill import Distillation
from reasoningbank.distill.distillation import Rejection
from reasoningbank.distill.template import TemplateDistiller
from reasoningbank.services.runs import distilling, worker

RUN = {"task": "Convert the report", "steps": [{"action": "convert", "observation": "ok"}], "verdict": "success"}


def run(number: int) -> dict[str, Any]:
    return {**RUN, "task": f"Convert report number {number}"}


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something holds that a worker brings about in its thread."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Slow(TemplateDistiller):
    """Waits until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def distill(self, run: Trajectory, earlier: Any = ()) -> Distillation:
        self.begun.set()
        assert self.go.wait(10)
        return super().distill(run, earlier)


class Broken(TemplateDistiller):
    def distill(self, run: Trajectory, earlier: Any = ()) -> Distillation:
        raise ZeroDivisionError("in the user's own code")


class Choosy(TemplateDistiller):
    """Rejects an item of every run."""

    def distill(self, run: Trajectory, earlier: Any = ()) -> Distillation:
        return replace(super().distill(run, earlier), rejected=(Rejection("cut off"),))


def test_a_worker_works_in_its_own_thread_while_it_is_entered(bank: ReasoningBank) -> None:
    jobs = [bank.queue.put(run(n)) for n in range(3)]

    with bank.queue.worker(poll=0.01):
        until(lambda: bank.upkeep.status().jobs == {"done": len(jobs)})
        bank.queue.put(run(3))
        until(lambda: bank.upkeep.status().jobs == {"done": len(jobs) + 1})

    assert "reasoningbank-worker" not in {thread.name for thread in threading.enumerate()}


def test_a_worker_on_a_bank_that_does_not_exist_writes_nothing(bank: ReasoningBank) -> None:
    with bank.queue.worker() as running:
        assert running.run_once() is None

    assert not Path(str(bank.root)).exists()


def test_at_the_end_the_job_at_hand_is_finished_and_the_rest_stays(bank: ReasoningBank) -> None:
    first, second = bank.queue.put(run(1)), bank.queue.put(run(2))
    slow = Slow()

    running = bank.queue.worker(slow)
    with running:
        assert slow.begun.wait(10)
        threading.Timer(0.05, slow.go.set).start()

    assert (bank.queue.get(first.id).status, bank.queue.get(second.id).status) == (
        DistillStatus.DONE,
        DistillStatus.QUEUED,
    )
    assert list(running.run_until_empty()) == []  # it was told to stop


def test_a_worker_that_was_never_entered_can_be_stopped(bank: ReasoningBank) -> None:
    bank.queue.put(RUN)
    stopped = bank.queue.worker()

    stopped.stop()

    assert list(stopped.run_until_empty()) == []


def test_two_workers_share_a_queue_and_do_no_job_twice(open_bank: Any) -> None:
    one, other = open_bank(), open_bank()
    jobs = [one.queue.put(run(n)) for n in range(30)]

    with one.queue.worker(poll=0.01), other.queue.worker(poll=0.01):
        until(lambda: one.upkeep.status().jobs == {"done": len(jobs)})

    assert {one.queue.get(job.id).attempts for job in jobs} == {1}


def test_a_fault_in_the_user_s_own_code_is_logged_with_its_traceback_and_keeps_the_job(
    bank: ReasoningBank, caplog: pytest.LogCaptureFixture
) -> None:
    bank.queue.put(RUN)

    job = bank.queue.worker(Broken()).run_once()

    assert job is not None
    assert (job.status, job.reason) == (DistillStatus.QUEUED, "ZeroDivisionError: in the user's own code")
    assert "Traceback" in caplog.text


def test_a_job_tells_how_many_items_were_rejected_and_why(bank: ReasoningBank) -> None:
    bank.queue.put(RUN)

    job = bank.queue.worker(Choosy()).run_once()

    assert job is not None
    assert job.counts == {"lessons": 1, "cut off": 1, "duplicates": 0}


def test_a_job_that_was_lost_meanwhile_stores_nothing_and_the_worker_goes_on(bank: ReasoningBank, clock: Any) -> None:
    bank.queue.put(run(1))
    taken: list[str] = []

    class Overtaken(TemplateDistiller):
        def distill(self, run: Trajectory, earlier: Any = ()) -> Distillation:
            if not taken:
                taken.append("x")
                clock.move(seconds=61)
                assert bank.queue.worker().run_once() is not None
                bank.queue.put({**RUN, "task": "Something else altogether"})
            return super().distill(run, earlier)

    job = bank.queue.worker(Overtaken()).run_once()

    assert job is not None
    assert job.task == "Something else altogether"
    assert bank.count() == 2


def test_the_hold_on_a_job_is_renewed_while_it_is_being_done(
    bank: ReasoningBank, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LEASE", timedelta(seconds=0.03))
    bank.queue.put(RUN)
    slow = Slow()

    with bank.queue.worker(slow):
        assert slow.begun.wait(10)
        before = bank.queue.list()[0].due_at
        clock.move(seconds=30)
        until(lambda: bank.queue.list()[0].due_at == before + timedelta(seconds=30))
        slow.go.set()


def test_a_hold_that_cannot_be_renewed_is_logged_and_one_that_is_lost_is_let_go(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker, "LEASE", timedelta(seconds=0.03))
    failures = [StorageError("disk full", path=Path("x"))]
    asked = threading.Event()

    def renew(engine: Any, held: Any) -> bool:
        if failures:
            raise failures.pop()
        asked.set()
        return False

    monkeypatch.setattr(distilling, "renew", renew)
    bank.queue.put(RUN)
    slow = Slow()

    with bank.queue.worker(slow):
        assert asked.wait(10)
        slow.go.set()

    assert "could not be renewed: disk full" in caplog.text


def test_a_queue_that_cannot_be_reached_is_logged_and_tried_again(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    take = distilling.take
    broken = [StorageError("gone", path=Path("x")), RuntimeError("odd")]

    def sometimes(engine: Any, token: str) -> Any:
        if broken:
            raise broken.pop()
        return take(engine, token)

    monkeypatch.setattr(distilling, "take", sometimes)
    monkeypatch.setattr(distilling, "forget", lambda engine: (_ for _ in ()).throw(StorageError("x", path=Path("x"))))
    job = bank.queue.put(RUN)

    with caplog.at_level(logging.WARNING), bank.queue.worker(poll=0.01):
        until(lambda: bank.queue.get(job.id).status is DistillStatus.DONE)

    assert "could not reach its queue" in caplog.text
    assert "old jobs were not forgotten" in caplog.text


def test_giving_back_a_job_that_was_lost_changes_nothing(bank: ReasoningBank, clock: Any) -> None:
    bank.queue.put(RUN)
    engine = bank._engine
    lost = distilling.take(engine, "a")
    assert lost is not None
    clock.move(seconds=61)
    held = distilling.take(engine, "b")
    assert held is not None

    distilling.give_back(engine, lost, "late")

    assert bank.queue.get(held.job.id).status is DistillStatus.RUNNING
    assert distilling.renew(engine, held)
    assert not distilling.renew(engine, lost)


def test_a_worker_forgets_jobs_that_ended_long_ago(bank: ReasoningBank, clock: Any) -> None:
    bank.queue.put(RUN)
    assert bank.queue.worker().run_once() is not None
    clock.move(days=31)

    with bank.queue.worker():
        pass

    assert bank.queue.list() == []


KILLED = textwrap.dedent("""
    import sys
    import threading
    from datetime import timedelta
    from itertools import count
    from pathlib import Path
    from reasoningbank import ReasoningBank, TemplateDistiller
    from reasoningbank.bank import utc_now

    root, moved, stuck_at = sys.argv[1:]
    number = count(1)

    def clock():
        # The test moves it on, so that the hold of a worker that was killed runs out at once.
        return utc_now() + timedelta(seconds=Path(moved).stat().st_size)

    class Loud(TemplateDistiller):
        def distill(self, run, earlier=()):
            print("at it", flush=True)
            if next(number) == int(stuck_at):
                threading.Event().wait()
            return super().distill(run, earlier)

    with ReasoningBank(root, tenant="acme", project="billing", embedder="hash", clock=clock) as bank:
        for job in bank.queue.worker(Loud()).run_until_empty():
            pass
""")


@pytest.mark.parametrize(
    ("jobs", "kills"), [(60, 2), pytest.param(10_000, 100, marks=[pytest.mark.exhaustive, pytest.mark.timeout(3_000)])]
)
def test_workers_killed_at_random_lose_no_job_and_do_none_twice(tmp_path: Path, jobs: int, kills: int) -> None:
    root, moved = tmp_path / "root", tmp_path / "moved"
    moved.write_bytes(b"")
    chance = random.Random(7)
    words = [f"{chance.getrandbits(64):x}" for _ in range(20 * jobs)]
    bank = ReasoningBank(root, tenant="acme", project="billing", embedder="hash")
    for number in range(jobs):
        own = words[20 * number : 20 * number + 20]
        bank.queue.put({"task": " ".join(own), "steps": [own[0]], "verdict": "success", "session": str(number)})

    command = [sys.executable, "-c", KILLED, str(root), str(moved)]
    for round_ in range(kills):
        turns = [chance.randint(1, 5 if jobs < 100 else 40) for _ in range(2)]
        # In the midst of a job the first time, then at any moment.
        stuck = [0 if round_ else turn for turn in turns]
        pair = [subprocess.Popen([*command, str(at)], stdout=subprocess.PIPE) for at in stuck]
        for process, turn in zip(pair, turns, strict=True):
            assert process.stdout is not None
            for _ in range(turn):
                process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.02) if round_ else 0.0)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        with moved.open("ab") as clock:
            clock.write(b"." * 61)
    subprocess.run([*command, "0"], check=True, stdout=subprocess.DEVNULL)

    left = bank.upkeep.status().jobs
    with bank._engine.read() as view:
        sessions = [session for (session,) in view.execute("SELECT source_session FROM memories")]
        attempts = view.execute("SELECT sum(attempts) FROM jobs").fetchone()[0]
    bank.close()
    assert left == {"done": jobs}
    assert sorted(sessions, key=lambda s: int(s or 0)) == [str(number) for number in range(jobs)]
    assert attempts >= jobs + 2  # those that were killed in the midst of a job


def test_a_job_is_of_its_project_only(open_bank: Any) -> None:
    job = open_bank(project="one").queue.put(RUN)

    assert open_bank(project="two").queue.list() == []
    assert open_bank(project="one").queue.get(job.id).id == job.id
