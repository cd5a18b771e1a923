"""Work of many projects: each job and each round of upkeep is done once, in its own project."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, ReasoningBank, TemplateDistiller, Tenants
from reasoningbank.runs import DistillStatus
from tests.conftest import Clock, OpenBank

RUN = {"task": "Load sales.csv", "steps": ["parsed it with csv.reader"], "verdict": "success"}


@pytest.fixture
def banks(bank_root: Path | str, clock: Clock) -> Iterator[BankRoot]:
    with BankRoot(bank_root, tenant="acme", embedder="hash", clock=clock) as opened:
        yield opened


def queued(bank: ReasoningBank, session: str = "1") -> str:
    return bank.queue.put(RUN | {"session": session}).id


def test_a_worker_of_all_projects_does_the_jobs_of_each_in_it(open_bank: OpenBank, banks: BankRoot) -> None:
    own = {name: open_bank(project=name) for name in ("billing", "sales")}
    jobs = {name: [queued(bank, "1"), queued(bank, "2")] for name, bank in own.items()}

    done = list(banks.worker().run_until_empty())

    assert sorted(job.id for job in done) == sorted(job for of_one in jobs.values() for job in of_one)
    for name, bank in own.items():
        assert [bank.queue.get(job).status for job in jobs[name]] == [DistillStatus.DONE] * 2
        assert bank.count() == 1
    assert banks.worker().run_once() is None


def test_a_worker_of_one_tenant_leaves_the_jobs_of_others(open_bank: OpenBank, banks: BankRoot) -> None:
    foreign = open_bank(tenant="globex")
    job = queued(foreign)

    assert list(banks.worker().run_until_empty()) == []
    assert foreign.queue.get(job).status is DistillStatus.QUEUED
    assert banks.maintain() == []


def test_the_job_that_waits_longest_comes_first_and_pauses_are_kept(
    open_bank: OpenBank, banks: BankRoot, clock: Clock
) -> None:
    class Failing(TemplateDistiller):
        def distill(self, run: Any, earlier: Any = ()) -> Any:
            raise OSError("no model")

    job = queued(open_bank(project="one"))
    assert banks.worker(Failing()).run_once() is not None

    assert banks.worker().run_once() is None
    clock.move(seconds=31)
    done = banks.worker().run_once()
    assert done is not None
    assert (done.id, done.status) == (job, DistillStatus.DONE)


def test_a_worker_in_its_thread_takes_jobs_and_keeps_projects_when_it_is_idle(
    open_bank: OpenBank, banks: BankRoot
) -> None:
    bank = open_bank()
    kept = threading.Event()

    with banks.worker(poll=0.01, upkeep=True) as running:
        job = queued(bank)
        for _ in range(1_000):
            if bank.queue.get(job).status is DistillStatus.DONE:
                break
            kept.wait(0.01)
        else:
            raise AssertionError("the job was not done")
        for _ in range(1_000):
            if "upkeep_due" in facts(bank):
                break
            kept.wait(0.01)
    assert running.run_once() is None
    assert facts(bank)["upkeep_due"] > "2026-03-14T12:00"


def facts(bank: ReasoningBank) -> dict[str, str]:
    with bank._engine.read() as view:
        return dict(view.execute("SELECT key, value FROM meta").fetchall())


def test_each_project_has_one_round_a_day(open_bank: OpenBank, banks: BankRoot, clock: Clock) -> None:
    for name in ("billing", "sales"):
        open_bank(project=name).record("Quote paths", "Names may hold blanks.", outcome="failure", ttl=60)
    clock.move(hours=1)

    first = banks.maintain()

    assert sorted((one.tenant, one.project) for one in first) == [("acme", "billing"), ("acme", "sales")]
    assert [one.maintained.expired_memories if one.maintained else None for one in first] == [1, 1]
    assert banks.maintain() == []
    clock.move(hours=23, minutes=59)
    assert banks.maintain() == []
    clock.move(minutes=1)
    assert len(banks.maintain()) == 2


def test_a_round_forgets_jobs_that_ended_long_ago(open_bank: OpenBank, banks: BankRoot, clock: Clock) -> None:
    bank = open_bank()
    queued(bank)
    assert len(list(banks.worker().run_until_empty())) == 1
    clock.move(days=31)

    assert len(banks.maintain()) == 1
    assert bank.queue.list() == []


@pytest.mark.folder_only
def test_a_round_that_fails_says_why_keeps_nobody_from_others_and_is_due_again_after_an_hour(
    open_bank: OpenBank, banks: BankRoot, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("billing", "sales"):
        open_bank(project=name).record("Quote paths", "Names may hold blanks.", outcome="failure")
    spoiled = open_bank()
    with spoiled._engine.write() as edit:
        edit.execute("DROP TABLE trajectories")

    with caplog.at_level(logging.WARNING):
        done = {one.project: one for one in banks.maintain()}

    assert done["sales"].maintained is not None
    assert done["billing"].maintained is None
    assert done["billing"].problem
    assert "could not be done" in caplog.text
    clock.move(minutes=59)
    assert banks.maintain() == []
    clock.move(minutes=2)
    assert [one.project for one in banks.maintain()] == ["billing"]


@pytest.mark.folder_only
def test_a_folder_is_worked_for_every_tenant_and_one_that_cannot_be_read_is_passed_over(
    open_bank: OpenBank, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for tenant in ("acme", "globex"):
        queued(open_bank(tenant=tenant))
    broken = open_bank(tenant="acme", project="aardvark")
    queued(broken)
    with broken._engine.write() as edit:
        edit.execute("DROP TABLE jobs")

    with caplog.at_level(logging.WARNING), Tenants(tmp_path / "root", embedder="hash", clock=clock) as tenants:
        assert len(list(tenants.worker().run_until_empty())) == 2
        assert sorted((one.project, bool(one.problem)) for one in tenants.maintain()) == [
            ("aardvark", True),
            ("billing", False),
            ("billing", False),
        ]

    assert "aardvark" in caplog.text


@pytest.mark.folder_only
def test_what_was_moved_away_is_nobodys_work_here(open_bank: OpenBank, banks: BankRoot, tmp_path: Path) -> None:
    queued(open_bank())
    banks.move("billing", tmp_path / "elsewhere")

    assert banks.worker().run_once() is None
    assert banks.maintain() == []
