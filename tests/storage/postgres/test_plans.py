"""How many rows a call reads on a server: those that it is about, however large its project and however many others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.storage.postgres import server as connections
from reasoningbank.storage.postgres.schema import SCHEMA
from tests.servers import Postgres

LESSONS, OTHERS = 1_000, 3_000
MANY = 4_000  # so many that a table without statistics is not taken for one of a few rows
MOST = 400  # rows of a table that a call on one memory or one run may read
_READ = f"""
    SELECT relname, seq_tup_read + coalesce((SELECT sum(pg_stat_get_tuples_returned(indexrelid)) FROM pg_index
        WHERE indrelid = relid), 0) FROM pg_stat_user_tables WHERE schemaname = '{SCHEMA}'
"""
_LARGE = ("changes", "episodes", "evidence", "memories", "postings", "served", "tallies", "terms", "vectors")


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


@pytest.fixture
def superuser(server: Postgres) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute(f"SET search_path = {SCHEMA}")
        yield connection


def opened(server: Postgres, project: str) -> ReasoningBank:
    return ReasoningBank(server.application, tenant="acme", project=project, embedder="hash")


def fill(bank: ReasoningBank, lessons: range) -> None:
    bank.record_many(
        [
            {"title": f"Quote path {n} of a deploy", "content": f"Or command {n * 7} breaks", "outcome": "success"}
            for n in lessons
        ]
    )


def use(bank: ReasoningBank, turn: int) -> dict[str, Callable[[], object]]:
    """Return calls on one run and on one memory, in an order in which they can be made."""
    known, ref = bank.list(limit=LESSONS // 2).memories[-1].id, f"run {turn}"
    return {
        "recall": lambda: bank.recall("quote the path of a deploy", ref=ref),
        "runs.get": lambda: bank.runs.get(ref),
        "report": lambda: bank.report("success", ref=ref),
        "vote": lambda: bank.vote(known, True, ref=ref),
        "get": lambda: bank.get(known),
        "update": lambda: bank.update(known, title=f"Quote the path, {turn}"),
    }


def use_often(bank: ReasoningBank) -> None:
    """Make all calls so often that the session has planned them once for all values."""
    for turn in range(12):
        for call in use(bank, turn).values():
            call()


def rows_read(superuser: psycopg.Connection[tuple[object, ...]], call: Callable[[], object]) -> dict[str, int]:
    """Return how many rows of each large table a call read."""

    def counted() -> dict[str, int]:
        for server in connections._servers.values():
            for wire in server._idle:
                wire.send([("SELECT pg_stat_force_next_flush()", ())])
                wire.send([("SELECT 1", ())])
        superuser.execute("SELECT pg_stat_force_next_flush()")
        found: dict[str, int] = {}
        for name, rows in superuser.execute(_READ).fetchall():
            table = str(name).rpartition("_")[0]
            found[table] = found.get(table, 0) + int(str(rows))
        return {table: found[table] for table in _LARGE}

    before = counted()
    call()
    return {table: rows - before[table] for table, rows in counted().items()}


def close_sessions() -> None:
    for each in connections._servers.values():
        while each._idle:
            each._idle.pop().close()


def check(superuser: psycopg.Connection[tuple[object, ...]], bank: ReasoningBank) -> None:
    # What the feed tells is read before, and it is another's turn then.
    bank.search("quote the path of a deploy")
    found = {name: rows_read(superuser, call) for name, call in use(bank, 100).items()}

    assert {
        (call, table): rows for call, tables in found.items() for table, rows in tables.items() if rows > MOST
    } == {}


def test_a_session_that_planned_for_few_rows_plans_for_many_when_they_came(
    server: Postgres, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    close_sessions()
    with opened(server, "growing") as bank:
        fill(bank, range(12))
        use_often(bank)
        fill(bank, range(12, MANY))
        use_often(bank)

        check(superuser, bank)


def test_plans_that_suit_thousands_of_small_projects_suit_a_large_one(
    server: Postgres, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    with opened(server, "large") as large, opened(server, "small") as small:
        fill(large, range(LESSONS))
        use_often(large)
        fill(small, range(1))
        use_often(small)
        superuser.execute("SET session_replication_role = replica")
        for table in _LARGE:
            columns = ", ".join(
                str(name)
                for (name,) in superuser.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
                    "AND attgenerated = '' AND attname <> 'project'",
                    (table,),
                )
            )
            superuser.execute(
                f"INSERT INTO {table}(project, {columns}) SELECT 1000000 + other, {columns} "
                f"FROM generate_series(1, {OTHERS}) AS other, (SELECT * FROM {table} WHERE project = "
                "(SELECT number FROM projects WHERE name = 'small') LIMIT 1) AS one"
            )
        superuser.execute("ANALYZE")
        close_sessions()
        use_often(small)

        check(superuser, large)
