"""Vectors that the server itself searches: the same answers, without an index in the process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from reasoningbank import BankRoot, ReasoningBank, StorageError
from reasoningbank import server as servers
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.services.cache import vectors as cache
from reasoningbank.storage.postgres import near
from reasoningbank.storage.postgres import server as connections
from reasoningbank.storage.postgres.wire import Asked, Wire
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


# -- indexes of large projects ---------------------------------------------------------------------------------------


@pytest.fixture
def planned(server: Postgres) -> Iterator[Postgres]:
    """A server that takes an index wherever there is one, so that a few hundred vectors are enough."""
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("ALTER ROLE application SET enable_seqscan = off")
        connection.execute("ALTER ROLE application SET enable_bitmapscan = off")
        connection.execute("ALTER ROLE application SET enable_sort = off")
        yield server
        connection.execute("ALTER ROLE application RESET ALL")
    servers.index(server.owner, most=0)


def used(server: Postgres) -> dict[str, int]:
    """Return how often each index of a project's own was used."""
    asked = "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'own%'"
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        return dict(connection.execute(asked).fetchall())


def hits(bank: ReasoningBank, text: str) -> list[tuple[str, float]]:
    return [(hit.memory.id, round(hit.score, 5)) for hit in bank.search(text, 10).hits]


def test_a_large_project_is_searched_by_an_index_of_its_own_and_a_small_one_whole(
    planned: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near, "LARGE", 300)
    with opened(planned, "large", vectors="server") as large, opened(planned, "small", vectors="server") as small:
        record(large, 400, "rotate the keys")
        record(small, 20, "rotate the keys")
        exact = [hits(bank, f"rotate the keys {n}") for n in range(10) for bank in (large, small)]

        made = servers.index(planned.owner, least=300)
        indexed = [hits(bank, f"rotate the keys {n}") for n in range(10) for bank in (large, small)]

        assert (made.there, made.made, made.dropped, made.left_out) == (1, 1, 0, 0)
        assert servers.index(planned.owner, least=300).made == 0
        assert indexed == exact
        # What comes and goes is found and not found at once.
        fresh = large.record("Turn it twice", "Turn the crank twice", outcome="success").memory.id
        assert hits(large, "turn the crank twice")[0][0] == fresh
        large.delete(fresh)
        assert fresh not in dict(hits(large, "turn the crank twice"))
        with large._engine.read() as view:
            # A session tells the server what it used at most once a second, unless it is asked to.
            view.execute("SELECT pg_stat_force_next_flush()").fetchone()
        # The end of a reading is not waited for.
        large.count()
        assert [count > 0 for count in used(planned).values()] == [True]


def test_an_index_goes_with_the_vectors_it_was_made_for(planned: Postgres) -> None:
    with opened(planned, "large") as bank:
        record(bank, 50, "rotate the keys")
        assert servers.index(planned.owner, least=20).made == 1
        bank.upkeep.reembed(HashEmbedder(dim=64))
        again = servers.index(planned.owner, least=20)
        assert (again.there, again.made, again.dropped) == (1, 1, 1)
    BankRoot(planned.application, tenant="acme").delete_project("large")
    assert servers.index(planned.owner, least=20).dropped == 1


def test_there_are_no_more_indexes_than_allowed(planned: Postgres) -> None:
    for name, many in (("large", 40), ("larger", 60)):
        with opened(planned, name) as bank:
            record(bank, many, "rotate the keys")

    found = servers.index(planned.owner, least=20, most=1)

    assert (found.there, found.made, found.left_out) == (1, 1, 1)


def test_an_index_that_was_half_made_is_made_anew(planned: Postgres) -> None:
    with opened(planned, "large") as bank:
        record(bank, 50, "rotate the keys")
    servers.index(planned.owner, least=20)
    with psycopg.connect(planned.superuser, autocommit=True) as connection:
        # As a build that was stopped leaves it.
        connection.execute(
            "UPDATE pg_index SET indisvalid = false FROM pg_class AS c WHERE c.oid = indexrelid AND relname LIKE 'own%'"
        )

    found = servers.index(planned.owner, least=20)

    assert (found.there, found.made, found.dropped) == (1, 1, 1)


def test_an_index_gives_as_many_as_are_asked_for_whatever_was_deleted(
    planned: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near, "LARGE", 300)
    monkeypatch.setattr(near, "WIDTH", 20)
    with opened(planned, "large", vectors="server") as bank:
        record(bank, 400, "rotate the keys")
        servers.index(planned.owner, least=300)
        query = np.asarray(bank._engine.embedder.embed_query("rotate the keys 7"))
        with bank._engine.read() as view:
            nearest, _ = bank._engine.cache.vectors.nearest(view, query, 60)
            ids = dict(view.execute("SELECT n, id FROM memories").fetchall())
        bank.upkeep.delete_many([ids[n] for n in set(nearest.tolist())])
        with bank._engine.read() as view:
            left, _ = bank._engine.cache.vectors.nearest(view, query, 60)

    assert len(left) == 60
    assert not set(left.tolist()) & set(nearest.tolist())


def test_a_server_that_does_not_search_vectors_has_no_use_for_indexes(server: Postgres) -> None:
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("ALTER TABLE reasoningbank.searchable RENAME TO hidden")
        try:
            with pytest.raises(StorageError, match="--vectors"):
                servers.index(server.owner)
        finally:
            connection.execute("ALTER TABLE reasoningbank.hidden RENAME TO searchable")


@pytest.mark.parametrize(("where", "searched"), [("server", 1), ("auto", 0), ("kept", 0)])
def test_a_process_that_will_let_the_server_search_lets_its_session_get_ready_and_does_not_wait(
    server: Postgres, monkeypatch: pytest.MonkeyPatch, where: str, searched: int
) -> None:
    with opened(server) as bank:
        record(bank, 30, "quote the paths")
    unread: list[Asked | None] = []
    end = Wire.end

    def noted(self: Wire, last: Asked | None = None) -> None:
        unread.append(last)
        end(self, last)

    monkeypatch.setattr(Wire, "end", noted)
    with opened(server, vectors=where) as bank:
        assert bank.count() == 30
        assert bank.search("quote the paths 7", 1).memories[0].title == "quote the paths 7"

    assert sum(last is not None and "searchable" in last[0] for last in unread) == searched


def test_a_session_that_could_not_get_ready_is_used_all_the_same(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(server) as bank:
        record(bank, 30, "quote the paths")
    asked = near.ServerVectors._question
    failing = [True]

    def question(*given: Any, **named: Any) -> tuple[str, dict[str, object]]:
        return ("SELECT 1 / 0", {}) if failing and failing.pop() else asked(*given, **named)

    monkeypatch.setattr(near.ServerVectors, "_question", question)
    with opened(server, vectors="server") as bank:
        assert bank.count() == 30
        assert not failing
        assert bank.search("quote the paths 7", 1).memories[0].title == "quote the paths 7"
        bank.record("Pin versions", "Or they change.", outcome="success")
        assert bank.count() == 31
