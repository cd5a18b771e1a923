"""What this process knows of the vectors, beside what a transaction sees: the same for memories and for nodes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.search.relevance import Scale, measured_scale
from reasoningbank.services.cache import vectors
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.project import Project
from reasoningbank.storage.stored_vectors import MEMORIES, StoredVectors
from reasoningbank.vectors.base import unit_rows
from reasoningbank.vectors.faiss import FaissIndex
from tests.conftest import OpenBank
from tests.services.cache.stored import generation, nearest, owners, put
from tests.services.cache.views import no_snapshot

QUERY = np.array([0.6, 0.8], dtype=np.float32)


def held(cache: VectorCache, reading: Reading, *ids: int) -> list[list[float]]:
    rows: list[list[float]] = cache.vectors(reading, np.array(ids, dtype=np.int64), 2).tolist()
    return rows


def test_vectors_that_the_index_does_not_have_come_from_the_table(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as reading:
        assert held(cache, reading, 2, 1) == [[0.0, 1.0], [1.0, 0.0]]

        cache.follow(reading)
        assert held(cache, reading, 2, 1) == [[0.0, 1.0], [1.0, 0.0]]

        assert cache._filled is not None
        cache._filled.index.remove(np.array([1]))
        assert held(cache, reading, 2, 1) == [[0.0, 1.0], [1.0, 0.0]]


def test_no_vector_is_a_row_of_zeros(project: Project) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    for _ in range(2):
        with project.read() as reading:
            assert held(cache, reading, 0, 2, 0) == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
            assert held(cache, reading, 9, 0) == [[0.0, 0.0], [0.0, 0.0]]
            assert held(cache, reading) == []
            cache.follow(reading)


def test_a_transaction_beside_a_newer_one_has_the_vectors_that_came_since_and_those_that_went(
    project: Project,
) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as older:
        with project.write() as writing:
            put(writing, 3, [0.5, 0.5])
            writing.execute("DELETE FROM vectors WHERE id = 1")
            writing.tell("delete", 1, 1)
        assert nearest(cache, project) == [2, 3]
        assert held(cache, older, 3, 1, 2, 9) == [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


def test_who_needs_no_more_than_what_is_covered_does_not_wait_for_those_who_do(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as older:
        before = owners(cache, older)
        with project.write() as writing:
            put(writing, 3, QUERY.tolist())
        these, answers = StoredVectors.these, []

        def answered_meanwhile(*given: Any) -> Iterator[Any]:
            # The index is being changed: what began before the change is answered now, or never in this thread.
            answers.append(owners(cache, older))
            yield from these(*given)

        monkeypatch.setattr(StoredVectors, "these", answered_meanwhile)
        assert nearest(cache, project) == [3, 2, 1]
        assert answers == [before]


@pytest.mark.parametrize("row", [[0.6, 0.8], [0.6, 0.0, 0.8]])
def test_a_transaction_from_before_a_re_embedding_looks_at_the_old_vectors_once_more(
    project: Project, row: list[float]
) -> None:
    cache = VectorCache(MEMORIES, no_snapshot)
    with project.read() as older:
        assert owners(cache, older) == [2, 1]
        with project.write() as writing:
            generation(writing, 2, "filling", len(row))
            put(writing, 3, row, generation=2, told=False)
            writing.execute("DELETE FROM generations WHERE generation = 1")
            writing.execute("DELETE FROM vectors WHERE generation = 1")
            writing.execute("UPDATE generations SET state = 'current'")
        with project.read() as newer:
            cache.follow(newer)
        assert owners(cache, older) == [2, 1]
        assert held(cache, older, 1, 2) == [[1.0, 0.0], [0.0, 1.0]]
        assert len(held(cache, older, 3)[0]) == 2
    with project.read() as newer:
        assert cache.nearest(newer, np.array(row, dtype=np.float32), 5)[0].tolist() == [3]


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
