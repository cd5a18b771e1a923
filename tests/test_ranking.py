"""Fusion, the gate and the policies. The numbered vectors are those the formulas were published with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.errors import InvalidInputError
from reasoningbank.ranking import (
    POLICIES,
    Candidate,
    Floats,
    Policy,
    cosine,
    fuse,
    gate,
    mmr_parts,
    pick_diverse,
    rank,
    recency,
    saturation,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def vector(*numbers: float) -> Floats:
    return np.array(numbers, dtype=np.float32)


def candidate(
    id: str, similarity: float = 0.5, *, relevance: float = 0.0, confidence: float = 0.5, used: int = 0, days: float = 0
) -> Candidate:
    return Candidate(id, similarity, 0.0, relevance, confidence, used, NOW - timedelta(days=days))


def ranked(policy: Policy, *candidates: Candidate, k: int = 9, vectors: Floats | None = None) -> list[str]:
    rows = np.eye(len(candidates), dtype=np.float32) if vectors is None else vectors
    return [r.candidate.id for r in rank(policy, candidates, k=k, now=NOW, vectors=rows)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param((1, 2), (1, 2), 1.0, id="70 identical"),
        pytest.param((1, 0), (0, 1), 0.0, id="70 orthogonal"),
        pytest.param((1, 2), (-1, -2), -1.0, id="70 opposite"),
        pytest.param((1, 2, 3), (2, 4, 6), 1.0, id="71 scaled"),
        pytest.param((1, 0), (1, 1), 0.707107, id="71"),
        pytest.param((), (), 0.0, id="72 empty"),
        pytest.param((1, 2), (), 0.0, id="72 one empty"),
        pytest.param((1, 2), (1, 2, 3), 0.0, id="72 unequal length"),
        pytest.param((0, 0), (1, 1), 0.0, id="72 zero"),
        pytest.param((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), 0.636364, id="73a"),
        pytest.param((1, 2, 3), (4, 5, 6), 0.974632, id="73b"),
        pytest.param((1, -2, 3), (-4, 5, -6), -0.974632, id="73c"),
        pytest.param((100, 200, 300), (150, 250, 350), 0.997415, id="73d"),
        pytest.param((0.5, 0.8, 0.3, 0.9, 0.1), (0.5, 0.8, 0.3, 0.9, 0.15), 0.999314, id="74"),
        pytest.param([i % 10 / 10 for i in range(384)], [i % 10 / 10 + 0.1 for i in range(384)], 0.996157, id="75"),
    ],
)
def test_a_cosine_is_the_published_one(first: tuple[float, ...], second: tuple[float, ...], expected: float) -> None:
    assert cosine(vector(*first), vector(*second)) == pytest.approx(expected, abs=1e-6)


LETTERS = {"A": (0.90, (1, 0, 0)), "B": (0.88, (0.99, 0.141067, 0)), "C": (0.50, (0, 1, 0)), "D": (0.45, (0, 0, 1))}


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
    names = list(LETTERS)
    plain = np.array([weight * similarity for similarity, _ in LETTERS.values()])
    vectors = np.array([v for _, v in LETTERS.values()], dtype=np.float32)
    picked = pick_diverse(plain, 1.0 - weight, vectors, k, ids=names)
    assert "".join(names[row] for row, _ in picked) == expected


def test_mmr_picks_the_same_letters_through_the_policy() -> None:
    candidates = [candidate(name, similarity) for name, (similarity, _) in LETTERS.items()]
    vectors = np.array([v for _, v in LETTERS.values()], dtype=np.float32)
    assert ranked("mmr", *candidates, k=3, vectors=vectors) == ["A", "C", "B"]


def test_one_step_of_mmr_scores_as_published() -> None:
    """Vectors 91 and 92: the additive form is the subtractive one plus 1 - lambda, in the same order."""
    near, far = (
        sum(mmr_parts(candidate("x", similarity), NOW).values()) + 0.3 * (1 - redundancy)
        for similarity, redundancy in ((0.9, 0.95), (0.6, 0.2))
    )
    assert (near, far) == pytest.approx((0.645, 0.660))
    assert (near - 0.3, far - 0.3) == pytest.approx((0.345, 0.360))


@pytest.mark.parametrize("policy", ["mmr", "four_factor"])
@pytest.mark.parametrize("k", [2, 3, 10**9])
def test_when_all_are_wanted_they_come_in_plain_order(policy: Policy, k: int) -> None:
    """Vector 90, which returns them as they came in, is not followed."""
    assert ranked(policy, candidate("C", 0.5), candidate("A", 0.9), k=k) == ["A", "C"]


def four_factor_score(similarity: float, age: float, reliability: float, redundancy: float) -> float:
    """Score the second pick beside a first one that no other can beat."""
    first, second = candidate("a", 1.0, confidence=1.0), candidate("b", similarity, confidence=reliability, days=age)
    vectors = np.array([(1, 0), (redundancy, 0), (0, 0)], dtype=np.float32)
    others = rank("four_factor", [first, second, candidate("c", 0.0, confidence=0.0, days=999)], k=2, now=NOW,
                  vectors=vectors)  # fmt: skip
    return others[1].score


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
    days = -10 * np.log(0.95)
    (only,) = rank("weighted", [candidate("a", 0.85, confidence=0.9, used=0, days=days)], k=1, now=NOW,
                   vectors=vector(1.0)[None])  # fmt: skip
    assert only.score + 0.3 * 0.2 == pytest.approx(0.695, abs=1e-6)
    assert [saturation(used) for used in (0, 10, 30)] == [0.0, 0.5, 0.75]


def test_recency_is_one_now_and_never_more() -> None:
    assert [recency(days) for days in (-5, 0, 10)] == pytest.approx([1.0, 1.0, 0.367879], abs=1e-6)


def test_the_default_policy_follows_relevance_and_is_only_nudged_by_confidence() -> None:
    doubted, trusted = candidate("a", relevance=0.80, confidence=0.1), candidate("b", relevance=0.79, confidence=0.9)
    assert ranked("relevance", doubted, trusted) == ["b", "a"]
    assert ranked("relevance", doubted, candidate("c", relevance=0.7, confidence=1.0)) == ["a", "c"]


def test_similarity_looks_at_the_cosine_alone() -> None:
    assert ranked("similarity", candidate("a", 0.5, confidence=1.0), candidate("b", 0.6, confidence=0.0)) == ["b", "a"]


@pytest.mark.parametrize("policy", POLICIES)
def test_ties_go_to_the_smaller_id_whatever_the_order(policy: Policy) -> None:
    same = [candidate(name) for name in "cabd"]
    assert ranked(policy, *same) == list("abcd")
    assert ranked(policy, *same, k=2) == list("ab")


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_nothing_for_nothing(policy: Policy) -> None:
    assert ranked(policy) == []


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 3, st.integers(0, 50), st.floats(0, 999)), min_size=1, max_size=8),
    st.sampled_from(POLICIES),
    st.integers(1, 10),
)
def test_every_score_is_the_sum_of_its_parts_in_order_and_in_bounds(
    rows: list[tuple[float, float, float, int, float]], policy: Policy, k: int
) -> None:
    candidates = [
        candidate(str(i), s, relevance=r, confidence=c, used=u, days=d) for i, (s, r, c, u, d) in enumerate(rows)
    ]
    vectors = np.eye(len(rows), 4, dtype=np.float32)
    result = rank(policy, candidates, k=k, now=NOW, vectors=vectors)
    scores = [r.score for r in result]
    assert len({r.candidate.id for r in result}) == min(k, len(rows))
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= r.score <= 1.0 + 1e-9 and r.score == pytest.approx(sum(r.why.values())) for r in result)


def test_an_unknown_policy_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="no policy 'best': use one of relevance, similarity"):
        rank("best", [], k=1, now=NOW, vectors=vector())  # type: ignore[arg-type]


def fused(similarity: list[float], keyword: list[float]) -> npt.NDArray[np.float32]:
    return fuse(vector(*similarity), vector(*keyword))


def test_both_legs_count_and_the_better_of_equals_in_one_leg_wins() -> None:
    assert fused([0.9, 0.5, 0.1], [3.0, 4.0, 0.0]) == pytest.approx([0.7 + 0.3 * 0.75, 0.35 + 0.3, 0.0])


def test_without_a_keyword_match_the_cosines_decide() -> None:
    assert fused([0.9, 0.5, 0.1], [0.0, 0.0, 0.0]) == pytest.approx([1.0, 0.5, 0.0])


def test_equals_and_nothing_can_be_fused() -> None:
    assert fused([0.5, 0.5], [0.0, 0.0]) == pytest.approx([0.0, 0.0])
    assert fused([], []).size == 0


def test_the_gate_drops_what_has_nothing_to_do_with_the_query() -> None:
    kept = gate(vector(0.8, 0.3, 0.1))
    assert (kept.keep.tolist(), kept.weak) == ([True, True, False], False)
    assert gate(vector(0.3)).weak
    assert gate(vector()).weak
