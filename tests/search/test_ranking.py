"""What each policy puts first. The numbered vectors are those the formulas were published with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.ranking import (
    DOUBT_KEEPS,
    FRESHNESS_SHARE,
    POLICIES,
    Candidates,
    Floats,
    Policy,
    Ranked,
    freshness,
    mmr_parts,
    one_a_source,
    pick_diverse,
    rank,
    recency,
    saturation,
    total,
)
from reasoningbank.search.relevance import about


class Row(NamedTuple):
    """One candidate; it was recorded when its letter's turn in the alphabet came."""

    letter: str
    similarity: float = 0.5
    relevance: float = 0.0
    confidence: float = 0.5
    used: int = 0
    days: float = 0.0
    source: int = 0
    judged: bool = True
    doubted: bool = False


def candidates(*rows: Row) -> Candidates:
    relevance = np.array([row.relevance for row in rows])
    return Candidates(
        number=np.array([ord(row.letter) for row in rows], dtype=np.int64),
        similarity=np.array([row.similarity for row in rows]),
        relevance={"dense": 0.75 * relevance, "keyword": 0.25 * relevance},
        about=about(relevance),
        confidence=np.array([row.confidence for row in rows]),
        judged=np.array([row.judged for row in rows], dtype=bool),
        usage=np.array([row.used for row in rows], dtype=np.int64),
        age=np.array([row.days for row in rows]),
        source=np.array([row.source for row in rows], dtype=np.int64),
        trust=np.array([DOUBT_KEEPS if row.doubted else 1.0 for row in rows]),
    )


def by(policy: Policy, *rows: Row, k: int = 9, vectors: Floats | None = None, half_life: float | None = None) -> Ranked:
    unlike = np.eye(len(rows), dtype=np.float32)
    return rank(policy, candidates(*rows), k=k, vectors=unlike if vectors is None else vectors, half_life=half_life)


def letters(policy: Policy, *rows: Row, k: int = 9, vectors: Floats | None = None) -> str:
    return "".join(rows[row].letter for row in by(policy, *rows, k=k, vectors=vectors).rows.tolist())


# -- diversity -----------------------------------------------------------------------------------------------------

LETTERS = (Row("A", 0.90), Row("B", 0.88), Row("C", 0.50), Row("D", 0.45))
VECTORS = np.array([(1, 0, 0), (0.99, 0.141067, 0), (0, 1, 0), (0, 0, 1)], dtype=np.float32)


@pytest.mark.parametrize(
    ("weight", "k", "expected"),
    [
        pytest.param(0.1, 2, "AC", id="88 at 0.1"),
        pytest.param(0.5, 2, "AC", id="88 at 0.5"),
        pytest.param(0.7, 2, "AC", id="88 at 0.7"),
        pytest.param(0.9, 2, "AB", id="88 at 0.9"),
        pytest.param(1.0, 2, "AB", id="88 at 1"),
        pytest.param(0.1, 3, "ACD", id="89 at 0.1"),
        pytest.param(0.5, 3, "ACD", id="89 at 0.5"),
        pytest.param(0.7, 3, "ACB", id="89 at 0.7"),
        pytest.param(0.9, 3, "ABC", id="89 at 0.9"),
        pytest.param(1.0, 3, "ABC", id="89 at 1"),
    ],
)
def test_marginal_relevance_picks_the_published_letters(weight: float, k: int, expected: str) -> None:
    given = candidates(*LETTERS)
    picked, _ = pick_diverse(weight * given.similarity, 1.0 - weight, VECTORS, k, given.number)
    assert "".join(LETTERS[row].letter for row in picked.tolist()) == expected


def test_mmr_picks_the_same_letters_through_the_policy() -> None:
    assert letters("mmr", *LETTERS, k=3, vectors=VECTORS) == "ACB"


def test_one_step_of_mmr_scores_as_published() -> None:
    """Vectors 91 and 92: the additive form is the subtractive one plus 1 - lambda, in the same order."""
    plain = total(mmr_parts(candidates(Row("a", 0.9), Row("b", 0.6))))
    near, far = plain + 0.3 * (1 - np.array([0.95, 0.2]))
    assert (near, far) == pytest.approx((0.645, 0.660))
    assert (near - 0.3, far - 0.3) == pytest.approx((0.345, 0.360))


@pytest.mark.parametrize("policy", ["mmr", "four_factor"])
@pytest.mark.parametrize("k", [2, 3, 10**9])
def test_when_all_are_wanted_they_come_in_plain_order(policy: Policy, k: int) -> None:
    """Nothing is left to choose, but the best still comes first."""
    assert letters(policy, Row("C", 0.5), Row("A", 0.9), k=k) == "AC"


# -- the formulas --------------------------------------------------------------------------------------------------


def four_factor_score(similarity: float, age: float, reliability: float, redundancy: float) -> float:
    """Score the second pick beside a first one that no other can beat."""
    first = Row("a", 1.0, confidence=1.0)
    second = Row("b", similarity, confidence=reliability, days=age)
    third = Row("c", 0.0, confidence=0.0, days=999)
    vectors = np.array([(1, 0), (redundancy, 0), (0, 0)], dtype=np.float32)
    return float(by("four_factor", first, second, third, k=2, vectors=vectors).score[1])


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((1, 0, 0.5, 0), 0.85),
        ((0, 0, 0.5, 0), 0.45),
        ((0.9, 7, 0.8, 0), 0.799317),
        ((0.9, 7, 0.8, 0.95), 0.704317),
        ((0.6, 30, 0.85, 0.2), 0.584957),
    ],
)
def test_155_four_factors_add_up_as_published(factors: tuple[float, float, float, float], expected: float) -> None:
    assert four_factor_score(*factors) == pytest.approx(expected, abs=1e-6)


def test_156_the_weighted_policy_adds_up_as_published() -> None:
    """Success 0.9, usage 0.2, recency 0.95, context 0.85."""
    only = by("weighted", Row("a", 0.85, confidence=0.9, used=0, days=-10 * np.log(0.95)), k=1)
    assert only.score[0] + 0.3 * 0.2 == pytest.approx(0.695, abs=1e-6)
    assert saturation(np.array([0, 10, 30])).tolist() == [0.0, 0.5, 0.75]


def test_recency_is_one_now_and_never_more() -> None:
    assert recency(np.array([-5.0, 0.0, 10.0])) == pytest.approx([1.0, 1.0, 0.367879], abs=1e-6)


def test_the_default_policy_follows_relevance_and_what_evidence_says_of_confidence() -> None:
    doubted, trusted = Row("a", relevance=0.80, confidence=0.3), Row("b", relevance=0.50, confidence=0.9)
    assert letters("relevance", doubted, trusted) == "ba"
    assert letters("relevance", doubted, Row("c", relevance=0.2, confidence=1.0)) == "ac"


def test_a_recorders_word_alone_moves_nothing_up_or_down() -> None:
    rows = (Row("a", relevance=0.5, confidence=0.3), Row("b", relevance=0.49, confidence=0.95))
    assert letters("relevance", *(row._replace(judged=False) for row in rows)) == "ab"


def test_similarity_looks_at_the_cosine_alone() -> None:
    assert letters("similarity", Row("a", 0.5, confidence=1.0), Row("b", 0.6, confidence=0.0)) == "ba"


# -- fading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("half_life", "expected"),
    [
        pytest.param(45, (0.629961, 0.5, 0.25, 0.0625), id="159 half-life 45"),
        pytest.param(90, (0.793701, 0.707107, 0.5, 0.25), id="159 half-life 90"),
        pytest.param(30, (0.5, 0.353553, 0.125, 0.015625), id="159 half-life 30"),
    ],
)
def test_freshness_halves_with_every_half_life(half_life: int, expected: tuple[float, ...]) -> None:
    assert freshness(np.array([30.0, 45.0, 90.0, 180.0]), half_life) == pytest.approx(expected, abs=1e-6)


def test_a_time_to_come_counts_as_now() -> None:
    assert freshness(np.array([-9.0, 0.0]), 1.0).tolist() == [1.0, 1.0]


def test_fading_takes_a_share_of_the_score_and_no_more() -> None:
    fresh, old = Row("f", relevance=0.5, days=0), Row("o", relevance=0.5, days=45)
    plain, faded = by("relevance", fresh, old), by("relevance", fresh, old, half_life=45)
    assert faded.score == pytest.approx((1.0 - FRESHNESS_SHARE) * plain.score + FRESHNESS_SHARE * np.array([1.0, 0.5]))
    assert faded.why(1)["freshness"] == pytest.approx(0.5 * FRESHNESS_SHARE)


# -- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_ties_go_to_what_was_recorded_first_whatever_the_order(policy: Policy) -> None:
    same = [Row(letter) for letter in "cabd"]
    assert letters(policy, *same) == "abcd"
    assert letters(policy, *same, k=2) == "ab"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_nothing_for_nothing(policy: Policy) -> None:
    assert letters(policy) == ""


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 3, st.integers(0, 50), st.floats(0, 999)), min_size=1, max_size=8),
    st.sampled_from(POLICIES),
    st.integers(1, 10),
    st.none() | st.floats(1, 99),
)
def test_every_score_is_the_sum_of_its_parts_in_order_and_in_bounds(
    facts: list[tuple[float, float, float, int, float]], policy: Policy, k: int, half_life: float | None
) -> None:
    rows = [Row(chr(ord("a") + i), s, r, c, u, d) for i, (s, r, c, u, d) in enumerate(facts)]
    found = by(policy, *rows, k=k, vectors=np.eye(len(rows), 4, dtype=np.float32), half_life=half_life)
    scores = found.score.tolist()
    assert len(set(found.rows.tolist())) == len(scores) == min(k, len(rows))
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([sum(found.why(place).values()) for place in range(len(scores))])


# -- sources -------------------------------------------------------------------------------------------------------


def staying(*rows: Row) -> Sequence[str]:
    return [row.letter for row, stays in zip(rows, one_a_source(candidates(*rows)).tolist(), strict=True) if stays]


def test_an_untrusted_source_gets_one_slot_for_its_most_relevant_memory() -> None:
    forum, blog = 1, 2
    rows = (
        Row("a", relevance=0.5, source=forum),
        Row("b", relevance=0.6, source=forum),
        Row("c", relevance=0.1, source=blog),
        Row("d", relevance=0.2),
        Row("e", relevance=0.3),
    )
    assert staying(*rows) == ["b", "c", "d", "e"]


def test_of_equals_of_one_untrusted_source_the_one_recorded_first_stays() -> None:
    assert staying(Row("b", source=1), Row("a", source=1)) == ["a"]
    assert staying() == []


@pytest.mark.parametrize("policy", ["relevance", "similarity", "weighted", "four_factor"])
def test_what_is_in_doubt_comes_behind_what_fits_as_well(policy: Policy) -> None:
    doubted, other = Row("A", relevance=0.8, doubted=True), Row("B", relevance=0.8)

    assert letters(policy, doubted, other) == "BA"
