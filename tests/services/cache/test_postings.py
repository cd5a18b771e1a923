"""Kept postings give what FTS5 gives, whatever was written meanwhile and by whom."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache import postings
from reasoningbank.services.cache.postings import PostingCache
from reasoningbank.storage import words
from reasoningbank.storage.fts import FtsWords
from tests.conftest import OpenBank
from tests.processes import in_child
from tests.services.cache.indexed import found, numbers, of_fts5, put, remove, rewrite, search
from tests.services.cache.views import in_another_thread, looking, project_cache, statements

# -- what is read --------------------------------------------------------------------------------------------------


def test_postings_are_read_once_while_nothing_changes(bank: ReasoningBank) -> None:
    cache = project_cache()
    put(bank, 1, "file run")
    first = search(bank, cache, "file", "run", "nowhere")

    with looking(bank, cache) as view, statements(view) as asked:
        assert found(cache, view, ["file", "run", "nowhere"]) == first
    assert asked == []


def test_a_write_has_no_postings_read_again(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in (1, 2, 3):
        put(bank, n, "file run")
    search(bank, cache, "file")
    put(bank, 4, "run file file")

    with looking(bank, cache) as view, statements(view) as asked:
        assert numbers(found(cache, view, ["file"])) == [1, 2, 3, 4]
    assert not any("occurrences" in statement for statement in asked)


def test_a_vote_has_nothing_read_again(bank: ReasoningBank) -> None:
    cache = project_cache()
    put(bank, 1, "file run")
    search(bank, cache, "file")
    with bank._engine.write() as edit:
        edit.tell("evidence", 1)

    with looking(bank, cache) as view, statements(view) as asked:
        assert numbers(found(cache, view, ["file"])) == [1]
    assert asked == []


def test_no_more_postings_are_kept_than_there_is_room_for(bank: ReasoningBank) -> None:
    cache = project_cache()
    cache._postings = PostingCache(capacity=5)
    for n in range(1, 4):
        put(bank, n, "file run rare")
    for wanted in (["file"], ["run"], ["rare"], ["file", "run", "rare"]):
        search(bank, cache, *wanted)
        kept = cache._postings
        assert sum(len(each) + 1 for each, _ in kept._kept.values()) == kept._size <= 5


def test_the_postings_that_were_used_last_stay(bank: ReasoningBank) -> None:
    cache = project_cache()
    cache._postings = PostingCache(capacity=4)
    put(bank, 1, "file run rare")
    for wanted in ("file", "run", "file", "rare"):
        search(bank, cache, wanted)
    assert list(cache._postings._kept) == ["file", "rare"]


@pytest.mark.parametrize("at_once", [True, False])
def test_after_more_changes_than_are_followed_postings_are_read_again(bank: ReasoningBank, at_once: bool) -> None:
    cache = project_cache()
    cache._postings = PostingCache(followed=3)
    put(bank, 1, "file run")
    search(bank, cache, "file", "run")
    for n in range(2, 6):
        put(bank, n, "file")
        if not at_once:
            search(bank, cache, "run")

    for wanted in ("run", "file"):
        with looking(bank, cache) as view, statements(view) as asked:
            assert found(cache, view, [wanted]) == of_fts5(view, [wanted])
        assert any("occurrences" in statement for statement in asked) is (at_once or wanted == "file")


def test_what_says_something_else_twice_between_two_searches_is_found_by_what_it_says_last(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in (1, 2):
        put(bank, n, "file run")
    search(bank, cache, "file", "run")
    put(bank, 3, "run")
    search(bank, cache, "file")
    rewrite(bank, 1, "file file")
    rewrite(bank, 3, "file")
    search(bank, cache, "file")
    rewrite(bank, 1, "run run run")

    assert numbers(search(bank, cache, "file")) == [2, 3]
    with bank._engine.read() as view:
        assert search(bank, cache, "run", "file") == of_fts5(view, ["run", "file"])


# -- common terms --------------------------------------------------------------------------------------------------


@pytest.fixture
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "BUDGET", 2)


def counted(asked: list[str]) -> list[str]:
    return [statement for statement in asked if "vocabulary" in statement]


@pytest.mark.usefixtures("small_budget")
def test_a_term_that_is_known_to_be_common_is_not_counted_again(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in range(1, 9):
        put(bank, n, "file run" if n == 1 else "file")
    search(bank, cache, "file", "run")

    put(bank, 9, "file rare")
    with looking(bank, cache) as view, statements(view) as asked:
        assert numbers(found(cache, view, ["file", "rare"])) == [9]
    assert len(counted(asked)) == 1
    assert "file" not in counted(asked)[0]


@pytest.mark.usefixtures("small_budget")
def test_a_term_that_was_counted_is_counted_again_only_when_a_memory_was_rewritten(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in (1, 2):
        put(bank, n, "file run rare" if n == 1 else "file run")
    search(bank, cache, "file", "rare")

    def times_counted() -> int:
        with looking(bank, cache) as view, statements(view) as asked:
            assert numbers(found(cache, view, ["file", "rare"])) == [1]
        return len(counted(asked))

    put(bank, 3, "file run")
    assert times_counted() == 0
    rewrite(bank, 3, "run")
    assert [times_counted(), times_counted()] == [1, 0]


@pytest.mark.usefixtures("small_budget")
def test_a_new_memory_counts_for_terms_that_were_counted(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n, text in enumerate(["rare", "file", "file", "run", "run"], 1):
        put(bank, n, text)
    assert numbers(search(bank, cache, "rare", "file")) == [1]

    put(bank, 6, "file")
    assert numbers(search(bank, cache, "file", "run")) == [4, 5]


@pytest.mark.usefixtures("small_budget")
def test_a_term_that_may_have_become_rare_is_counted_again(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in range(1, 9):
        put(bank, n, "file run" if n == 1 else "file")
    assert numbers(search(bank, cache, "file", "run")) == [1]

    remove(bank, *range(2, 9))
    put(bank, 9, "run")
    assert numbers(search(bank, cache, "file", "run")) == [1]
    remove(bank, 9)
    put(bank, 10, "file")
    assert numbers(search(bank, cache, "file", "run")) == [1]
    remove(bank, 10)
    put(bank, 11, "file run")
    assert numbers(search(bank, cache, "file")) == [1, 11]


@pytest.mark.usefixtures("small_budget")
def test_what_is_remembered_of_common_terms_changes_no_answer(bank: ReasoningBank) -> None:
    kept = project_cache()
    texts = ["file rare", "file run", "file run", "file run", "file", "rare rare", "run", "file rare", "run rare"]
    for n, text in enumerate(texts, 1):
        put(bank, n, text)
        for wanted in (["file", "run", "rare"], ["file", "run"], ["file"], ["rare", "nowhere"]):
            expected = search(bank, project_cache(), *wanted)
            assert search(bank, kept, *wanted) == search(bank, kept, *wanted) == expected


# -- several at once -----------------------------------------------------------------------------------------------


@pytest.fixture
def while_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Has something done in the midst of the next call of the text index."""

    def arrange(name: str, act: Callable[[], object]) -> None:
        # What is the same on every engine is a function.
        owner = FtsWords if hasattr(FtsWords, name) else words
        read = getattr(owner, name)

        def reading(*given: Any) -> Any:
            monkeypatch.setattr(owner, name, read)
            result = read(*given)
            act()
            return result

        monkeypatch.setattr(owner, name, reading)

    return arrange


WhileReading = Callable[[str, Callable[[], object]], None]


def test_postings_that_another_thread_has_outrun_are_not_kept(bank: ReasoningBank, while_reading: WhileReading) -> None:
    cache = project_cache()
    cache._postings = PostingCache(followed=3)
    put(bank, 1, "file")
    search(bank, cache, "rare")

    def others_write() -> None:
        for n in range(2, 7):
            put(bank, n, "file")
        search(bank, cache, "rare")

    while_reading("postings", others_write)
    with looking(bank, cache) as view:
        assert numbers(found(cache, view, ["file"])) == [1]
    assert len(search(bank, cache, "file")) == 6


def test_a_change_that_another_thread_sees_while_postings_are_brought_up_to_date_is_not_lost(
    bank: ReasoningBank, while_reading: WhileReading
) -> None:
    cache, threads = project_cache(), ExitStack()
    put(bank, 1, "file")
    search(bank, cache, "file")
    put(bank, 2, "file")

    def look_ahead() -> None:
        with looking(bank, cache):
            pass

    def another_sees_more() -> None:
        put(bank, 3, "file")
        threads.enter_context(in_another_thread(look_ahead))

    while_reading("indexed", another_sees_more)
    with threads, looking(bank, cache) as view:
        assert numbers(found(cache, view, ["file"])) == [1, 2]
    assert numbers(search(bank, cache, "file")) == [1, 2, 3]


def test_what_a_transaction_sees_is_found_though_another_thread_is_ahead_of_it(bank: ReasoningBank) -> None:
    cache = project_cache()
    put(bank, 1, "file")
    search(bank, cache, "file")
    put(bank, 2, "file")
    with looking(bank, cache) as view:
        put(bank, 3, "file")
        with looking(bank, cache):
            pass
        assert numbers(found(cache, view, ["file"])) == [1, 2]


def test_what_was_deleted_since_does_not_keep_an_older_transaction_from_searching(bank: ReasoningBank) -> None:
    cache = project_cache()
    for n in range(1, 9):
        put(bank, n, "file run rare" if n == 1 else "file run")
    with bank._engine.read() as older:
        remove(bank, *range(2, 9))
        search(bank, cache, "rare")
        for wanted in (["file"], ["run", "rare"]):
            assert found(cache, older, wanted) == of_fts5(older, wanted)
    assert numbers(search(bank, cache, "file")) == [1]


def test_an_older_transaction_beside_a_newer_one_finds_what_it_sees_itself(open_bank: OpenBank) -> None:
    bank, other, cache = open_bank(), open_bank(), project_cache()
    for n in (1, 2, 3):
        put(bank, n, "file run rare")
    with looking(other, cache) as older:
        rewrite(bank, 1, "file file file file")
        for wanted in (["file", "run"], ["rare"], ["file"]):
            search(bank, cache, *wanted)

        for wanted in (["file"], ["run", "rare"]):
            assert found(cache, older, wanted) == of_fts5(older, wanted)
            search(bank, cache, *wanted)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_empty_and_finds_the_same(bank: ReasoningBank) -> None:
    cache = project_cache()
    put(bank, 1, "file run")
    expected = search(bank, cache, "file")

    def in_the_child() -> None:
        assert not cache._postings._kept
        assert search(bank, cache, "file") == expected

    with cache._postings._lock:
        assert in_child(in_the_child) == 0
    assert cache._postings._kept
