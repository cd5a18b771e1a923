"""What each policy puts first. The numbered vectors are those the formulas were published with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.ranking import (
    POLICIES,
    Candidate,
    Floats,
    Policy,
    mmr_parts,
    one_a_source,
    pick_diverse,
    rank,
    recency,
    saturation,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def vector(*numbers: float) -> Floats:
    return np.array(numbers, dtype=np.float32)


def candidate(
    id: str,
    similarity: float = 0.5,
    *,
    relevance: float = 0.0,
    confidence: float = 0.5,
    used: int = 0,
    days: float = 0,
    source: str | None = None,
) -> Candidate:
    parts = {"dense": 0.75 * relevance, "keyword": 0.25 * relevance}
    return Candidate(id, similarity, 0.0, parts, confidence, used, NOW - timedelta(days=days), source)


def ranked(policy: Policy, *candidates: Candidate, k: int = 9, vectors: Floats | None = None) -> list[str]:
    rows = np.eye(len(candidates), dtype=np.float32) if vectors is None else vectors
    return [r.candidate.id for r in rank(policy, candidates, k=k, now=NOW, vectors=rows)]


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
    """Nothing is left to choose, but the best still comes first."""
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


def test_an_untrusted_source_gets_one_slot_for_its_most_relevant_memory() -> None:
    candidates = [
        candidate("a", relevance=0.5, source="forum"),
        candidate("b", relevance=0.6, source="forum"),
        candidate("c", relevance=0.1, source="blog"),
        candidate("d", relevance=0.2),
        candidate("e", relevance=0.3),
    ]
    assert [c.id for c in one_a_source(candidates)] == ["b", "c", "d", "e"]
