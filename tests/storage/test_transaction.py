"""What a transaction sees of a project, and what it may do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.errors import ProjectDeletedError
from reasoningbank.storage import generations, meta, records
from reasoningbank.storage.contract import Generation, Moment, Reading
from reasoningbank.storage.migrations import scripts
from reasoningbank.storage.project import Project, nothing
from reasoningbank.storage.transaction import SqliteReading, SqliteWriting
from tests.storage.files import add_memory, count, open_project, project, put_memory

__all__ = ["project"]

EMBEDDER = ("hash", "1", 64, "mean", True)


@pytest.fixture
def writing() -> Iterator[SqliteWriting]:
    with nothing(Path("nowhere")) as writing:
        # What migrations remember there is not asked about here.
        writing.execute("DELETE FROM meta")
        yield writing


def feed(reading: Reading) -> list[tuple[int, str, int, int | None]]:
    return reading.execute("SELECT seq, op, memory, vector FROM changes ORDER BY seq").fetchall()


def fail_after_adding(project: Project, memory: str) -> int:
    """Add a memory in a transaction that comes to nothing; return the number it would have had."""
    numbers = []

    def add_and_fail() -> None:
        with project.write() as writing:
            numbers.append(put_memory(writing, memory))
            raise RuntimeError("something went wrong later")

    with pytest.raises(RuntimeError, match="later"):
        add_and_fail()
    return numbers[0]


# -- the moment ------------------------------------------------------------------------------------------------------


def test_the_moment_is_one_question(project: Project) -> None:
    statements: list[str] = []
    with project.database.read() as connection:
        connection.set_trace_callback(statements.append)
        SqliteReading(connection, project.folder)
        connection.set_trace_callback(None)

    # What SQLite asks itself to answer it begins with two dashes.
    assert len([each for each in statements if not each.startswith("--")]) == 1


def test_the_moment_tells_the_newest_of_all_that_indexes_and_beliefs_follow(project: Project) -> None:
    with project.write() as writing:
        newest = scripts()[-1][0]
        assert writing.moment == Moment(
            deleted=False, change=0, node_change=0, fit=0, pinned=False, generation=None, format=newest
        )
        generations.add(writing, EMBEDDER, "current")
        put_memory(writing, "m1")
        put_memory(writing, "m2")
        writing.insert("node_vectors", ("node", "generation", "vector"), [(n, 1, b"") for n in (1, 2, 3)])
        writing.insert("parameters", ("change", "at", "record"), [(2, "", "")])

    with project.read() as reading:
        generation = Generation(1, "hash", "1", 64, "mean", 1)
        assert reading.moment == Moment(
            deleted=False, change=2, node_change=3, fit=1, pinned=False, generation=generation, format=newest
        )


def test_the_moment_is_that_of_the_beginning_whatever_others_write_meanwhile(project: Project) -> None:
    with project.read() as reading:
        add_memory(project)

        assert reading.moment.change == 0
        assert records.find(reading, "m") is None

    with project.read() as reading:
        assert reading.moment.change == 1


def test_a_generation_that_a_transaction_begins_or_swaps_in_is_of_its_moment_at_once(project: Project) -> None:
    with project.write() as writing:
        first = generations.add(writing, EMBEDDER, "current")
        assert writing.moment.generation == Generation(first, "hash", "1", 64, "mean", 1)
        second = generations.add(writing, EMBEDDER, "filling")
        assert generations.filling(writing) == Generation(second, "hash", "1", 64, "mean", 1)

        generations.swap_in(writing, second)

        assert writing.moment.generation == Generation(second, "hash", "1", 64, "mean", 1)


def test_a_deletion_by_another_is_noticed_by_the_next_transaction_and_not_amid_one(project: Project) -> None:
    add_memory(project)
    with project.read() as reading:
        with open_project(project.folder).write() as another:
            meta.put(another, "deleted", "1")

        assert not reading.moment.deleted
        assert records.find(reading, "m") == 1

    for transaction in (project.read, project.write):
        with pytest.raises(ProjectDeletedError, match="was deleted: open a new bank"), transaction():
            pass


# -- questions -------------------------------------------------------------------------------------------------------


def among(writing: SqliteWriting, values: Sequence[Any]) -> list[Any]:
    rows = writing.execute(
        "SELECT value FROM meta WHERE key IN (:values) AND value <> :not ORDER BY value", {"values": values, "not": "x"}
    )
    return [value for (value,) in rows]


def test_a_list_among_named_values_is_what_a_value_may_be_one_of(writing: SqliteWriting) -> None:
    odd = ["", "it's", '"quoted"', "[1, 2]", "new\nline", "käse", "\N{GRINNING FACE}", "NULL", "12"]
    writing.insert("meta", ("key", "value"), [(text, f"of {text}") for text in odd])

    assert among(writing, odd) == sorted(f"of {text}" for text in odd)
    assert among(writing, odd[:1]) == ["of "]
    assert among(writing, []) == []
    assert among(writing, [*map(str, range(40_000)), "käse"]) == ["of 12", "of käse"]


def test_a_list_may_be_asked_for_twice_and_beside_another(writing: SqliteWriting) -> None:
    for memory in ("m1", "m2", "m3"):
        put_memory(writing, memory)

    found = writing.execute(
        "SELECT id FROM memories WHERE n IN (:numbers) AND id IN (:ids) OR n NOT IN (:numbers) ORDER BY n",
        {"numbers": [1, 2], "ids": ["m2", "m3"]},
    )

    assert found.fetchall() == [("m2",), ("m3",)]


# -- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "many", [0, 1, SqliteWriting.values_at_once // 2, SqliteWriting.values_at_once // 2 + 1, 5_000]
)
def test_rows_go_in_by_as_few_statements_as_there_can_be(writing: SqliteWriting, many: int) -> None:
    rows = [(f"key {n:05}", str(n)) for n in range(many)]
    statements: list[str] = []
    writing.connection.set_trace_callback(statements.append)

    assert writing.insert("meta", ("key", "value"), rows) == many

    assert len(statements) == -(-2 * many // SqliteWriting.values_at_once)
    assert sorted(meta.read(writing).items()) == rows


def test_rows_that_are_there_are_left_or_changed_as_is_said_and_only_what_changed_is_counted(
    writing: SqliteWriting,
) -> None:
    columns = ("key", "value")
    writing.insert("meta", columns, [("a", "1")])

    assert writing.insert("meta", columns, [("a", "2"), ("b", "2")], "ON CONFLICT (key) DO NOTHING") == 1
    assert meta.read(writing) == {"a": "1", "b": "2"}

    changed = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    assert writing.insert("meta", columns, [("a", "3"), ("c", "3")], changed) == 2
    assert meta.read(writing) == {"a": "3", "b": "2", "c": "3"}


# -- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_follow_one_another_in_each_table(writing: SqliteWriting) -> None:
    assert [writing.number("memories"), writing.number("memories", 3), writing.number("memories")] == [1, 2, 5]
    assert writing.number("vectors", 2) == 1
    assert writing.number("memories") == 6


def test_a_number_goes_on_from_the_newest_row_also_when_that_is_gone(project: Project) -> None:
    assert [add_memory(project, "m1"), add_memory(project, "m2")] == [1, 2]
    with project.write() as writing:
        records.delete(writing, 2)

    assert add_memory(project, "m3") == 3


def test_a_number_of_a_transaction_that_came_to_nothing_is_no_row_s(project: Project) -> None:
    add_memory(project, "kept")
    rolled_back = fail_after_adding(project, "lost")

    assert add_memory(project, "next") == rolled_back
    assert count(project) == 2


@settings(max_examples=30, deadline=None)
@given(acts=st.lists(st.sampled_from(["add", "add two", "fail", "delete", "other"]), max_size=12))
def test_no_two_rows_ever_have_one_number_whatever_is_rolled_back_or_deleted(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    project, other = open_project(folder / "p"), open_project(folder / "p")
    given_out: list[int] = []
    for step, act in enumerate(acts):
        if act == "fail":
            fail_after_adding(project, "lost")
        elif act == "delete":
            with project.write() as writing:
                records.delete(writing, given_out[-1] if given_out else 1)
        else:
            with (other if act == "other" else project).write() as writing:
                given_out += [put_memory(writing, f"{step}-{i}") for i in range(2 if act == "add two" else 1)]
    project.close()
    other.close()

    assert given_out == sorted(set(given_out))


# -- the feed --------------------------------------------------------------------------------------------------------


def test_what_is_told_is_written_in_its_order_at_the_end(project: Project) -> None:
    with project.write() as writing:
        writing.tell("put", 7, 70)
        writing.tell("evidence", 7)
        writing.tell("delete", 8, 80)
        assert feed(writing) == []
        assert writing.newest_change == 3

    with project.read() as reading:
        assert feed(reading) == [(1, "put", 7, 70), (2, "evidence", 7, None), (3, "delete", 8, 80)]
        assert reading.moment.change == 3


def test_the_newest_change_counts_on_from_those_of_others(project: Project) -> None:
    add_memory(project, "m1")

    with project.write() as writing:
        assert writing.newest_change == 1
        writing.tell("put", 1)
        assert writing.newest_change == 2
        writing.refresh()
        assert writing.newest_change == 2


def test_nothing_is_told_of_what_came_to_nothing(project: Project) -> None:
    fail_after_adding(project, "lost")

    with project.read() as reading:
        assert feed(reading) == []
        assert reading.moment.change == 0


def test_many_changes_are_all_told(project: Project) -> None:
    with project.write() as writing:
        for n in range(2_000):
            writing.tell("evidence", n)

    with project.read() as reading:
        assert [memory for _, _, memory, _ in feed(reading)] == list(range(2_000))
