"""What is kept of filters is what a transaction sees."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.filters import Filters, conditions
from reasoningbank.memory import Outcome
from reasoningbank.services.cache import filters as cached_filters
from reasoningbank.services.cache.filters import KEPT
from reasoningbank.services.cache.project import ProjectCache
from reasoningbank.services.view import View
from reasoningbank.storage import records
from reasoningbank.storage.filters import clause
from tests.conftest import OpenBank
from tests.processes import in_child
from tests.services.cache.views import in_another_thread, looking, project_cache, statements

FILTERS = (
    Filters(outcome=Outcome.SUCCESS),
    Filters(tags=("shell",)),
    Filters(tags=("shell", "paths"), outcome=Outcome.FAILURE),
    Filters(where=conditions({"team": 1})),
    Filters(where=conditions({"team": True, "repo": "a"})),
    Filters(tags=("shell",), since=datetime(2026, 1, 1, 0, 0, 3, tzinfo=UTC)),
    Filters(since=datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC), until=datetime(2026, 1, 1, 0, 0, 9, tzinfo=UTC)),
)

Pairs = set[tuple[int, int]]


def expected(view: View, filters: Filters) -> Pairs:
    condition, values = clause(filters)
    rows = view.execute(
        "SELECT n, coalesce(vectors.id, 0) FROM memories LEFT JOIN vectors ON memory = n "
        f"AND generation = (SELECT generation FROM generations WHERE state = 'current') WHERE {condition}",
        values,
    )
    return set(rows)


def found(cache: ProjectCache, view: View, filters: Filters) -> Pairs:
    passing = cache.passing(view, filters)
    pairs = list(zip(passing.memories.tolist(), passing.vectors.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def check(bank: ReasoningBank, cache: ProjectCache) -> None:
    with looking(bank, cache) as view:
        for filters in FILTERS:
            assert found(cache, view, filters) == expected(view, filters)


def fill(bank: ReasoningBank, count: int) -> list[str]:
    drafts = [
        {
            "title": f"Lesson {n}",
            "content": f"Quote path {n}.",
            "outcome": "success" if n % 2 else "failure",
            "tags": ["shell"] if n % 3 else ["paths", "shell"],
            "metadata": {"team": [1, True, 1.0, "1"][n % 4], "repo": "a"},
            "applies_when": "With blanks." if n % 5 else "",
            "occurred_at": datetime(2026, 1, 1, 0, 0, n % 13, tzinfo=UTC) if n % 4 else None,
        }
        for n in range(count)
    ]
    return [done.memory.id for done in bank.record_many(drafts)]


def test_every_change_of_another_handle_is_followed(open_bank: OpenBank) -> None:
    here, there, cache = open_bank(), open_bank(), project_cache()
    ids = fill(here, 12)
    check(there, cache)
    changes: list[Callable[[], object]] = [
        lambda: here.update(ids[0], tags=["shell", "other"]),
        lambda: here.update(ids[1], outcome="failure", applies_when=""),
        lambda: here.update(ids[2], metadata={"team": 1}),
        lambda: here.update(ids[6], occurred_at="2026-01-01T00:00:08Z"),
        lambda: here.upkeep.archive(ids[3]),
        lambda: here.delete(ids[4]),
        lambda: here.upkeep.restore(ids[3]),
        lambda: here.vote(ids[5], True),
        lambda: here.record("Another lesson", "Wait.", outcome="success", tags=["paths", "shell"]),
        lambda: fill(here, 20),
        here.upkeep.rebuild,
        here.upkeep.maintain,
        here.upkeep.reembed,
    ]
    for change in changes:
        change()
        check(there, cache)


def test_after_more_changes_than_are_followed_all_are_asked_anew(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_filters, "FOLLOWED", 3)
    cache = project_cache()
    for count in (2, 3, 4, 9):
        fill(bank, count)
        check(bank, cache)


def test_an_older_transaction_does_not_see_what_came_after_it(open_bank: OpenBank) -> None:
    here, there, cache = open_bank(), open_bank(), project_cache()
    ids = fill(here, 6)
    with there._engine.read() as older:
        before = {clause(filters)[0]: expected(older, filters) for filters in FILTERS}
        here.delete(ids[0])
        fill(here, 3)
        check(here, cache)
        cache.follow(older)
        for filters in FILTERS:
            assert found(cache, older, filters) == expected(older, filters) == before[clause(filters)[0]]
    check(here, cache)


def test_what_a_transaction_sees_passes_though_another_thread_is_ahead_of_it(bank: ReasoningBank) -> None:
    cache = project_cache()
    fill(bank, 3)
    check(bank, cache)
    fill(bank, 6)
    with looking(bank, cache) as view:
        fill(bank, 9)
        with looking(bank, cache):
            pass
        for filters in FILTERS:
            assert found(cache, view, filters) == expected(view, filters)
    check(bank, cache)


def test_a_change_that_another_thread_sees_while_filters_are_brought_up_to_date_is_not_lost(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, threads, passing = project_cache(), ExitStack(), records.passing
    fill(bank, 3)
    check(bank, cache)
    fill(bank, 6)

    def look_ahead() -> None:
        with looking(bank, cache):
            pass

    def read_while_another_sees_more(*given: Any, timed: bool) -> Sequence[tuple[int, int, str]]:
        monkeypatch.setattr(records, "passing", passing)
        result = passing(*given, timed=timed)
        fill(bank, 9)
        threads.enter_context(in_another_thread(look_ahead))
        return result

    monkeypatch.setattr(records, "passing", read_while_another_sees_more)
    with threads, looking(bank, cache) as view:
        assert found(cache, view, FILTERS[0]) == expected(view, FILTERS[0])
    check(bank, cache)


def test_nothing_is_read_again_while_nothing_changes(bank: ReasoningBank) -> None:
    cache = project_cache()
    fill(bank, 3)
    with looking(bank, cache) as view:
        first = cache.passing(view, FILTERS[0])
        with statements(view) as asked:
            assert cache.passing(view, FILTERS[0]) is first
    assert asked == []
    assert first.holds(np.array([1, 2, 9])).tolist() == [False, True, False]


def test_only_what_changed_is_asked_about_again(bank: ReasoningBank) -> None:
    cache = project_cache()
    ids = fill(bank, 3)
    check(bank, cache)
    bank.update(ids[1], outcome="failure")
    with looking(bank, cache) as view, statements(view) as asked:
        assert found(cache, view, FILTERS[0]) == set()
    assert ["n IN (2)" in statement for statement in asked] == [True]


def test_only_the_filters_that_were_used_last_are_kept(bank: ReasoningBank) -> None:
    cache = project_cache()
    fill(bank, 3)
    with looking(bank, cache) as view:
        first = cache.passing(view, FILTERS[0])
        for number in range(KEPT + 2):
            cache.passing(view, Filters(tags=(f"tag-{number}",)))
            assert len(cache._filters._kept) <= KEPT
            if number < KEPT - 2:
                assert cache.passing(view, FILTERS[0]) is first
        assert cache.passing(view, Filters(tags=("tag-9",))).memories.size == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_empty(bank: ReasoningBank) -> None:
    cache = project_cache()
    fill(bank, 3)
    check(bank, cache)
    kept = cache._filters

    def look() -> None:
        assert not kept._kept
        assert kept._lock.acquire(blocking=False)

    with kept._lock:
        assert in_child(look) == 0
