"""Which memories a recall hands out: the set that makes a run likeliest to succeed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.calibrated import CalibratedModel, Parameters
from reasoningbank.search.ranking import Floats
from reasoningbank.search.selection import (
    EXPLORING,
    NEW,
    Prospects,
    alike,
    chances,
    exploring,
    judged_and_votes,
    select,
    success,
)
from reasoningbank.signals import SignalKind, Tally

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COST = 0.03
KNOWN = Parameters(helped=0.85, unhelped=0.3, reported=1.0, voted=0.0)
OFTEN = 1_000_000


class Row(NamedTuple):
    """One memory that may be handed out: what is known of it for sure, unless said otherwise."""

    name: str
    about: float = 0.8
    mean: float = 0.6
    high: float | None = None
    shown: int = OFTEN
    harm: float = 0.0
    says: str = ""


def prospects(rows: Sequence[Row]) -> Prospects:
    return Prospects(
        about=np.array([row.about for row in rows]),
        mean=np.array([row.mean for row in rows]),
        high=np.array([row.mean if row.high is None else row.high for row in rows]),
        shown=np.array([row.shown for row in rows], dtype=np.int64),
        harm=np.array([row.harm for row in rows]),
    )


def chosen(*rows: Row, k: int = 3, cost: float = COST, explore: float = 0.0) -> list[str]:
    def same_as(row: int) -> Floats:
        said = rows[row]
        return np.array([float(other is said or (bool(other.says) and other.says == said.says)) for other in rows])

    found = select(prospects(rows), same_as, k=k, cost=cost, explore=explore)
    return [rows[place].name for place in found.tolist()]


def value(rows: Sequence[Row], cost: float) -> float:
    """V(S), up to what all sets have in common."""
    return 1.0 - float(np.prod([1.0 - row.about * row.mean for row in rows])) - cost * len(rows)


def test_what_is_handed_out_is_about_the_task_and_helps() -> None:
    rows = (Row("apart", about=0.1, mean=0.95), Row("fits"), Row("fits well", about=0.9), Row("useless", mean=0.05))

    assert chosen(*rows, k=2) == ["fits", "fits well"]


def test_a_free_slot_is_filled_by_whatever_is_worth_more_than_it_costs() -> None:
    assert chosen(Row("sure", mean=0.9), Row("perhaps", mean=0.3)) == ["sure", "perhaps"]
    assert chosen(Row("sure", about=0.99, mean=0.97), Row("perhaps", mean=0.3)) == ["sure"]


def test_without_a_cost_as_many_are_handed_out_as_were_asked_for() -> None:
    assert len(chosen(*(Row(name, about=0.001) for name in "abcde"), k=4, cost=0.0)) == 4


def test_what_says_the_same_helps_together_and_not_twice() -> None:
    twins = (Row("one", mean=0.7, says="quote"), Row("other", mean=0.7, says="quote"))

    assert chosen(*twins, Row("else", mean=0.2), k=2) == ["one", "else"]
    assert chosen(*twins) == ["one"]


def test_of_several_that_say_the_same_the_best_ranked_stands_for_all() -> None:
    fits, other = Row("fits", about=0.95, mean=0.3, says="quote"), Row("other", about=0.8, mean=0.9, says="quote")

    assert chosen(fits, other, k=1) == ["fits"]


def test_harm_decides_between_memories_and_leaves_none_out() -> None:
    harmful = Row("harmful", harm=0.4)

    assert chosen(harmful, Row("harmless", mean=0.4), k=1) == ["harmless"]
    assert chosen(harmful) == ["harmful"]


def test_what_was_never_handed_out_gets_its_turn_and_loses_it_with_use() -> None:
    known = Row("known", mean=0.62)

    assert chosen(known, Row("new", high=0.9, shown=0), k=1) == ["new"]
    assert chosen(known, Row("new", high=0.9, shown=5), k=1) == ["known"]


def test_the_less_is_known_of_a_memory_the_more_finding_out_is_worth() -> None:
    rows = (Row("known", mean=0.62, high=0.65), Row("unknown", mean=0.6, high=0.9))

    silent, told = replace(KNOWN, reported=0.0, voted=0.0), replace(KNOWN, voted=0.5)

    assert chosen(*rows, k=1, explore=exploring(silent)) == ["known"]
    assert chosen(*rows, k=1, explore=exploring(told)) == ["unknown"]


def test_the_less_one_more_use_tells_the_less_is_explored() -> None:
    assert exploring(replace(KNOWN, reported=0.0)) == 0.0
    assert exploring(replace(KNOWN, reported=0.1)) < exploring(KNOWN) < exploring(replace(KNOWN, voted=0.1))
    assert exploring(replace(KNOWN, helped=0.32)) < exploring(replace(KNOWN, helped=0.6)) < exploring(KNOWN)
    assert exploring(replace(KNOWN, voted=0.5, accuracy=0.5)) == pytest.approx(exploring(KNOWN))
    assert exploring(replace(KNOWN, voted=1.0, accuracy=0.99)) < EXPLORING < 1.0 - NEW


def test_expected_success_lies_between_that_without_help_and_that_with_it() -> None:
    gain = KNOWN.helped - KNOWN.unhelped

    assert success(KNOWN, [], []) == pytest.approx(KNOWN.unhelped)
    assert success(KNOWN, [1.0], [1.0]) == pytest.approx(KNOWN.helped, abs=1e-5)
    assert success(KNOWN, [0.5], [0.5]) == pytest.approx(KNOWN.unhelped + gain * 0.25)
    assert success(KNOWN, [0.5, 0.5], [0.5, 0.5]) > success(KNOWN, [0.5], [0.5])


def test_where_relevance_says_little_the_chances_of_being_about_the_task_differ_less() -> None:
    relevance = np.array([0.1, 0.9])

    assert chances(KNOWN, relevance) == pytest.approx(relevance)
    assert np.ptp(chances(replace(KNOWN, slope=0.3), relevance)) < 0.4
    assert (chances(replace(KNOWN, offset=1.0), relevance) > relevance).all()


def test_nothing_comes_of_nothing() -> None:
    assert chosen() == []


shares = st.floats(0.01, 0.99)
rows_of = st.builds(lambda name, about, mean: Row(str(name), about=about, mean=mean), st.uuids(), shares, shares)
many = st.lists(rows_of, max_size=7)


@given(many, st.integers(1, 4), st.floats(0.0, 0.3))
def test_no_set_makes_a_run_likelier_to_succeed(rows: list[Row], k: int, cost: float) -> None:
    found = set(chosen(*rows, k=k, cost=cost))
    best = max(value(some, cost) for size in range(k + 1) for some in combinations(rows, size))
    mine = [row for row in rows if row.name in found]

    # What is never handed out is hoped to be a little better than it is believed to be.
    assert value(mine, cost) == pytest.approx(best, abs=1e-4)


@given(many, st.integers(1, 4))
def test_nothing_is_handed_out_twice_and_always_in_the_rankings_order(rows: list[Row], k: int) -> None:
    found = chosen(*rows, k=k)
    names = [row.name for row in rows]

    assert len(found) <= k
    assert [names.index(name) for name in found] == sorted({names.index(name) for name in found})
    assert found == chosen(*rows, k=k)


tallies = st.lists(
    st.builds(
        lambda kind, day, good: Tally(kind, day, "", "", float(good), float(not good), NOW),
        st.sampled_from([SignalKind.EXPLICIT, SignalKind.OUTCOME]),
        st.integers(0, 5),
        st.booleans(),
    ),
    max_size=8,
)


@given(many, tallies, st.sampled_from([SignalKind.EXPLICIT, SignalKind.OUTCOME]), st.floats(0.0, EXPLORING))
def test_evidence_for_a_memory_never_makes_it_less_likely_to_be_shown(
    others: list[Row], known: list[Tally], kind: SignalKind, explore: float
) -> None:
    praise = Tally(kind, 6, "", "", 1.0, 0.0, NOW)
    before, after = CalibratedModel().beliefs([(known, 0.6), ([*known, praise], 0.6)])
    one, more = (Row("it", mean=belief.mean, high=belief.high, shown=3) for belief in (before, after))

    if "it" in chosen(one, *others, explore=explore):
        assert "it" in chosen(more, *others, explore=explore)


def test_memories_say_the_same_as_far_as_their_vectors_do() -> None:
    vectors = np.array([(1.0, 0.0), (0.95, np.sqrt(1 - 0.95**2)), (0.0, 1.0), (1.0, 0.0)])

    assert alike(vectors, 0).tolist() == pytest.approx([1.0, 0.5, 0.0, 1.0])
    assert alike(np.zeros((2, 2)), 1).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("tallies", "judged", "votes"),
    [
        ([], False, 0.0),
        ([(SignalKind.USAGE, 9, 0)], False, 0.0),
        ([(SignalKind.OUTCOME, 0, 9)], True, 0.0),
        ([(SignalKind.EXPLICIT, 1, 1)], True, 0.0),
        ([(SignalKind.EXPLICIT, 1, 0), (SignalKind.EXPLICIT, 0, 2), (SignalKind.OUTCOME, 9, 0)], True, -1.0),
    ],
)
def test_only_votes_blame_and_usage_judges_nothing(
    tallies: list[tuple[SignalKind, float, float]], judged: bool, votes: float
) -> None:
    assert judged_and_votes(Tally(kind, 0, "", "", good, bad, NOW) for kind, good, bad in tallies) == (judged, votes)
