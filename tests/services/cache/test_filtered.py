"""What is kept of filters is what a transaction sees."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reasoningbank.services.cache.filtered import KEPT, FilteredMemories

from reasoningbank import ReasoningBank, Verdict
from reasoningbank.services.cache import filtered
from reasoningbank.storage.filters import Filters
from tests.conftest import OpenBank
from tests.processes import in_child

FILTERS = (
    Filters(outcome=Verdict.SUCCESS),
    Filters(tags=("shell",)),
    Filters(tags=("shell", "paths"), outcome=Verdict.FAILURE),
    Filters(where={"team": 1}),
    Filters(where={"team": True, "repo": "a"}),
)


def expected(connection: sqlite3.Connection, filters: Filters) -> set[tuple[int, int]]:
    condition, values = filters.clause()
    rows = connection.execute(
        "SELECT n, coalesce(vectors.id, 0) FROM memories LEFT JOIN vectors ON memory = n "
        f"AND generation = (SELECT generation FROM generations WHERE state = 'current') WHERE {condition}",
        values,
    )
    return set(rows)


def found(kept: FilteredMemories, connection: sqlite3.Connection, filters: Filters) -> set[tuple[int, int]]:
    passing = kept.passing(connection, filters)
    pairs = list(zip(passing.memories.tolist(), passing.vectors.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def check(bank: ReasoningBank, kept: FilteredMemories) -> None:
    with bank._engine.read() as connection:
        assert connection is not None
        for filters in FILTERS:
            assert found(kept, connection, filters) == expected(connection, filters)


def fill(bank: ReasoningBank, count: int) -> list[str]:
    drafts = [
        {
            "title": f"Lesson {n}",
            "content": f"Quote path {n}.",
            "outcome": "success" if n % 2 else "failure",
            "tags": ["shell"] if n % 3 else ["paths", "shell"],
            "metadata": {"team": [1, True, 1.0, "1"][n % 4], "repo": "a"},
            "applies_when": "With blanks." if n % 5 else "",
        }
        for n in range(count)
    ]
    return [done.memory.id for done in bank.record_many(drafts)]


def test_every_change_of_another_handle_is_followed(open_bank: OpenBank) -> None:
    here, there = open_bank(), open_bank()
    ids = fill(here, 12)
    kept = FilteredMemories()
    check(there, kept)
    changes: list[Callable[[], object]] = [
        lambda: here.update(ids[0], tags=["shell", "other"]),
        lambda: here.update(ids[1], outcome="failure", applies_when=""),
        lambda: here.update(ids[2], metadata={"team": 1}),
        lambda: here.upkeep.archive(ids[3]),
        lambda: here.delete(ids[4]),
        lambda: here.upkeep.restore(ids[3]),
        lambda: here.vote(ids[5], True),
        lambda: here.record("Another lesson", "Wait.", outcome="success", tags=["paths", "shell"]),
        lambda: fill(here, 20),
        here.upkeep.rebuild,
        here.upkeep.maintain,
    ]
    for change in changes:
        change()
        check(there, kept)


def test_after_more_changes_than_are_followed_all_are_asked_anew(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filtered, "FOLLOWED", 3)
    here, kept = open_bank(), FilteredMemories()
    for count in (2, 3, 4, 9):
        fill(here, count)
        check(here, kept)


def test_an_older_transaction_does_not_see_what_came_after_it(open_bank: OpenBank) -> None:
    here, there = open_bank(), open_bank()
    ids, kept = fill(here, 6), FilteredMemories()
    with there._engine.read() as older:
        assert older is not None
        before = {filters.clause()[0]: expected(older, filters) for filters in FILTERS}
        here.delete(ids[0])
        fill(here, 3)
        check(here, kept)
        for filters in FILTERS:
            assert found(kept, older, filters) == expected(older, filters) == before[filters.clause()[0]]
    check(here, kept)


def test_nothing_is_read_again_while_nothing_changes(open_bank: OpenBank) -> None:
    bank, kept, statements = open_bank(), FilteredMemories(), list[str]()
    fill(bank, 3)
    with bank._engine.read() as connection:
        assert connection is not None
        first = kept.passing(connection, FILTERS[0])
        connection.set_trace_callback(statements.append)
        assert kept.passing(connection, FILTERS[0]) is first
        connection.set_trace_callback(None)
    assert not any("memories" in statement for statement in statements)
    assert first.holds(np.array([1, 2, 9])).tolist() == [False, True, False]


def test_only_the_filters_that_were_used_last_are_kept(open_bank: OpenBank) -> None:
    bank, kept = open_bank(), FilteredMemories()
    fill(bank, 3)
    with bank._engine.read() as connection:
        assert connection is not None
        first = kept.passing(connection, FILTERS[0])
        for number in range(KEPT + 2):
            kept.passing(connection, Filters(tags=(f"tag-{number}",)))
            assert len(kept._kept) <= KEPT
            if number < KEPT - 2:
                assert kept.passing(connection, FILTERS[0]) is first
        assert kept.passing(connection, Filters(tags=("tag-9",))).memories.size == 0


def test_a_forked_child_starts_empty(tmp_path: Path) -> None:
    kept = FilteredMemories()
    with ReasoningBank(tmp_path, tenant="t", project="p", embedder="hash") as bank:
        fill(bank, 3)
        check(bank, kept)

    def look() -> None:
        assert not kept._kept
        assert kept._lock.acquire(blocking=False)

    with kept._lock:
        assert in_child(look) == 0
