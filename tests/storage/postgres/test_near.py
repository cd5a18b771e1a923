"""Vectors that the server itself searches: the same answers, without an index in the process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from reasoningbank import ReasoningBank
from reasoningbank import server as servers
from reasoningbank.services.cache import vectors as cache
from reasoningbank.storage.postgres import server as connections
from tests.servers import Postgres
from tests.storage.postgres.test_same_history import live_both


@pytest.fixture
def server(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postgres]:
    # What a process knows of a server it knows from its first connection.
    monkeypatch.setattr(connections, "_servers", {})
    with psycopg.connect(postgres.superuser, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    servers.init(postgres.owner, role="application", vectors=True)
    yield postgres
    postgres.empty()


def opened(server: Postgres, project: str = "billing", **settings: Any) -> ReasoningBank:
    return ReasoningBank(server.application, tenant="acme", project=project, embedder="hash", settings=settings)


def record(bank: ReasoningBank, many: int, said: str) -> None:
    lessons = [(f"{said} {n}", f"{said} says {n * 7 % 31} of {n}") for n in range(many)]
    bank.record_many([{"title": title, "content": content, "outcome": "success"} for title, content in lessons])


def test_a_history_is_the_same_when_the_server_searches(tmp_path: Path, server: Postgres) -> None:
    live_both(tmp_path, server.application, 3, vectors="server")


def test_no_index_is_kept_and_each_search_is_the_servers(server: Postgres) -> None:
    with opened(server, vectors="server") as bank, opened(server, vectors="kept") as other:
        record(bank, 30, "quote the paths")

        here, there = (each.search("quote the paths 7", 10) for each in (bank, other))

        assert [(hit.memory.id, round(hit.score, 6)) for hit in here.hits] == [
            (hit.memory.id, round(hit.score, 6)) for hit in there.hits
        ]
        assert bank._engine.cache.vectors._filled is None
        assert other._engine.cache.vectors._filled is not None
        bank.delete(here.hits[0].memory.id)
        assert here.hits[0].memory.id not in {memory.id for memory in bank.search("quote the paths 7", 10).memories}


def test_a_small_project_among_many_foreign_vectors_loses_none(server: Postgres) -> None:
    with opened(server, "large") as large, opened(server, "small", vectors="server") as small:
        record(large, 600, "rotate the keys")
        record(small, 20, "rotate the keys")
        query = small._engine.embedder.embed_query("rotate the keys")
        with small._engine.read() as view:
            found, cosines = small._engine.cache.vectors.nearest(view, np.asarray(query), 10)
            every = view.execute("SELECT memory, vector FROM vectors WHERE role = 'lesson'").fetchall()

    exact = sorted(float(np.frombuffer(bytes(vector), np.float32) @ query) for _, vector in every)[::-1]
    assert len(found) == 10
    np.testing.assert_allclose(cosines, exact[:10], atol=1e-6)


def test_a_process_that_searches_on_reads_the_index_after_a_while(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FLAT", 10)
    monkeypatch.setattr(cache, "FEW_SEARCHES", 3)
    with opened(server) as writer, opened(server) as bank:
        record(writer, 20, "pin the versions")
        kept = []
        for n in range(5):
            assert bank.search(f"pin the versions {n}").memories
            kept.append(bank._engine.cache.vectors._filled is not None)

    assert (kept[0], kept[-1]) == (False, True)


def test_filtered_searches_are_the_servers_too(server: Postgres) -> None:
    with opened(server, vectors="server") as bank:
        record(bank, 10, "split the batches")
        tagged = bank.record("Split batches", "Split the batches", outcome="success", tags=["a"]).memory.id

        assert [memory.id for memory in bank.search("split the batches", tags=["a"]).memories] == [tagged]
