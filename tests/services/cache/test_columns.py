"""A cache of columns gives what was read of the state that was followed to, and reads nothing twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache.columns import FEWEST, Columns, Table
from reasoningbank.services.view import View
from tests.processes import in_child


class Facts:
    """What is true of memories, and which were read; a memory without any is gone."""

    def __init__(self) -> None:
        self.true: dict[int, str] = {}
        self.asked: list[int] = []
        self.meanwhile: Callable[[], None] | None = None

    def read(self, _: View, numbers: Sequence[int]) -> Table:
        self.asked += numbers
        table = np.zeros(len(numbers), dtype=[("there", "?"), ("fact", "O")])
        for row, n in zip(table, numbers, strict=True):
            row["there"], row["fact"] = n in self.true, self.true.get(n)
        if self.meanwhile is not None:
            self.meanwhile()
        return table

    def columns(self, capacity: int = 1_000) -> Columns:
        made = Columns([("there", "?"), ("fact", "O")], self.read, capacity)
        made.follow((1, 0, 0), None)
        return made


@pytest.fixture
def facts() -> Facts:
    made = Facts()
    made.true = {n: f"fact {n}" for n in range(1, 9)}
    return made


@pytest.fixture
def view(bank: ReasoningBank) -> Iterator[View]:
    with bank._engine.read() as view:
        yield view


def rows(columns: Columns, view: View, change: int, numbers: list[int]) -> Table:
    return columns.rows(view, (change, 0, 0), np.array(numbers, dtype=np.int64))


def test_only_what_is_not_kept_is_read_and_all_come_in_the_order_they_are_asked_in(facts: Facts, view: View) -> None:
    columns = facts.columns()
    assert rows(columns, view, 1, [3, 1])["fact"].tolist() == ["fact 3", "fact 1"]

    assert rows(columns, view, 1, [1, 2, 3])["fact"].tolist() == ["fact 1", "fact 2", "fact 3"]
    assert rows(columns, view, 1, []).tolist() == []
    assert facts.asked == [3, 1, 2]


def test_what_changed_is_read_again_and_nothing_else(facts: Facts, view: View) -> None:
    columns = facts.columns()
    rows(columns, view, 1, [1, 2, 3])
    facts.asked.clear()
    facts.true[2] = "another"
    columns.follow((2, 0, 0), {2, 7})

    assert rows(columns, view, 2, [1, 2, 3])["fact"].tolist() == ["fact 1", "another", "fact 3"]
    assert facts.asked == [2]


def test_when_it_is_not_known_what_changed_all_are_read_again(facts: Facts, view: View) -> None:
    columns = facts.columns()
    rows(columns, view, 1, [1, 2])
    columns.follow((2, 0, 0), None)
    rows(columns, view, 2, [1, 2])
    assert facts.asked == [1, 2, 1, 2]


def test_that_a_memory_is_gone_is_kept_too_until_it_comes(facts: Facts, view: View) -> None:
    columns = facts.columns()
    for _ in range(2):
        assert rows(columns, view, 1, [9])["there"].tolist() == [False]
    assert facts.asked == [9]

    facts.true[9] = "new"
    columns.follow((2, 0, 0), {9})
    assert rows(columns, view, 2, [9])["fact"].tolist() == ["new"]


def test_what_a_view_of_a_newer_state_reads_is_not_kept(facts: Facts, view: View) -> None:
    columns = facts.columns()
    for _ in range(2):
        rows(columns, view, 2, [1])
    assert facts.asked == [1, 1]


def test_what_a_view_of_an_older_state_reads_is_kept_where_it_is_still_the_same(facts: Facts, view: View) -> None:
    columns = facts.columns()
    columns.follow((2, 0, 0), {2, 5})
    columns.change((3, 0, 0), np.array([3]), lambda table: (table, np.ones(len(table), dtype=bool)))
    rows(columns, view, 1, [1, 2, 3, 4])
    facts.asked.clear()
    rows(columns, view, 3, [1, 2, 3, 4, 5])
    assert facts.asked == [2, 3, 5]

    columns.follow((4, 0, 0), None)
    rows(columns, view, 3, [1])
    rows(columns, view, 4, [1])
    assert facts.asked[3:] == [1, 1]


def test_what_another_thread_has_outrun_is_not_kept(facts: Facts, view: View) -> None:
    columns = facts.columns()
    facts.meanwhile = lambda: columns.follow((2, 0, 0), {1})
    assert rows(columns, view, 1, [1])["fact"].tolist() == ["fact 1"]

    facts.meanwhile, facts.true[1] = None, "later"
    assert rows(columns, view, 2, [1])["fact"].tolist() == ["later"]


def test_a_view_of_an_older_state_finds_what_a_newer_one_kept(facts: Facts, view: View) -> None:
    columns = facts.columns()
    columns.follow((2, 0, 0), set())
    rows(columns, view, 2, [1])
    assert rows(columns, view, 1, [1])["fact"].tolist() == ["fact 1"]
    assert facts.asked == [1]


def test_no_more_are_kept_than_there_is_room_for(facts: Facts, view: View) -> None:
    columns = facts.columns(capacity=3)
    for wanted, read in (([1, 2], [1, 2]), ([2, 3], [3]), ([3, 4], [4]), ([3, 4], [3]), ([1, 3, 4], [1])):
        facts.asked.clear()
        assert rows(columns, view, 1, wanted)["fact"].tolist() == [f"fact {n}" for n in wanted]
        assert facts.asked == read


def test_any_number_of_memories_can_be_kept_and_places_that_are_free_are_used_again(facts: Facts, view: View) -> None:
    columns, many = facts.columns(capacity=10_000), list(range(1, 3 * FEWEST))
    facts.true = {n: f"fact {n}" for n in many}
    for state in range(2, 6):
        rows(columns, view, state - 1, many)
        columns.follow((state, 0, 0), many[::2])
    assert rows(columns, view, 5, many)["fact"].tolist() == list(facts.true.values())
    assert columns._used == len(many)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_empty(facts: Facts, view: View) -> None:
    columns = facts.columns()
    rows(columns, view, 1, [1])

    def look() -> None:
        assert columns._used == 0
        assert columns._lock.acquire(blocking=False)

    with columns._lock:
        assert in_child(look) == 0
