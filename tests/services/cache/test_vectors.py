"""What this process knows of the vectors, beside what a transaction sees: the same for memories and for nodes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.search.relevance import Scale, measured_scale
from reasoningbank.services.cache import vectors
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.services.upkeep import maintain
from reasoningbank.storage.contract import Writing
from reasoningbank.storage.project import Project
from reasoningbank.storage.stored_vectors import MEMORIES, NODES, StoredVectors
from reasoningbank.vectors.base import unit_rows
from reasoningbank.vectors.faiss import FaissIndex
from tests.conftest import Clock, OpenBank
from tests.services.cache.views import no_snapshot

QUERY = np.array([0.6, 0.8], dtype=np.float32)


@pytest.fixture
def project(tmp_path: Path, clock: Clock) -> Iterator[Project]:
    """Two memories, each with a vector along an axis."""
    made = Project.open(
        tmp_path / "p", tenant="t", project="p", durability="normal", busy_timeout=1.0, create_at=clock()
    )
    assert made is not None
    with made.write() as writing:
        generation(writing, 1)
        for number, row in enumerate(([1.0, 0.0], [0.0, 1.0]), 1):
            put(writing, number, row)
    yield made
    made.close()


def generation(writing: Writing, number: int, state: str = "current") -> None:
    writing.execute("INSERT INTO generations VALUES (?, 'stub', '1', 2, 'none', 1, ?)", (number, state))


def put(writing: Writing, number: int, row: list[float], generation: int = 1, *, told: bool = True) -> None:
    """Store a vector of the memory with the same number."""
    stored = (number, number, "lesson", generation, np.array(row, dtype=np.float32).tobytes())
    writing.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", stored)
    if told:
        writing.tell("put", number, number)


def node(writing: Writing, n: int, row: list[float], generation: int = 1) -> None:
    vector = np.array(row, dtype=np.float32).tobytes()
    writing.execute("INSERT INTO node_vectors(node, generation, vector) VALUES (?, ?, ?)", (n, generation, vector))


def nearest(cache: VectorCache, project: Project) -> list[int]:
    """Return the owners of the vectors that are nearest to QUERY, for a transaction that begins now."""
    with project.read() as reading:
        return [int(owner) for owner in cache.nearest(reading, QUERY, 5)[0]]


def test_vectors_that_the_index_does_not_have_come_from_the_table(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as reading:
        assert cache.vectors(reading, np.array([2, 1]), 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]

        cache.follow(reading)
        assert cache.vectors(reading, np.array([2, 1]), 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]

        assert cache._filled is not None
        cache._filled.index.remove(np.array([1]))
        assert cache.vectors(reading, np.array([2, 1]), 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_who_needs_no_more_than_what_is_covered_does_not_wait_for_those_who_do(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as older:
        before = cache.nearest(older, QUERY, 5)[0].tolist()
        with project.write() as writing:
            put(writing, 3, QUERY.tolist())
        these, answers = StoredVectors.these, []

        def answered_meanwhile(*given: Any) -> Iterator[Any]:
            # The index is being changed: what began before the change is answered now, or never in this thread.
            answers.append(cache.nearest(older, QUERY, 5)[0].tolist())
            yield from these(*given)

        monkeypatch.setattr(StoredVectors, "these", answered_meanwhile)
        assert nearest(cache, project) == [3, 2, 1]
        assert answers == [before]


def test_a_transaction_from_before_a_re_embedding_looks_at_the_old_vectors_once_more(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as older:
        assert cache.nearest(older, QUERY, 5)[0].tolist() == [2, 1]
        with project.write() as writing:
            generation(writing, 2, "filling")
            put(writing, 3, QUERY.tolist(), generation=2, told=False)
            writing.execute("DELETE FROM generations WHERE generation = 1")
            writing.execute("DELETE FROM vectors WHERE generation = 1")
            writing.execute("UPDATE generations SET state = 'current'")
        assert nearest(cache, project) == [3]
        assert cache.nearest(older, QUERY, 5)[0].tolist() == [2, 1]
    assert nearest(cache, project) == [3]


def test_a_bank_that_grows_finds_the_same_whether_its_vectors_are_scanned_as_they_are_or_by_codes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FLAT", 40)
    growing = VectorCache(MEMORIES, no_snapshot)
    rows = unit_rows(np.random.default_rng(0).standard_normal((60, 2)))
    for number, row in enumerate(rows, 3):
        with project.write() as writing:
            put(writing, number, row.tolist())
        if number % 7 == 0:
            with project.write() as writing:
                writing.execute("DELETE FROM vectors WHERE id = ?", (number - 2,))
                writing.tell("delete", number - 2, number - 2)
        assert nearest(growing, project) == nearest(VectorCache(MEMORIES, no_snapshot), project)
    assert growing._filled is not None
    assert isinstance(growing._filled.index, FaissIndex)


# -- the scale of cosines ------------------------------------------------------------------------------------------


def scale(cache: VectorCache, project: Project) -> Scale:
    with project.read() as reading:
        return cache.scale(reading)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors each measurement looked at."""
    sizes: list[int] = []

    def noted(sample: Any) -> Scale:
        sizes.append(len(sample))
        return measured_scale(sample)

    monkeypatch.setattr(vectors, "measured_scale", noted)
    return sizes


def alike(project: Project, numbers: range, *, told: bool = True) -> None:
    with project.write() as writing:
        for number in numbers:
            put(writing, number, [1.0, 0.0], told=told)


def test_the_scale_of_cosines_is_measured_anew_after_vectors_came_or_went(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    assert scale(cache, project).unrelated == 0.0

    alike(project, range(3, 29), told=False)
    assert scale(cache, project).unrelated == 0.0

    alike(project, range(29, 30))
    assert scale(cache, project).unrelated > 0.0

    with project.write() as writing:
        writing.execute("DELETE FROM vectors WHERE id > 2")
        writing.tell("delete", 29, 29)
    assert scale(cache, project).unrelated == 0.0


def test_the_scale_is_measured_anew_for_another_generation_though_no_vector_is_told(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.write() as writing:
        for number in range(3, 30):
            put(writing, number, [1.0, 0.0], generation=2, told=False)
    assert scale(cache, project).unrelated == 0.0

    with project.write() as writing:
        writing.execute("UPDATE generations SET generation = 2")
    assert scale(cache, project).unrelated > 0.0


def drop(cache: VectorCache, project: Project) -> None:
    cache.drop()


def prune_the_feed(cache: VectorCache, project: Project) -> None:
    with project.write() as writing:
        writing.execute("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")


@pytest.mark.parametrize("lose", [drop, prune_the_feed])
def test_the_scale_is_measured_anew_when_the_index_is_built_anew(
    project: Project, lose: Callable[[VectorCache, Project], None]
) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    assert scale(cache, project).unrelated == 0.0
    alike(project, range(3, 30))
    lose(cache, project)
    assert scale(cache, project).unrelated > 0.0


class Unmeasured(HashEmbedder):
    """An embedder that nobody knows how to read."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = replace(self.identity, name="unmeasured")


def test_ten_votes_and_searches_measure_the_scale_once(open_bank: OpenBank, measured: list[int]) -> None:
    bank = open_bank(embedder=Unmeasured())
    ids = [bank.record(f"Lesson {n}", f"Quote path {n}.", outcome="success").memory.id for n in range(20)]

    for memory in ids[:10]:
        bank.vote(memory, True)
        assert bank.search("quote path").hits
        assert bank.recall("quote path").hits
    assert measured == [20]

    bank.record("Another lesson", "Wait for migrations.", outcome="success")
    bank.search("quote path")
    assert measured == [20, 21]


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
def test_a_snapshot_is_read_in_less_than_half_of_the_time_that_the_rows_take(project: Project) -> None:
    rows = unit_rows(np.random.default_rng(0).standard_normal((20_000, 384)))
    with project.write() as writing:
        writing.execute("DELETE FROM vectors")
        writing.execute("UPDATE generations SET generation = 2, dim = 384")
        stored = [(n, n, "lesson", 2, row.tobytes()) for n, row in enumerate(rows, 1)]
        writing.insert("vectors", ("id", "memory", "role", "generation", "vector"), stored)

    def opened() -> float:
        cache = VectorCache(MEMORIES, no_snapshot)
        with project.read() as reading:
            begun = time.perf_counter()
            assert cache.nearest(reading, rows[7], 1)[0].tolist() == [8]
            taken = time.perf_counter() - begun
        cache.keep(project)
        return taken

    built = opened()
    assert (project.folder / "vectors.index").exists()
    assert min(opened() for _ in range(3)) < 0.5 * built


# -- nodes ---------------------------------------------------------------------------------------------------------


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
        assert cache.nearest(reading, QUERY, 5)[0].tolist() == [3, 1]
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
        owners, cosines = VectorCache(NODES, no_snapshot).nearest(view, np.full(4, 0.5, dtype=np.float32), 3)
    assert (owners.tolist(), cosines.tolist()) == ([], [])


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
