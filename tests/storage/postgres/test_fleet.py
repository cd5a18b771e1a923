"""A fleet of workers on one server: each job once, woken when there is one, in no tenant that they may not see."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from benchmarks.engines_server import pooled
from reasoningbank import BankRoot, ReasoningBank, ScopeError, TemplateDistiller, Tenants
from reasoningbank import server as servers
from reasoningbank.bank import utc_now
from reasoningbank.runs import DistillStatus
from reasoningbank.services.upkeep import rounds
from reasoningbank.storage.postgres import fleet
from tests.processes import exit_code, start
from tests.servers import Postgres

RUN = {"task": "Load sales.csv", "steps": ["parsed it with csv.reader"], "verdict": "success"}
PROJECTS = [(tenant, f"p{n}") for tenant in ("acme", "globex") for n in range(3)]


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


@pytest.fixture
def workers(server: Postgres) -> Iterator[str]:
    """The address of a role that may take work of every tenant."""
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("CREATE ROLE workers LOGIN PASSWORD 'of the workers'")
    servers.init(server.owner, fleet="workers")
    yield server.application.replace("application:of%20the%20banks", "workers:of%20the%20workers")
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("DROP POLICY every_tenant ON reasoningbank.projects")
        connection.execute("DROP OWNED BY workers")
        connection.execute("DROP ROLE workers")


def bank_of(root: str, tenant: str = "acme", project: str = "p0", **options: Any) -> ReasoningBank:
    return ReasoningBank(root, tenant=tenant, project=project, embedder="hash", **options)


def put(root: str, many: int) -> set[str]:
    sessions = set()
    for tenant, project in PROJECTS:
        with bank_of(root, tenant, project) as bank:
            for n in range(many):
                session = f"{tenant}-{project}-{n}"
                bank.queue.put(RUN | {"session": session, "task": f"Load {session}.csv"})
                sessions.add(session)
    return sessions


class Noting(TemplateDistiller):
    """Notes in a file which runs it was given; at the one after so many it gets stuck."""

    def __init__(self, file: Path, stuck_after: int | None = None) -> None:
        super().__init__()
        self._file, self._left = file, stuck_after

    def distill(self, run: Any, earlier: Any = ()) -> Any:
        with self._file.open("a") as noted:
            noted.write(f"{run.session}\n")
        if self._left is not None:
            if self._left == 0:
                threading.Event().wait()
            self._left -= 1
        return super().distill(run, earlier)


def statuses(root: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for tenant, project in PROJECTS:
        with bank_of(root, tenant, project) as bank:
            found.update(bank.upkeep.status().jobs)
    return found


def test_of_several_processes_each_job_of_every_tenant_is_done_by_one(
    server: Postgres, workers: str, tmp_path: Path
) -> None:
    sessions = put(server.application, 8)

    def work() -> None:
        with Tenants(workers, embedder="hash") as tenants:
            worker = tenants.worker(Noting(tmp_path / "done"))
            # Others may be at the last ones.
            while statuses(server.application)["queued"]:
                list(worker.run_until_empty())

    assert [exit_code(child) for child in [start(work) for _ in range(3)]] == [0, 0, 0]
    assert sorted((tmp_path / "done").read_text().split()) == sorted(sessions)
    assert statuses(server.application) == {"done": len(sessions)}


def test_a_fleet_of_one_tenant_takes_nothing_of_another(server: Postgres, tmp_path: Path) -> None:
    put(server.application, 3)

    def work() -> None:
        with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
            list(banks.worker(Noting(tmp_path / "done")).run_until_empty())

    assert [exit_code(child) for child in [start(work) for _ in range(2)]] == [0, 0]
    assert {line.split("-")[0] for line in (tmp_path / "done").read_text().split()} == {"acme"}
    assert statuses(server.application)["queued"] == 9


def test_work_of_every_tenant_is_for_a_role_that_may_see_it(server: Postgres, workers: str) -> None:
    put(server.application, 1)
    with Tenants(server.application) as tenants:
        with pytest.raises(ScopeError, match=r"server init.*--fleet"):
            tenants.worker().run_once()
        with pytest.raises(ScopeError, match="name one"), tenants.worker():
            pytest.fail("a worker was started that can never take a job")
        with pytest.raises(ScopeError, match="name one"):
            tenants.maintain()

    # It sees the names of projects, and rows only in the one that it is in.
    with psycopg.connect(workers, autocommit=True) as connection, connection.transaction():
        connection.execute("SELECT * FROM reasoningbank.enter('', 0, '1s', '')")
        for table, seen in (("projects", 6), ("jobs", 0), ("memories", 0), ("meta", 0)):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (seen,)
    with psycopg.connect(server.application, autocommit=True) as connection, connection.transaction():
        connection.execute("SELECT * FROM reasoningbank.enter('', 0, '1s', '')")
        assert connection.execute("SELECT count(*) FROM projects").fetchone() == (0,)


def test_a_worker_may_be_started_before_its_server(caplog: pytest.LogCaptureFixture) -> None:
    with Tenants("postgresql://nobody@127.0.0.1:1/none") as tenants, tenants.worker(poll=0.05):
        pass
    assert "could not reach its queue yet" in caplog.text


def test_the_right_is_given_to_one_role_after_the_other(server: Postgres, workers: str) -> None:
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("CREATE ROLE more LOGIN")
        try:
            servers.init(server.owner, fleet="more")
            servers.init(server.owner, fleet="more")
            asked = "SELECT polroles::regrole[]::text FROM pg_policy WHERE polname = 'every_tenant'"
            assert connection.execute(asked).fetchall() == [("{more,workers}",)]
        finally:
            connection.execute("DROP OWNED BY more")
            connection.execute("DROP ROLE more")


def test_a_worker_that_is_killed_gives_its_job_back_when_its_hold_is_over(server: Postgres, tmp_path: Path) -> None:
    noted = tmp_path / "done"
    sessions = {session for session in put(server.application, 4) if session.startswith("acme")}

    def work() -> None:
        with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
            list(banks.worker(Noting(noted, stuck_after=3)).run_until_empty())

    child = start(work)
    wait_for(lambda: noted.exists() and len(noted.read_text().split()) == 4)
    os.kill(child, signal.SIGKILL)
    assert exit_code(child) == -signal.SIGKILL

    with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
        list(banks.worker(Noting(noted)).run_until_empty())
    stuck = noted.read_text().split()[3]
    assert Counter(noted.read_text().split()) == Counter(sessions)
    assert statuses(server.application)["running"] == 1

    later: dict[str, Any] = {"embedder": "hash", "clock": lambda: utc_now() + timedelta(seconds=61)}
    with BankRoot(server.application, tenant="acme", **later) as banks:
        list(banks.worker(Noting(noted)).run_until_empty())
    assert Counter(noted.read_text().split()) == Counter({**dict.fromkeys(sessions, 1), stuck: 2})
    assert statuses(server.application)["done"] == len(sessions)


@pytest.mark.parametrize(
    ("jobs", "kills"), [(4, 3), pytest.param(60, 100, marks=[pytest.mark.exhaustive, pytest.mark.timeout(3_000)])]
)
def test_workers_killed_at_random_lose_no_job_and_do_none_twice(
    server: Postgres, workers: str, tmp_path: Path, jobs: int, kills: int
) -> None:
    random, moved = Random(7), tmp_path / "moved"
    moved.write_bytes(b"")
    sessions = set()
    for tenant, project in PROJECTS:
        with bank_of(server.application, tenant, project) as bank:
            for n in range(jobs):
                words = [f"{random.getrandbits(64):x}" for _ in range(20)]
                session = f"{tenant}-{project}-{n}"
                run = {"task": " ".join(words), "steps": words[:1], "verdict": "success", "session": session}
                bank.queue.put(run)
                sessions.add(session)

    def work() -> None:
        # The test moves it on, so that the hold of a worker that was killed runs out at once.
        with Tenants(
            workers, embedder="hash", clock=lambda: utc_now() + timedelta(seconds=moved.stat().st_size)
        ) as tenants:
            list(tenants.worker(Noting(tmp_path / "done")).run_until_empty())

    for _ in range(kills):
        noted = noted_in(tmp_path)
        pair = [start(work) for _ in range(2)]
        wait_for(lambda so_far=noted: noted_in(tmp_path) > so_far)  # type: ignore[misc]
        time.sleep(random.uniform(0.0, 0.05))
        for child in pair:
            os.kill(child, signal.SIGKILL)
            exit_code(child)
        with moved.open("ab") as clock:
            clock.write(b"." * 61)
    assert exit_code(start(work)) == 0

    assert statuses(server.application) == {"done": len(sessions)}
    stored = []
    for tenant, project in PROJECTS:
        with bank_of(server.application, tenant, project) as bank:
            stored += [str(memory.source.session) for memory in bank.list(limit=1_000).memories]
    assert sorted(stored) == sorted(sessions)


def noted_in(folder: Path) -> int:
    """Return how many runs workers were given so far."""
    noted = folder / "done"
    return len(noted.read_text().split()) if noted.exists() else 0


def wait_for(met: Callable[[], bool], seconds: float = 30.0) -> float:
    """Return after how long something came about."""
    begun = time.monotonic()
    while not met():
        if time.monotonic() - begun > seconds:
            raise AssertionError("it did not come about")
        time.sleep(0.01)
    return time.monotonic() - begun


def is_done(bank: ReasoningBank, job: str) -> Callable[[], bool]:
    return lambda: bank.queue.get(job).status is DistillStatus.DONE


@contextmanager
def working(root: str, poll: float) -> Iterator[ReasoningBank]:
    """Let a worker of all projects of acme wait for jobs; give one of its banks."""
    with BankRoot(root, tenant="acme", embedder="hash") as banks, bank_of(root) as bank, banks.worker(poll=poll):
        yield bank


def test_a_worker_that_waits_is_woken_by_a_job(server: Postgres) -> None:
    with working(server.application, poll=3_600.0) as bank:
        # The first is put before it listens, or finds it looking; from then on it waits.
        for n in range(3):
            job = bank.queue.put(RUN | {"session": str(n)}).id
            wait_for(is_done(bank, job), fleet.LONGEST / 2)


def test_a_worker_whose_line_was_cut_listens_anew(server: Postgres) -> None:
    with working(server.application, poll=0.05) as bank:
        wait_for(is_done(bank, bank.queue.put(RUN).id))
        server.end_sessions()
        wait_for(is_done(bank, bank.queue.put(RUN | {"session": "2"}).id), fleet.LONGEST / 2)


def test_a_pause_ends_without_anyone_telling_of_it(server: Postgres) -> None:
    with working(server.application, poll=3_600.0) as bank:
        bank.recall("Load sales.csv", ref="r")
        job = bank.queue.put(RUN, ref="r", key="r", rest=1.5).id
        assert wait_for(is_done(bank, job), fleet.LONGEST / 2) > 1.0


def test_behind_a_pooler_a_worker_looks_now_and_then(server: Postgres, tmp_path: Path) -> None:
    try:
        with pooled(server, tmp_path) as root, working(root, poll=0.05) as bank:
            for n in range(3):
                wait_for(is_done(bank, bank.queue.put(RUN | {"session": str(n)}).id))
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def test_of_several_processes_one_keeps_a_project(
    server: Postgres, workers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(server.application, 1)
    from reasoningbank.services.upkeep.maintain import maintain

    def slow(engine: Any, now: Any, **options: Any) -> Any:
        # Longer than the hold: it is renewed.
        time.sleep(0.4)
        with (tmp_path / "kept").open("a") as noted:
            noted.write(f"{engine.tenant}-{engine.project_name}\n")
        return maintain(engine, now, **options)

    monkeypatch.setattr(rounds, "maintain", slow)
    monkeypatch.setattr("reasoningbank.storage.due.HOLD", timedelta(seconds=0.3))
    monkeypatch.setattr("reasoningbank.services.runs.worker.LEASE", timedelta(seconds=0.06))

    def keep() -> None:
        with Tenants(workers, embedder="hash") as tenants:
            for _ in range(8):
                tenants.maintain()
                time.sleep(0.1)

    assert [exit_code(child) for child in [start(keep) for _ in range(3)]] == [0, 0, 0]
    assert sorted((tmp_path / "kept").read_text().split()) == [f"{tenant}-{project}" for tenant, project in PROJECTS]


def test_what_was_moved_away_is_nobodys_work_on_the_server(server: Postgres, tmp_path: Path) -> None:
    put(server.application, 1)
    with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
        banks.move("p0", tmp_path / "elsewhere")
        assert len(list(banks.worker().run_until_empty())) == 2
        assert sorted(one.project for one in banks.maintain()) == ["p1", "p2"]


def test_what_waits_when_a_server_is_brought_up_to_date_is_found(server: Postgres) -> None:
    put(server.application, 1)
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("SET search_path = reasoningbank")
        before = connection.execute("SELECT name, tenant, jobs_due FROM projects ORDER BY number").fetchall()
        assert all(due for _, _, due in before)
        schema = Path(fleet.__file__).parent / "schema" / "0028_fleet.sql"
        connection.execute("BEGIN")
        connection.execute(
            "DROP TRIGGER jobs_changed ON jobs; DROP TRIGGER upkeep_put ON meta; DROP FUNCTION jobs_changed(); "
            "DROP FUNCTION upkeep_put(); ALTER TABLE projects DROP COLUMN jobs_due, DROP COLUMN upkeep_due; "
            "SET LOCAL ROLE owner"
        )
        connection.execute(schema.read_text("utf-8"))
        assert connection.execute("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'jobs'").fetchone() == (
            True,
        )
        connection.execute("COMMIT")
        after = connection.execute("SELECT name, tenant, jobs_due FROM projects ORDER BY number").fetchall()
    assert after == before
