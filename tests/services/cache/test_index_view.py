"""What this process knows of the vectors, beside what a transaction sees: the same for memories and for nodes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reasoningbank.services.cache.index_view import IndexView

from reasoningbank import ReasoningBank
from reasoningbank.services.upkeep import maintain
from reasoningbank.storage.database import Database, apply_migrations
from reasoningbank.storage.lifecycle import create_database
from reasoningbank.storage.stored_vectors import MEMORIES, NODES, StoredVectors
from reasoningbank.vectors.base import unit_rows
from reasoningbank.vectors.faiss import FaissIndex
from tests.conftest import OpenBank

QUERY = np.array([0.6, 0.8], dtype=np.float32)


def nothing(_: IndexView) -> None:
    """Write no snapshot."""


def node(connection: sqlite3.Connection, n: int, row: list[float], generation: int = 1) -> None:
    vector = np.array(row, dtype=np.float32).tobytes()
    connection.execute("INSERT INTO node_vectors(node, generation, vector) VALUES (?, ?, ?)", (n, generation, vector))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(tmp_path / "bank.sqlite3", isolation_level=None)
    apply_migrations(made)
    made.execute("INSERT INTO generations VALUES (1, 'stub', '1', 2, 'none', 1, 'current')")
    for number, row in enumerate(np.eye(2, dtype=np.float32), 1):
        made.execute("INSERT INTO vectors VALUES (?, ?, 'lesson', 1, ?)", (number, number, row.tobytes()))
        made.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', ?, ?)", (number, number))
    yield made
    made.close()


def test_vectors_that_the_index_does_not_have_come_from_the_table(connection: sqlite3.Connection) -> None:
    view = IndexView(MEMORIES, nothing)
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]

    view.sync(connection)
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]

    assert view._filled is not None
    view._filled.index.remove(np.array([1]))
    assert view.vectors(connection, [2, 1]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_the_scale_of_cosines_is_measured_anew_after_a_change(connection: sqlite3.Connection) -> None:
    view = IndexView(MEMORIES, nothing)
    assert view.scale(connection).unrelated == 0.0

    for number in range(3, 30):
        row = np.array([1.0, 0.0], dtype=np.float32).tobytes()
        connection.execute("INSERT INTO vectors VALUES (?, ?, 'lesson', 1, ?)", (number, number, row))
    assert view.scale(connection).unrelated == 0.0

    connection.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', 29, 29)")
    assert view.scale(connection).unrelated > 0.0


def test_the_scale_is_measured_anew_for_another_generation_though_no_vector_is_told(
    connection: sqlite3.Connection,
) -> None:
    view = IndexView(MEMORIES, nothing)
    for number in range(3, 30):
        row = np.array([1.0, 0.0], dtype=np.float32).tobytes()
        connection.execute("INSERT INTO vectors VALUES (?, ?, 'lesson', 2, ?)", (number, number, row))
    assert view.scale(connection).unrelated == 0.0

    connection.execute("UPDATE generations SET generation = 2")
    assert view.scale(connection).unrelated > 0.0


def test_who_needs_no_more_than_what_is_covered_does_not_wait_for_those_who_do(
    tmp_path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("PRAGMA journal_mode = wal")
    view = IndexView(MEMORIES, nothing)
    older = sqlite3.connect(tmp_path / "bank.sqlite3", isolation_level=None)
    older.execute("BEGIN")
    before = view.nearest(older, QUERY, 5)
    connection.execute("INSERT INTO vectors VALUES (3, 3, 'lesson', 1, ?)", (QUERY.tobytes(),))
    connection.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', 3, 3)")
    these, answers = StoredVectors.these, []

    def answered_meanwhile(*given: Any) -> Iterator[Any]:
        # The index is being changed: what began before the change is answered now, or never in this thread.
        answers.append(view.nearest(older, QUERY, 5))
        yield from these(*given)

    monkeypatch.setattr(StoredVectors, "these", answered_meanwhile)
    assert [n for n, _ in view.nearest(connection, QUERY, 5)] == [3, 2, 1]
    assert answers == [before]
    older.close()


@pytest.mark.perf
def test_an_index_that_grows_by_a_half_keeps_no_search_waiting() -> None:
    rows = unit_rows(np.random.default_rng(0).standard_normal((60_000, 384)))
    index = FaissIndex(384)
    index.add(np.arange(40_000), rows[:40_000])
    grown = threading.Thread(target=index.add, args=(np.arange(40_000, 60_000), rows[40_000:]))
    taken: list[float] = []
    grown.start()
    while grown.is_alive():
        begun = time.perf_counter()
        index.search(rows[len(taken)], 10)
        taken.append(time.perf_counter() - begun)
    assert len(taken) > 5
    assert max(taken) < 0.1


@pytest.mark.perf
def test_a_snapshot_is_read_in_less_than_half_of_the_time_that_the_rows_take(
    tmp_path: Path,
) -> None:
    create_database(tmp_path / "bank.sqlite3", {})
    database = Database(tmp_path / "bank.sqlite3", durability="normal", busy_timeout=1.0)
    rows = unit_rows(np.random.default_rng(0).standard_normal((20_000, 384)))
    with database.write() as connection:
        connection.execute("INSERT INTO generations VALUES (1, 'stub', '1', 384, 'none', 1, 'current')")
        stored = [(n, n, row.tobytes()) for n, row in enumerate(rows, 1)]
        connection.executemany("INSERT INTO vectors VALUES (?, ?, 'lesson', 1, ?)", stored)

    def opened() -> float:
        view = IndexView(MEMORIES, nothing)
        with database.read() as connection:
            begun = time.perf_counter()
            assert view.nearest(connection, rows[7], 1)[0][0] == 8
            taken = time.perf_counter() - begun
        view.keep(database)
        return taken

    built = opened()
    assert (tmp_path / "vectors.index").exists()
    assert min(opened() for _ in range(3)) < 0.5 * built
    database.close()


# -- nodes ---------------------------------------------------------------------------------------------------------


def test_the_index_of_nodes_follows_its_feed_and_reads_no_other_vector_again(connection: sqlite3.Connection) -> None:
    node(connection, 1, [1.0, 0.0])
    node(connection, 2, [0.0, 1.0])
    view = IndexView(NODES, nothing)
    assert [n for n, _ in view.nearest(connection, QUERY, 5)] == [2, 1]

    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    node(connection, 3, [0.6, 0.8])
    connection.execute("DELETE FROM node_vectors WHERE node = 2")
    assert [n for n, _ in view.nearest(connection, QUERY, 5)] == [3, 1]
    assert not [sql for sql in asked if "node_vectors WHERE generation = 1" in sql and "json_each" not in sql]

    asked.clear()
    view.nearest(connection, QUERY, 5)
    assert not [sql for sql in asked if "node_vectors" in sql]


def test_vectors_of_a_generation_that_is_being_filled_are_told_to_nobody(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO generations VALUES (2, 'other', '1', 2, 'none', 1, 'filling')")
    node(connection, 1, [1.0, 0.0])
    node(connection, 1, [0.0, 1.0], generation=2)
    assert connection.execute("SELECT op, node, vector FROM node_changes").fetchall() == [("put", 1, 1)]

    # The swap: the old vectors go, and no index is of them any more.
    connection.execute("DELETE FROM generations WHERE state = 'current'")
    connection.execute("UPDATE generations SET state = 'current'")
    connection.execute("DELETE FROM node_vectors WHERE generation = 1")
    assert NODES.newest(connection) == 1


def test_an_index_of_nodes_that_slept_through_too_much_is_built_anew(connection: sqlite3.Connection) -> None:
    view = IndexView(NODES, nothing)
    node(connection, 1, [1.0, 0.0])
    assert [n for n, _ in view.nearest(connection, QUERY, 5)] == [1]

    connection.execute("DELETE FROM node_vectors")
    node(connection, 2, [0.0, 1.0])
    connection.execute("DELETE FROM node_changes WHERE seq < 3")
    assert [n for n, _ in view.nearest(connection, QUERY, 5)] == [2]


def test_without_any_vectors_nothing_is_near(bank: ReasoningBank) -> None:
    bank.recall("opens the project")
    with bank._engine.read() as connection:
        assert connection is not None
        assert IndexView(NODES, nothing).nearest(connection, np.full(4, 0.5, dtype=np.float32), 3) == []


def test_each_process_finds_the_nodes_of_the_others_and_none_that_they_deleted_or_rewrote(open_bank: OpenBank) -> None:
    one, other = open_bank(), open_bank()
    one.graph.add_node("Event", "The deployment stopped at the gate", node_id="a")
    assert [hit.node.id for hit in other.graph.search("deployment gate").hits] == ["a"]

    other.graph.add_node("Event", "The deployment passed the gate", node_id="b")
    other.graph.add_node("Event", "Coffee ran out in the kitchen", node_id="a")
    assert {hit.node.id for hit in one.graph.search("deployment gate").hits} == {"b"}

    one.graph.delete_node("b")
    assert not other.graph.search("deployment gate").hits
    assert [hit.node.id for hit in other.graph.search("coffee kitchen").hits] == ["a"]


def test_nodes_that_others_move_to_another_embedder_are_found_by_it(open_bank: OpenBank) -> None:
    one = open_bank()
    one.graph.add_node("Event", "The deployment stopped at the gate", node_id="a")
    assert one.graph.search("deployment gate").hits
    one.upkeep.reembed("minilm")
    assert [hit.node.id for hit in one.graph.search("a release was halted").hits] == ["a"]
    one.graph.delete_node("a")
    assert not one.graph.search("a release was halted").hits


def test_maintaining_trims_the_feed_of_nodes_too(bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintain, "CHANGES_KEPT", 1)
    for name in ("a", "b", "c"):
        bank.graph.add_node("Event", f"event {name}", node_id=name)
    assert bank.upkeep.maintain(dry_run=True).forgotten_changes == 2
    assert bank.upkeep.maintain().forgotten_changes == 2
    assert bank.graph.search("event c").hits
