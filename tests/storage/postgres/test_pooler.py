"""Behind PgBouncer in transaction mode: each transaction may be on another of few connections."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.engines_server import pooled
from reasoningbank import ReasoningBank
from tests.servers import Postgres
from tests.storage.postgres.test_same_history import live_both


@pytest.fixture
def pooler(postgres: Postgres) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="pooler") as folder:
        try:
            with pooled(postgres, Path(folder)) as address:
                yield address
        except FileNotFoundError as missing:
            pytest.skip(str(missing))
        finally:
            postgres.empty()


def test_a_history_is_the_same_through_a_pooler(tmp_path: Path, pooler: str) -> None:
    live_both(tmp_path, pooler, 2)


def test_six_threads_share_two_connections_and_stay_in_their_projects(pooler: str) -> None:
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            with ReasoningBank(pooler, tenant=f"t{name % 2}", project=f"p{name}", embedder="hash") as bank:
                for n in range(4):
                    known = bank.record(f"Lesson {n} of {name}", f"It says {n} and {name}", outcome="success").memory
                    assert bank.recall(known.title, ref=f"run {n}").memories
                    bank.report("success", ref=f"run {n}")
                    bank.vote(known.id, True, ref=f"run {n}")
                assert bank.count() == 4
                assert bank.upkeep.doctor(dry_run=True) == []
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure
