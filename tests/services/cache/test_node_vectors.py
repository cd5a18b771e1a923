"""What this process knows of the vectors of the graph's nodes."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.services.upkeep import maintain
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.project import Project
from reasoningbank.storage.stored_vectors import NODES
from tests.conftest import OpenBank
from tests.services.cache.stored import QUERY, generation, nearest, owners
from tests.services.cache.views import no_snapshot


def node(writing: Writing, n: int, row: list[float], generation: int = 1) -> None:
    vector = np.array(row, dtype=np.float32).tobytes()
    writing.execute("INSERT INTO node_vectors(node, generation, vector) VALUES (?, ?, ?)", (n, generation, vector))


def test_the_index_of_nodes_follows_its_feed_and_reads_no_other_vector_again(project: Project) -> None:
    with project.write() as writing:
        node(writing, 1, [1.0, 0.0])
        node(writing, 2, [0.0, 1.0])
    cache = VectorCache(NODES, no_snapshot)
    assert nearest(cache, project) == [2, 1]

    with project.write() as writing:
        node(writing, 3, [0.6, 0.8])
        writing.execute("DELETE FROM node_vectors WHERE node = 2")
    asked: list[str] = []
    with project.read() as reading:
        reading.connection.set_trace_callback(asked.append)
        assert owners(cache, reading) == [3, 1]
        assert [sql for sql in asked if "FROM node_vectors" in sql]
        assert not [sql for sql in asked if "FROM node_vectors" in sql and "json_each" not in sql]

        asked.clear()
        cache.nearest(reading, QUERY, 5)
        reading.connection.set_trace_callback(None)
    assert asked == []


def test_vectors_of_a_generation_that_is_being_filled_are_told_to_nobody(project: Project) -> None:
    with project.write() as writing:
        generation(writing, 2, "filling")
        node(writing, 1, [1.0, 0.0])
        node(writing, 1, [0.0, 1.0], generation=2)
        told = writing.execute("SELECT op, node, vector FROM node_changes").fetchall()
    assert told == [("put", 1, 1)]

    # The swap: the old vectors go, and no index is of them any more.
    with project.write() as writing:
        writing.execute("DELETE FROM generations WHERE state = 'current'")
        writing.execute("UPDATE generations SET state = 'current'")
        writing.execute("DELETE FROM node_vectors WHERE generation = 1")
    with project.read() as reading:
        assert NODES.newest(reading.moment) == 1


def test_an_index_of_nodes_that_slept_through_too_much_is_built_anew(project: Project) -> None:
    cache = VectorCache(NODES, no_snapshot)
    with project.write() as writing:
        node(writing, 1, [1.0, 0.0])
    assert nearest(cache, project) == [1]

    with project.write() as writing:
        writing.execute("DELETE FROM node_vectors")
        node(writing, 2, [0.0, 1.0])
        writing.execute("DELETE FROM node_changes WHERE seq < 3")
    assert nearest(cache, project) == [2]


def test_without_any_vectors_nothing_is_near(bank: ReasoningBank) -> None:
    bank.recall("opens the project")
    with bank._engine.read() as view:
        found, cosines = VectorCache(NODES, no_snapshot).nearest(view, np.full(4, 0.5, dtype=np.float32), 3)
    assert (found.tolist(), cosines.tolist()) == ([], [])


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
