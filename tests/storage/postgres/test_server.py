"""What a server keeps apart, in order and whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank import server as servers
from reasoningbank.address import ServerAddress
from reasoningbank.errors import (
    BusyError,
    InvalidInputError,
    NewerFormatError,
    ProjectDeletedError,
    ProjectNotFoundError,
    ScopeError,
    StorageError,
)
from reasoningbank.storage.moving import tables
from reasoningbank.storage.postgres.failures import storage_error
from reasoningbank.storage.postgres.schema import NEWEST
from tests.servers import Postgres

Open = Callable[..., ReasoningBank]


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


@pytest.fixture
def opened(server: Postgres) -> Iterator[Open]:
    banks: list[ReasoningBank] = []

    def open_one(project: str = "billing", *, tenant: str = "acme", dsn: str = "", **options: Any) -> ReasoningBank:
        root = dsn or server.application
        banks.append(ReasoningBank(root, tenant=tenant, project=project, embedder="hash", **options))
        return banks[-1]

    yield open_one
    for bank in banks:
        bank.close()


def lesson(bank: ReasoningBank, text: str = "Quote every path") -> str:
    return bank.record(text, f"{text}, or the command breaks", outcome="success").memory.id


def ask(dsn: str, question: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET search_path = reasoningbank")
        return connection.execute(question, values).fetchall()


# -- the schema ----------------------------------------------------------------------------------------------------


def test_every_table_of_a_folder_is_on_the_server_with_the_same_columns(server: Postgres) -> None:
    columns: dict[str, set[str]] = {}
    asked = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'reasoningbank'"
    for table, column in ask(server.superuser, asked):
        columns.setdefault(table, set()).add(column)

    for table, expected in tables().items():
        assert columns[table] - {"project", "length"} == set(expected), table


def test_every_table_is_bound_to_the_project_and_every_key_begins_with_it(server: Postgres) -> None:
    bound = ask(
        server.superuser,
        "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, c.relispartition, "
        "(SELECT count(*) FROM pg_policy AS p WHERE p.polrelid = c.oid) FROM pg_class AS c "
        "WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'reasoningbank'::regnamespace AND c.relname <> 'versions'",
    )
    keys = ask(
        server.superuser,
        "SELECT i.indexrelid::regclass::text, a.attname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid "
        "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] "
        "WHERE c.relnamespace = 'reasoningbank'::regnamespace AND c.relname NOT IN ('versions', 'projects')",
    )

    assert [name for name, secured, _, _ in bound if not secured] == []
    assert [name for name, _, part, policies in bound if policies != (0 if part else 1)] == []
    assert [name for name, first in keys if first != "project"] == []


def test_setting_up_twice_changes_nothing_and_is_seen_from_outside(server: Postgres) -> None:
    assert servers.init(server.owner, role="application") == (NEWEST, NEWEST)

    found = servers.status(server.application)

    assert (found.format, found.newest, found.partitions, found.bound) == (NEWEST, NEWEST, 2, True)
    assert "of the banks" not in found.address
    assert servers.status(server.superuser).bound is False


def test_what_a_newer_version_wrote_is_left_alone(server: Postgres, opened: Open) -> None:
    ask(server.superuser, "INSERT INTO versions(number) VALUES (999) RETURNING number")
    try:
        with pytest.raises(NewerFormatError, match="999"):
            opened(settings={"busy_timeout": 4.5}).count()
    finally:
        ask(server.superuser, "DELETE FROM versions WHERE number = 999 RETURNING number")


@pytest.mark.parametrize("dsn", ["a folder", "", "mysql://me:velvet9river@host/bank", 7, None])
def test_only_a_server_can_be_set_up(dsn: str) -> None:
    with pytest.raises(InvalidInputError, match="postgresql://") as refused:
        servers.init(dsn)
    assert "velvet9river" not in str(refused.value)


@pytest.mark.parametrize("partitions", [0, 1_001, 2.5, True, "2", None])
def test_partitions_are_a_whole_number(server: Postgres, partitions: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"partitions .* is not a whole number from 1 to 1,000"):
        servers.init(server.owner, partitions=partitions)


@pytest.mark.parametrize("role", ["", " ", 7])
def test_a_role_has_a_name(server: Postgres, role: Any) -> None:
    with pytest.raises(InvalidInputError, match="role"):
        servers.init(server.owner, role=role)


# -- who sees what -------------------------------------------------------------------------------------------------


def test_projects_and_tenants_share_tables_and_see_nothing_of_each_other(opened: Open, server: Postgres) -> None:
    mine, other, stranger = opened(), opened("sales"), opened(tenant="evil")
    known = lesson(mine)

    assert (mine.count(), other.count(), stranger.count()) == (1, 0, 0)
    assert not other.search("quote every path").memories
    assert not stranger.delete(known)
    lesson(stranger)
    assert BankRoot(server.application, tenant="acme").projects() == ["billing"]
    assert BankRoot(server.application, tenant="evil").projects() == ["billing"]


def test_without_a_project_nothing_can_be_read_or_written(opened: Open, server: Postgres) -> None:
    lesson(opened())
    for statement in ("SELECT count(*) FROM memories", "DELETE FROM memories RETURNING n", "SELECT * FROM projects"):
        for role in (server.application, server.owner):
            with pytest.raises(psycopg.Error):
                ask(role, statement)


def test_no_row_can_be_written_into_another_project(opened: Open, server: Postgres) -> None:
    lesson(opened())
    with psycopg.connect(server.application, autocommit=True) as connection:
        connection.execute("SET search_path = reasoningbank; SET reasoningbank.project = '999'")
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO pins(project, memory, tag) VALUES (1, 1, '')")


def test_a_role_that_policies_do_not_bind_opens_no_bank(opened: Open, server: Postgres) -> None:
    with pytest.raises(ScopeError, match="row-level security"):
        opened(dsn=server.superuser).count()


def test_a_role_without_rights_is_told_how_to_get_them(opened: Open, server: Postgres) -> None:
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("CREATE ROLE nobody LOGIN PASSWORD 'x'")
    try:
        with pytest.raises(ScopeError, match="--role"):
            opened(dsn=server.application.replace("application:of%20the%20banks", "nobody:x")).count()
    finally:
        with psycopg.connect(server.superuser, autocommit=True) as connection:
            connection.execute("DROP ROLE nobody")


# -- one after the other -------------------------------------------------------------------------------------------


def test_what_one_process_commits_is_found_by_handles_that_were_open_before(opened: Open) -> None:
    first, second = opened(), opened()
    first.search("quote")
    assert not second.search("quote every path").memories

    known = lesson(first)

    assert [memory.id for memory in second.search("quote every path").memories] == [known]
    assert second.delete(known)
    assert not first.search("quote every path").memories


def test_changes_come_in_the_order_in_which_they_are_committed(opened: Open) -> None:
    banks = [opened(settings={"busy_timeout": 30}) for _ in range(4)]
    reader = opened()
    lesson(reader, "the first of all")

    def write(n: int) -> None:
        for i in range(5):
            lesson(banks[n], f"lesson {i} of writer {n}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        reader.search("lesson of a writer")
    for thread in threads:
        thread.join()

    found = {memory.title for memory in reader.search("lesson of a writer", 50, min_confidence=0.0).memories}
    assert found >= {f"lesson {i} of writer {n}" for n in range(4) for i in range(5)}
    assert reader.count() == 21
    assert reader.upkeep.doctor(dry_run=True) == []


def test_another_writer_is_waited_for_as_long_as_the_setting_says(opened: Open) -> None:
    bank, impatient = opened(), opened(settings={"busy_timeout": 0.1})
    lesson(bank)
    impatient.count()

    with bank._engine.write() as edit:
        assert edit.moment.change == 1
        with pytest.raises(BusyError, match="busy_timeout"):
            lesson(impatient, "Pin versions")
        assert impatient.count() == 1
    lesson(impatient, "Pin versions")


def test_a_connection_that_is_ended_in_the_middle_leaves_nothing(opened: Open, server: Postgres) -> None:
    bank = opened()
    known = lesson(bank)
    bank.vote(known, True, ref="a")
    before = bank.get(known)

    def kill() -> None:
        with bank._engine.write() as edit:
            assert edit.execute("UPDATE memories SET title = 'half'").rowcount == 1
            ask(
                server.superuser, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'application'"
            )

    with pytest.raises(StorageError, match="cannot be reached"):
        kill()

    assert bank.get(known) == before
    bank.vote(known, True, ref="b")
    assert bank.upkeep.doctor(dry_run=True) == []


def test_numbers_of_what_came_to_nothing_may_return_and_those_of_what_was_deleted_never(opened: Open) -> None:
    bank = opened()
    known = lesson(bank)
    first = bank.get(known).revision
    bank.delete(known)

    assert bank.get(lesson(bank)).revision > first
    assert bank.upkeep.doctor(dry_run=True) == []


# -- deletion ------------------------------------------------------------------------------------------------------


def rows_of(server: Postgres) -> dict[str, int]:
    return {table: ask(server.superuser, f"SELECT count(*) FROM {table}")[0][0] for table in (*tables(), "projects")}


def test_a_deleted_project_leaves_no_row_and_open_handles_refuse(opened: Open, server: Postgres) -> None:
    bank, other = opened(), opened("sales")
    lesson(bank)
    kept = rows_of(server)
    known = lesson(other)
    other.recall("quote a path", ref="r")
    other.report("success", ref="r")
    other.graph.add_node("AgentAction", "quoted it", reasoning_pointer_ids=[known])
    roots = BankRoot(server.application, tenant="acme")

    roots.delete_project("sales")

    assert rows_of(server) == kept
    with pytest.raises(ProjectDeletedError):
        other.count()
    with pytest.raises(ProjectNotFoundError):
        roots.delete_project("sales")
    assert (bank.count(), opened("sales").count()) == (1, 0)


@pytest.mark.parametrize(
    ("refused", "remedy"),
    [
        ('permission denied to create extension "vector"', "superuser run `CREATE EXTENSION vector`"),
        ("permission denied for table memories", "--role"),
    ],
)
def test_what_a_role_may_not_do_is_said_with_who_may(refused: str, remedy: str) -> None:
    error = storage_error(psycopg.errors.InsufficientPrivilege(refused), ServerAddress("postgresql://h/bank"))

    assert isinstance(error, ScopeError)
    assert remedy in str(error)


def test_no_row_of_any_table_holds_a_word_of_what_was_deleted(server: Postgres, opened: Open) -> None:
    bank = opened(settings={"keep_trajectories": True})
    gone = bank.record(
        "About zygomorphs",
        "Do wrenchfish before quillbacks",
        description="For hornbeams",
        applies_when="When lapwings come",
        outcome="success",
        tags=["ponytail"],
        metadata={"note": "marmalade"},
    ).memory.id
    kept = bank.record("About gudgeons", "Keep gudgeons apart", outcome="success").memory.id
    bank.update(gone, title="About bullfinches", reason="since sandpipers differ")
    node = bank.graph.add_node("Event", "It is about woodlarks").node.id
    with bank.episode("look for nightjars", ref="run-7") as run:
        run.step(action="open firecrests", result="saw wrynecks")
        run.report("failure", reason="since dotterels were there")

    bank.delete(gone)
    bank.graph.delete_node(node)
    bank.sources.erase("run-7")
    bank.upkeep.maintain()

    names = [
        name for (name,) in ask(server.superuser, "SELECT tablename FROM pg_tables WHERE schemaname = 'reasoningbank'")
    ]
    held = " ".join(
        text for name in names for (text,) in ask(server.superuser, f"SELECT t::text FROM reasoningbank.{name} AS t")
    )
    words = (
        *("zygomorph", "wrenchfish", "quillback", "hornbeam", "lapwing", "ponytail", "marmalade", "bullfinch"),
        *("sandpiper", "woodlark", "nightjar", "firecrest", "wryneck", "dotterel"),
    )
    assert [word for word in words if word in held] == []
    assert "gudgeon" in held
    assert bank.get(kept).title == "About gudgeons"
