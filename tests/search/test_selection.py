"""Which memories a recall hands out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.belief import Belief, within
from reasoningbank.search.selection import CLEARLY_BETTER, TRIES, Prospect, Selection, judged_and_blamed, select
from reasoningbank.signals import SignalKind, Tally

FLOOR = 0.7


def prospect(
    key: str,
    mean: float,
    *,
    score: float = 0.5,
    deviation: float = 0.2,
    shown: int = 0,
    judged: bool = False,
    blamed: bool = False,
) -> Prospect[str]:
    belief = Belief(mean, deviation, 2.0, within(mean - deviation), within(mean + deviation))
    return Prospect(key, score, belief, shown, judged, blamed)


def tried(key: str, mean: float, *, score: float = 0.5) -> Prospect[str]:
    return prospect(key, mean, score=score, shown=TRIES, judged=True)


def chosen(*prospects: Prospect[str], k: int = 3, strict: bool = False) -> Selection[str]:
    return select(prospects, k=k, floor=FLOOR, strict=strict)


def test_proven_memories_come_first_by_score_then_those_on_trial_least_shown_first_among_equals() -> None:
    found = chosen(
        prospect("off the point", 0.6, score=0.1, shown=0),
        prospect("new", 0.6, score=0.91, shown=1),
        prospect("newer", 0.6, score=0.89, shown=0),
        prospect("good", 0.75, score=0.4),
        prospect("better", 0.9, score=0.6),
        k=4,
    )

    assert found == Selection(("better", "good"), ("newer", "new"), {})


def test_in_a_fresh_bank_every_slot_is_filled() -> None:
    found = chosen(*(prospect(name, 0.6, score=s) for name, s in (("a", 0.2), ("b", 0.9), ("c", 0.5), ("d", 0.1))))

    assert found.provisional == ("b", "c", "a")


def test_a_memory_that_nobody_judges_stays_on_trial_however_often_it_is_shown() -> None:
    found = chosen(prospect("shown", 0.6, shown=500), prospect("good", 0.8))

    assert found.provisional == ("shown",)


def test_a_memory_that_had_its_tries_is_not_handed_out_beside_proven_ones() -> None:
    found = chosen(tried("had them", 0.65), prospect("good", 0.8))

    assert found == Selection(("good",), (), {"provisional": 1})


def test_with_nothing_proven_and_nothing_new_the_likeliest_is_handed_out_alone() -> None:
    found = chosen(tried("a", 0.6, score=0.5), tried("b", 0.65, score=0.5), tried("c", 0.55, score=0.5))

    assert found == Selection((), ("b",), {"provisional": 2})


def test_a_bank_whose_lessons_help_now_and_then_does_not_fall_silent() -> None:
    surely_fair = prospect("fair", 0.4, deviation=0.05, shown=90, judged=True)
    surely_worse = prospect("worse", 0.3, deviation=0.05, shown=90, judged=True)

    assert chosen(surely_fair, surely_worse) == Selection((), ("fair",), {"rejected": 1})


def test_what_people_say_does_not_help_is_not_handed_out_for_want_of_better() -> None:
    blamed = prospect("blamed", 0.4, deviation=0.05, shown=9, judged=True, blamed=True)

    assert chosen(blamed) == Selection((), (), {"rejected": 1})


def test_when_nothing_is_likely_to_help_nothing_is_handed_out() -> None:
    assert chosen(prospect("a", 0.19, deviation=0.05, judged=True)) == Selection((), (), {"rejected": 1})


def test_a_new_memory_that_fits_clearly_better_takes_the_last_slot() -> None:
    good = [prospect(name, 0.8, score=0.5) for name in "abc"]
    better = prospect("new", 0.6, score=0.5 + CLEARLY_BETTER)

    assert chosen(*good, better) == Selection(("a", "b"), ("new",), {})
    assert chosen(*good, prospect("new", 0.6, score=0.5)) == Selection(("a", "b", "c"), (), {})


def test_strict_hands_out_proven_memories_only() -> None:
    found = chosen(prospect("new", 0.6), prospect("good", 0.8), prospect("bad", 0.1, deviation=0.1), strict=True)

    assert found == Selection(("good",), (), {"rejected": 1, "provisional": 1})


def test_rejected_memories_are_withheld_and_counted() -> None:
    assert chosen(prospect("bad", 0.3, deviation=0.1), prospect("good", 0.8)) == Selection(
        ("good",), (), {"rejected": 1}
    )


def test_nothing_comes_of_nothing() -> None:
    assert chosen() == Selection((), (), {})


many = st.lists(
    st.builds(
        prospect,
        st.uuids().map(str),
        st.floats(0.01, 0.99),
        score=st.floats(0, 1),
        deviation=st.floats(0, 0.3),
        shown=st.integers(0, 6),
        judged=st.booleans(),
        blamed=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda p: p.key,
)


@given(many, st.integers(1, 5), st.booleans())
def test_nothing_is_handed_out_twice_and_never_more_than_k(
    prospects: list[Prospect[str]], k: int, strict: bool
) -> None:
    found = select(prospects, k=k, floor=FLOOR, strict=strict)
    handed_out = [*found.proven, *found.provisional]
    means = {p.key: p.belief.mean for p in prospects}

    assert len(handed_out) == len(set(handed_out)) <= k
    assert all(means[key] >= FLOOR for key in found.proven)
    assert all(means[key] < FLOOR for key in found.provisional)
    assert not (strict and found.provisional)
    assert all(count > 0 for count in found.withheld.values())
    assert len(handed_out) + sum(found.withheld.values()) <= len(prospects)


@given(many, st.integers(1, 5))
def test_the_same_bank_gives_the_same_answer(prospects: list[Prospect[str]], k: int) -> None:
    assert select(prospects, k=k, floor=FLOOR) == select(prospects, k=k, floor=FLOOR)


def test_equals_are_decided_by_the_order_of_the_ranking() -> None:
    assert chosen(prospect("first", 0.8), prospect("second", 0.8), k=1).proven == ("first",)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_proven_memories_fill_what_they_can(k: int) -> None:
    assert len(chosen(*(prospect(name, 0.8) for name in "abcd"), k=k).proven) == k


@pytest.mark.parametrize(
    ("tallies", "judged", "blamed"),
    [
        ([], False, False),
        ([(SignalKind.USAGE, 9, 0)], False, False),
        ([(SignalKind.OUTCOME, 0, 9)], True, False),
        ([(SignalKind.EXPLICIT, 1, 1)], True, False),
        ([(SignalKind.EXPLICIT, 1, 0), (SignalKind.EXPLICIT, 0, 2), (SignalKind.OUTCOME, 9, 0)], True, True),
    ],
)
def test_only_votes_blame_and_usage_judges_nothing(
    tallies: list[tuple[SignalKind, float, float]], judged: bool, blamed: bool
) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert judged_and_blamed(Tally(kind, 0, "", "", good, bad, now) for kind, good, bad in tallies) == (judged, blamed)
