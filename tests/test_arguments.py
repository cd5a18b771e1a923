"""Arguments are checked once: what is allowed comes back as it is used, what is not is named with what is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from reasoningbank import InvalidInputError, LimitExceededError, State, arguments


def never() -> NoReturn:
    raise AssertionError("nobody asked for the time")


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (lambda given: arguments.whole("n", given, 0, 5), [0, 5]),
        (lambda given: arguments.whole("n", given, 1), [1, 10**9]),
        (lambda given: arguments.number("x", given, 0, 1), [0.0, 0.5, 1.0]),
        (lambda given: arguments.number("x", given, 0), [0.0, 1e9]),
        (lambda given: arguments.flag("helpful", given), [True, False]),
        (arguments.memory_id, ["m", "é" * 200]),
        (arguments.reference, [None, "thread 1"]),
        (arguments.source, ["importer-7"]),
        (arguments.query, ["quote paths"]),
        (arguments.lesson_outcome, [None, "success"]),
        (lambda given: arguments.own_ids(given, 2), [["a", None]]),
    ],
)
def test_what_is_allowed_comes_back(check: Callable[[Any], Any], given: list[Any]) -> None:
    assert [check(each) for each in given] == given


@pytest.mark.parametrize(
    ("check", "given", "named"),
    [
        (lambda given: arguments.whole("n", given, 0, 5), [-1, 6, True, 2.0, "2", None], "n .* from 0 to 5"),
        (lambda given: arguments.whole("n", given, 1), [0, math.inf], "n .* of at least 1"),
        (arguments.page_limit, [0, 1_001], "limit .* from 1 to 1,000"),
        (lambda given: arguments.number("x", given, 0, 1), [-0.1, 1.1, math.nan, True, "0.5"], "x .* from 0 to 1"),
        (lambda given: arguments.number("x", given, 0), [-1, math.nan], "x .* of at least 0"),
        (lambda given: arguments.flag("helpful", given), [1, "true", None], "neither True nor False"),
        (lambda given: arguments.label(State, "state", given), ["gone", None], "active, archived, quarantined"),
        (arguments.memory_id, [" ", 5, None], "memory id"),
        (arguments.memory_ids, ["m-1", ["m-1", ""]], "memory id"),
        (lambda given: arguments.own_ids(given, 1), [[], ["a", "b"], [" "]], "id"),
        (arguments.vote_kind, ["usage", "opinion", None], "explicit, outcome, stability"),
        (arguments.lesson_outcome, ["partial", "maybe"], "success, failure"),
        (arguments.reference, [" ", 5, "r" * 201], "1 to 200 characters"),
        (arguments.episode_ref, [None], "no ref"),
        (arguments.source, ["", None, 3], "is no name"),
        (arguments.query, ["\n", None], "holds nothing to search for"),
        (arguments.policy, ["best"], "relevance, cautious"),
        (arguments.tag_list, ["go", [1], [None], 5, [" "], {"all": ["go"]}], "tags"),
        (lambda given: arguments.filters(given, never), [{"tag": ["go"]}, {"whre": {}}], "unknown name"),
        (arguments.place, ["memories-3", "newest-3", "newest-x-y", 3], "newest first"),
        (lambda given: arguments.position("memories", given), ["nodes-3", "3", "memories-x", 3], "page of memories"),
    ],
)
def test_what_is_not_allowed_is_refused_with_its_name(
    check: Callable[[Any], Any], given: list[Any], named: str
) -> None:
    for each in given:
        with pytest.raises(InvalidInputError, match=named):
            check(each)


def test_an_id_that_is_too_long_names_the_limit() -> None:
    with pytest.raises(LimitExceededError) as told:
        arguments.memory_id("m" * 201)

    assert (told.value.limit, told.value.actual) == (200, 201)


@pytest.mark.parametrize(("ref", "thread"), [(None, None), ("r", "t")])
def test_a_run_is_named_in_exactly_one_way(ref: str | None, thread: str | None) -> None:
    with pytest.raises(InvalidInputError, match="exactly one of ref and thread"):
        arguments.run_of(ref, thread)


def test_a_cursor_leads_back_to_its_page() -> None:
    cursor = arguments.cursor("memories", 42)

    assert arguments.position("memories", cursor) == 42
    assert arguments.position("memories", None) == 0
    assert arguments.cursor("memories", None) is None
