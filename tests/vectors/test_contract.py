"""What the vector index keeps in every state it can be in, with a fresh instance for every case."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.errors import InvalidInputError
from reasoningbank.vectors.base import Float32, Int64, unit_rows
from reasoningbank.vectors.faiss import FaissIndex
from tests.vectors.exact import ExactIndex
from tests.vectors.laid import over_milvus, over_qdrant
from tests.vectors.reopened import Reopened

Make = Callable[[int], FaissIndex]


STATES: dict[str, Make] = {
    "one block": FaissIndex,
    "blocks of 4": lambda dim: FaissIndex(dim, block_rows=4),
    "its codes": Reopened,
    "over Qdrant": over_qdrant,
    "over Milvus": over_milvus,
}


@pytest.fixture(params=list(STATES.values()), ids=list(STATES))
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def ids(*numbers: int) -> Int64:
    return np.array(numbers, dtype=np.int64)


def rows(*vectors: tuple[float, ...]) -> Float32:
    return unit_rows(np.array(vectors, dtype=np.float32))


def random_rows(count: int, dim: int, seed: int = 0) -> Float32:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, dim)))


def found(index: FaissIndex, query: Float32, k: int, allowed: Int64 | None = None) -> list[int]:
    return index.search(query, k, allowed=allowed)[0].tolist()  # type: ignore[no-any-return]


def test_it_is_empty_at_first(make: Make) -> None:
    assert make(3).dim == 3
    assert len(make(3)) == 0


def test_the_nearest_come_first_with_their_cosines(make: Make) -> None:
    index = make(2)
    index.add(ids(10, 20, 30), rows((1, 0), (0.6, 0.8), (-1, 0)))

    numbers, cosines = index.search(rows((1, 0))[0], 3)

    assert numbers.dtype == np.int64
    assert cosines.dtype == np.float32
    assert numbers.tolist() == [10, 20, 30]
    assert cosines.tolist() == pytest.approx([1.0, 0.6, -1.0])


def test_after_a_removal_the_others_keep_their_own_vectors(make: Make) -> None:
    index = make(2)
    index.add(ids(1, 2, 3), rows((1, 0), (0, 1), (-1, 0)))

    index.remove(ids(1))

    assert found(index, rows((-1, 0))[0], 1) == [3]
    assert index.get(ids(3)).tolist() == [[-1.0, 0.0]]
    assert len(index) == 2


def test_asking_for_more_than_there_is_returns_each_once(make: Make) -> None:
    index = make(2)
    index.add(ids(1, 2, 3), rows((1, 0), (0, 1), (-1, 0)))

    assert found(index, rows((1, 0))[0], 10) == [1, 2, 3]
    assert found(index, rows((1, 0))[0], 10_000, ids(3, 2)) == [2, 3]


@pytest.mark.parametrize("k", [0, -1])
def test_asking_for_none_returns_none(make: Make, k: int) -> None:
    index = make(2)
    index.add(ids(1), rows((1, 0)))

    assert found(index, rows((1, 0))[0], k) == []


def test_an_empty_index_finds_nothing(make: Make) -> None:
    assert found(make(2), rows((1, 0))[0], 5) == []
    assert found(make(2), rows((1, 0))[0], 5, ids(1)) == []
    assert make(2).get(ids()).shape == (0, 2)


def test_one_allowed_among_many_better_ones_is_found(make: Make) -> None:
    index = make(16)
    noise = unit_rows(np.eye(1, 16) + 0.01 * np.random.default_rng(1).standard_normal((3000, 16)))
    index.add(np.arange(3000, dtype=np.int64), noise)
    index.add(ids(7_000_000), rows((0, *[1] * 15)))

    assert found(index, noise[0], 5, ids(7_000_000)) == [7_000_000]


def test_many_allowed_among_more_are_ranked_as_if_alone(make: Make) -> None:
    index, alone = make(8), make(8)
    vectors = random_rows(5000, 8)
    index.add(np.arange(5000, dtype=np.int64), vectors)
    allowed = np.arange(0, 5000, 2, dtype=np.int64)
    alone.add(allowed, vectors[allowed])

    assert found(index, vectors[7], 20, allowed) == found(alone, vectors[7], 20)


def test_many_allowed_of_which_none_is_there_find_nothing(make: Make) -> None:
    index = make(8)
    index.add(np.arange(100, dtype=np.int64), random_rows(100, 8))

    assert found(index, random_rows(1, 8)[0], 5, np.arange(1000, 5000, dtype=np.int64)) == []


def test_allowed_ids_that_are_unknown_or_repeated_change_nothing(make: Make) -> None:
    index = make(2)
    index.add(ids(1, 2), rows((1, 0), (0, 1)))

    assert found(index, rows((1, 0))[0], 5, ids(2, 2, 99, -5)) == [2]
    assert found(index, rows((1, 0))[0], 5, ids()) == []


def test_equal_vectors_come_in_ascending_order_of_id(make: Make) -> None:
    index = make(48)
    twin = random_rows(1, 48)
    order = np.random.default_rng(2).permutation(200).astype(np.int64)
    index.add(order, np.repeat(twin, 200, axis=0))

    assert found(index, twin[0], 7) == [0, 1, 2, 3, 4, 5, 6]
    assert found(index, twin[0], 200) == list(range(200))


def test_adding_an_id_again_replaces_its_vector(make: Make) -> None:
    index = make(2)
    index.add(ids(1, 2), rows((1, 0), (0, 1)))

    index.add(ids(1, 3), rows((0, -1), (1, 0)))

    assert len(index) == 3
    assert found(index, rows((1, 0))[0], 3) == [3, 1, 2] or found(index, rows((1, 0))[0], 3) == [3, 2, 1]
    assert index.get(ids(1)).tolist() == [[0.0, -1.0]]


def test_of_an_id_given_twice_the_last_vector_counts(make: Make) -> None:
    index = make(2)

    index.add(ids(5, 5), rows((1, 0), (0, 1)))

    assert len(index) == 1
    assert index.get(ids(5)).tolist() == [[0.0, 1.0]]


def test_removing_what_is_not_there_changes_nothing(make: Make) -> None:
    index = make(2)
    index.add(ids(1), rows((1, 0)))

    index.remove(ids(2, -1, 2**62))
    index.remove(ids())

    assert found(index, rows((1, 0))[0], 5) == [1]


def test_everything_can_be_removed_and_come_back(make: Make) -> None:
    index = make(2)
    index.add(ids(1, 2), rows((1, 0), (0, 1)))
    index.remove(ids(1, 2, 1))
    assert len(index) == 0

    index.add(ids(2), rows((1, 0)))

    assert found(index, rows((1, 0))[0], 5) == [2]


def test_ids_may_be_as_large_as_64_bits_allow(make: Make) -> None:
    index = make(2)
    index.add(ids(2**63 - 1, 0), rows((1, 0), (0, 1)))

    assert found(index, rows((1, 0))[0], 2) == [2**63 - 1, 0]


def test_get_of_an_unknown_id_names_it(make: Make) -> None:
    with pytest.raises(KeyError, match="42"):
        make(2).get(ids(42))


def test_vectors_are_copied_in_and_out(make: Make) -> None:
    index = make(2)
    given_rows = rows((1, 0))
    index.add(ids(1), given_rows)

    given_rows[:] = 7
    index.get(ids(1))[:] = 7

    assert index.get(ids(1)).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("numbers", "vectors"),
    [
        (ids(1), np.zeros((1, 3), np.float32)),
        (ids(1, 2), np.zeros((1, 2), np.float32)),
        (ids(-1), np.zeros((1, 2), np.float32)),
        (ids(1), np.array([[np.nan, 0]], np.float32)),
        (ids(1), np.array([[np.inf, 0]], np.float32)),
    ],
)
def test_what_cannot_be_found_again_is_refused_and_nothing_is_added(
    make: Make, numbers: Int64, vectors: Float32
) -> None:
    index = make(2)

    with pytest.raises(InvalidInputError):
        index.add(numbers, vectors)

    assert len(index) == 0


@pytest.mark.parametrize("query", [np.zeros(3, np.float32), np.zeros((1, 2), np.float32), np.array([np.nan, 0])])
def test_a_query_of_another_width_or_without_meaning_is_refused(make: Make, query: Float32) -> None:
    with pytest.raises(InvalidInputError):
        make(2).search(query, 1)


def test_a_stored_text_finds_itself_at_one(make: Make) -> None:
    vectors = random_rows(200, 384)
    index = make(384)
    index.add(np.arange(200, dtype=np.int64), vectors)

    for number, vector in enumerate(vectors):
        numbers, cosines = index.search(vector, 1)
        assert numbers.tolist() == [number]
        assert cosines[0] == pytest.approx(1.0, abs=1e-6)


changes = st.lists(
    st.tuples(
        st.booleans(),
        st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(-1, 1), min_size=3, max_size=3)), max_size=12),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(
    changes=changes,
    query=st.lists(st.integers(-2, 2), min_size=3, max_size=3),
    k=st.integers(0, 40),
    allowed=st.none() | st.lists(st.integers(0, 35), max_size=20),
    least=st.sampled_from([-1.0, 0.0, 0.6, 0.92]),
)
@pytest.mark.parametrize("state", STATES)
def test_any_history_of_changes_leaves_what_the_reference_has(
    state: str,
    changes: list[tuple[bool, list[tuple[int, list[int]]]]],
    query: list[int],
    k: int,
    allowed: list[int] | None,
    least: float,
) -> None:
    index, reference = STATES[state](3), ExactIndex(3)
    for adds, entries in changes:
        numbers = ids(*(number for number, _ in entries))
        vectors = unit_rows(np.array([vector for _, vector in entries], dtype=np.float32).reshape(-1, 3))
        for one in (index, reference):
            one.add(numbers, vectors) if adds else one.remove(numbers)
    asked = unit_rows(np.array(query, dtype=np.float32))
    only = None if allowed is None else ids(*allowed)

    numbers, cosines = index.search(asked, k, allowed=only, least=least)
    expected, expected_cosines = reference.search(asked, k, allowed=only, least=least)

    assert len(index) == len(reference)
    assert numbers.tolist() == expected.tolist()
    assert cosines.tolist() == expected_cosines.tolist()


def test_searches_beside_changes_see_whole_states(make: Make) -> None:
    index = make(32)
    steady = random_rows(50, 32)
    index.add(np.arange(50, dtype=np.int64), steady)
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            if found(index, steady[3], 1) != [3]:
                wrong.append(True)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for round_ in range(60):
        passing = np.arange(1000 + 20 * round_, 1020 + 20 * round_, dtype=np.int64)
        index.add(passing, random_rows(20, 32, seed=round_))
        index.remove(passing[::2])
    stop.set()
    for reader in readers:
        reader.join()

    assert wrong == []
    assert len(index) == 50 + 600


def test_a_lock_that_another_thread_held_at_the_fork_is_free_in_the_child(make: Make) -> None:
    index = make(2)
    index.add(ids(1), rows((1, 0)))
    with index._lock.writing():
        index.after_fork()

        assert found(index, rows((1, 0))[0], 1) == [1]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_searches_and_does_not_hang(make: Make) -> None:
    vectors = random_rows(3000, 64)
    index = make(64)
    index.add(np.arange(3000, dtype=np.int64), vectors)
    index.search(vectors[0], 5)

    def child() -> None:
        signal.alarm(20)
        right = found(index, vectors[7], 1) == [7]
        index.add(ids(5000), vectors[:1])
        os._exit(0 if right and len(index) == 3001 else 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)

    assert process.exitcode == 0
    assert len(index) == 3000
