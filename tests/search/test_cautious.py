"""Which memories the cautious choice hands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.cautious import CLEARLY_BETTER, TRIES, Standings, cautious

FLOOR = 0.7


class Row(NamedTuple):
    """One memory that may be handed out."""

    name: str
    mean: float
    score: float = 0.5
    deviation: float = 0.2
    shown: int = 0
    judged: bool = False
    blamed: bool = False


class Chosen(NamedTuple):
    """A selection by names."""

    proven: tuple[str, ...]
    provisional: tuple[str, ...]
    withheld: dict[str, int]


def tried(name: str, mean: float, *, score: float = 0.5) -> Row:
    return Row(name, mean, score, shown=TRIES, judged=True)


def standings(rows: Sequence[Row]) -> Standings:
    return Standings(
        score=np.array([row.score for row in rows]),
        mean=np.array([row.mean for row in rows]),
        deviation=np.array([row.deviation for row in rows]),
        shown=np.array([row.shown for row in rows], dtype=np.int64),
        judged=np.array([row.judged for row in rows], dtype=bool),
        blamed=np.array([row.blamed for row in rows], dtype=bool),
    )


def chosen(*rows: Row, k: int = 3, strict: bool = False) -> Chosen:
    places, withheld = cautious(standings(rows), k=k, floor=FLOOR, strict=strict)
    found = [rows[place] for place in places.tolist()]
    proven = tuple(row.name for row in found if row.mean >= FLOOR)
    return Chosen(proven, tuple(row.name for row in found[len(proven) :]), withheld)


def test_proven_memories_come_first_by_score_then_those_on_trial_least_shown_first_among_equals() -> None:
    found = chosen(
        Row("off the point", 0.6, score=0.1, shown=0),
        Row("new", 0.6, score=0.91, shown=1),
        Row("newer", 0.6, score=0.89, shown=0),
        Row("good", 0.75, score=0.4),
        Row("better", 0.9, score=0.6),
        k=4,
    )

    assert found == Chosen(("better", "good"), ("newer", "new"), {})


def test_in_a_fresh_bank_every_slot_is_filled() -> None:
    found = chosen(*(Row(name, 0.6, score=s) for name, s in (("a", 0.2), ("b", 0.9), ("c", 0.5), ("d", 0.1))))

    assert found.provisional == ("b", "c", "a")


def test_a_memory_that_nobody_judges_stays_on_trial_however_often_it_is_shown() -> None:
    found = chosen(Row("shown", 0.6, shown=500), Row("good", 0.8))

    assert found.provisional == ("shown",)


def test_a_memory_that_had_its_tries_is_not_handed_out_beside_proven_ones() -> None:
    found = chosen(tried("had them", 0.65), Row("good", 0.8))

    assert found == Chosen(("good",), (), {"provisional": 1})


def test_with_nothing_proven_and_nothing_new_the_likeliest_is_handed_out_alone() -> None:
    found = chosen(tried("a", 0.6, score=0.5), tried("b", 0.65, score=0.5), tried("c", 0.55, score=0.5))

    assert found == Chosen((), ("b",), {"provisional": 2})


def test_a_bank_whose_lessons_help_now_and_then_does_not_fall_silent() -> None:
    surely_fair = Row("fair", 0.4, deviation=0.05, shown=90, judged=True)
    surely_worse = Row("worse", 0.3, deviation=0.05, shown=90, judged=True)

    assert chosen(surely_fair, surely_worse) == Chosen((), ("fair",), {"rejected": 1})


def test_what_people_say_does_not_help_is_not_handed_out_for_want_of_better() -> None:
    blamed = Row("blamed", 0.4, deviation=0.05, shown=9, judged=True, blamed=True)

    assert chosen(blamed) == Chosen((), (), {"rejected": 1})


def test_when_nothing_is_likely_to_help_nothing_is_handed_out() -> None:
    assert chosen(Row("a", 0.19, deviation=0.05, judged=True)) == Chosen((), (), {"rejected": 1})


def test_a_new_memory_that_fits_clearly_better_takes_the_last_slot() -> None:
    good = [Row(name, 0.8, score=0.5) for name in "abc"]
    better = Row("new", 0.6, score=0.5 + CLEARLY_BETTER)

    assert chosen(*good, better) == Chosen(("a", "b"), ("new",), {})
    assert chosen(*good, Row("new", 0.6, score=0.5)) == Chosen(("a", "b", "c"), (), {})


def test_strict_hands_out_proven_memories_only() -> None:
    found = chosen(Row("new", 0.6), Row("good", 0.8), Row("bad", 0.1, deviation=0.1), strict=True)

    assert found == Chosen(("good",), (), {"rejected": 1, "provisional": 1})


def test_rejected_memories_are_withheld_and_counted() -> None:
    assert chosen(Row("bad", 0.3, deviation=0.1), Row("good", 0.8)) == Chosen(("good",), (), {"rejected": 1})


def test_nothing_comes_of_nothing() -> None:
    assert chosen() == Chosen((), (), {})


many = st.lists(
    st.builds(
        Row,
        st.uuids().map(str),
        st.floats(0.01, 0.99),
        score=st.floats(0, 1),
        deviation=st.floats(0, 0.3),
        shown=st.integers(0, 6),
        judged=st.booleans(),
        blamed=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda row: row.name,
)


@given(many, st.integers(1, 5), st.booleans())
def test_nothing_is_handed_out_twice_and_never_more_than_k(rows: list[Row], k: int, strict: bool) -> None:
    found = chosen(*rows, k=k, strict=strict)
    handed_out = [*found.proven, *found.provisional]
    means = {row.name: row.mean for row in rows}

    assert len(handed_out) == len(set(handed_out)) <= k
    assert all(means[name] >= FLOOR for name in found.proven)
    assert all(means[name] < FLOOR for name in found.provisional)
    assert not (strict and found.provisional)
    assert all(count > 0 for count in found.withheld.values())
    assert len(handed_out) + sum(found.withheld.values()) <= len(rows)


@given(many, st.integers(1, 5))
def test_the_same_bank_gives_the_same_answer(rows: list[Row], k: int) -> None:
    assert chosen(*rows, k=k) == chosen(*rows, k=k)


def test_equals_are_decided_by_the_order_of_the_ranking() -> None:
    assert chosen(Row("first", 0.8), Row("second", 0.8), k=1).proven == ("first",)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_proven_memories_fill_what_they_can(k: int) -> None:
    assert len(chosen(*(Row(name, 0.8) for name in "abcd"), k=k).proven) == k
