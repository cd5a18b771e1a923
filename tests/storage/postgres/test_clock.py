"""Processes whose clocks are wrong go by the server's: they take no work of others, and hold none for a year."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from reasoningbank import BankRoot, ReasoningBank, StorageError
from reasoningbank.bank import handle
from reasoningbank.runs.jobs import LEASE
from reasoningbank.storage import jobs
from reasoningbank.storage.postgres.clock import ServerTime
from tests.servers import Postgres

YEAR = timedelta(days=365)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


class Off(datetime):
    """The clock of a container that is wrong."""

    by = YEAR

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return datetime.now(UTC) + cls.by


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets this process's clock ahead."""

    def set_ahead(by: timedelta) -> None:
        monkeypatch.setattr(Off, "by", by)
        monkeypatch.setattr(handle, "datetime", Off)

    return set_ahead


def run(session: str) -> dict[str, object]:
    return {"task": "Load sales.csv", "steps": ["parsed it with csv.reader"], "verdict": "success", "session": session}


def opened(server: Postgres) -> ReasoningBank:
    return ReasoningBank(server.application, tenant="acme", project="p", embedder="hash")


def is_near(at: datetime, wanted: datetime) -> bool:
    return abs(at - wanted) < MINUTE


@pytest.mark.parametrize("by", [YEAR, -YEAR, timedelta(minutes=2)])
def test_a_worker_whose_clock_is_wrong_takes_no_job_that_another_holds_and_holds_its_own_for_no_longer(
    server: Postgres, wrong: Callable[[timedelta], None], by: timedelta
) -> None:
    with opened(server) as bank:
        first = bank.queue.put(run("1")).id
        with bank._handle.engine.write() as edit:
            assert jobs.take(edit, token=str(uuid.uuid4()), now=datetime.now(UTC)) is not None

        wrong(by)
        with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
            assert banks.worker().run_once() is None
            second = bank.queue.put(run("2")).id
            with bank._handle.engine.write() as edit:
                held = jobs.take(edit, token=str(uuid.uuid4()), now=bank._handle.engine.now())
            assert held is not None
            assert held.job.id == second
        job = bank.queue.get(second)

    assert is_near(job.updated_at, datetime.now(UTC))
    assert is_near(job.due_at, datetime.now(UTC) + LEASE)
    assert first != second


def test_a_round_by_a_clock_that_is_a_year_ahead_is_due_again_on_the_next_day(
    server: Postgres, wrong: Callable[[timedelta], None]
) -> None:
    with opened(server) as bank:
        bank.record("Quote paths", "Names may hold blanks.", outcome="success")
    wrong(YEAR)
    with BankRoot(server.application, tenant="acme", embedder="hash") as banks:
        assert len(banks.maintain()) == 1
        assert banks.maintain() == []

    with psycopg.connect(server.superuser) as connection:
        (due,) = connection.execute("SELECT upkeep_due FROM reasoningbank.projects").fetchone() or ("",)
    assert is_near(datetime.fromisoformat(due), datetime.now(UTC) + timedelta(days=1))


def test_what_a_bank_notes_is_of_the_servers_time_and_it_says_so_once(
    server: Postgres, wrong: Callable[[timedelta], None], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(server) as bank:
        bank.count()
    wrong(YEAR)
    with caplog.at_level(logging.WARNING), opened(server) as bank:
        memories = [
            bank.record(f"Quote path {n}", "Names may hold blanks.", outcome="success").memory for n in range(2)
        ]
        assert all(is_near(memory.created_at, datetime.now(UTC)) for memory in memories)
        assert is_near(bank.now(), datetime.now(UTC))
    said = [record.message for record in caplog.records if "the clock of this process" in record.message]
    assert len(said) == 1
    assert "365 days" in said[0] or "364 days, 23:59" in said[0]


def test_a_clock_that_was_given_is_taken_as_it_is(server: Postgres) -> None:
    at = datetime(2031, 5, 4, tzinfo=UTC)
    with ReasoningBank(server.application, tenant="acme", project="p", embedder="hash", clock=lambda: at) as bank:
        assert bank.record("Quote paths", "Names may hold blanks.", outcome="success").memory.created_at == at


def test_a_clock_is_compared_with_the_servers_again_when_it_was_set() -> None:
    own = [datetime(2026, 3, 14, tzinfo=UTC)]
    server = [own[0] - YEAR]
    asked: list[datetime] = []
    told = ServerTime()

    def ask() -> None:
        if not server:
            raise StorageError("it is away", path=Path("server"))
        asked.append(server[0])
        told.saw(server[0])

    now = told.clock(lambda: own[0], ask)
    assert timedelta() <= now() - server[0] < MINUTE
    assert now() > server[0]
    own[0] = server[0]
    assert now() == own[0]
    # The machine slept.
    own[0] += timedelta(hours=8)
    server[0] += timedelta(hours=8)
    assert now() == own[0]
    assert len(asked) == 3
    own[0] += timedelta(hours=8)
    server.clear()
    assert now() == own[0]
