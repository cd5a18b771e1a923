"""How two legs become one relevance, and what is relevant at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.search.relevance import (
    CENTRE_OF,
    CENTRE_SHARE,
    DENSE_SHARE,
    FULL,
    LEADERS,
    LEADERS_BY_KEYWORD,
    WIDTH,
    Floats,
    Legs,
    Relevance,
    Scale,
    about,
    centred,
    fuse,
    gate,
    gated,
    inner_products,
    is_beyond,
    known_scale,
    leaders,
    measured_scale,
    scaled,
    settle,
    without_echoes,
)
from reasoningbank.search.verbatim import shared_words
from reasoningbank.vectors.base import cosines, unit_rows


def vector(*numbers: float) -> Floats:
    return np.array(numbers, dtype=np.float32)


def legs(similarity: Sequence[float], keyword: Sequence[float]) -> Legs:
    """Make candidates of these cosines that have nothing else in common."""
    count = len(similarity)
    vectors = np.zeros((count, count + 1), dtype=np.float32)
    vectors[:, 0] = similarity
    vectors[np.arange(count), np.arange(count) + 1] = np.sqrt(1.0 - np.square(similarity))
    return Legs(np.eye(1, count + 1, dtype=np.float32)[0], vectors, vector(*similarity), vector(*keyword))


def relevance(similarity: Sequence[float], keyword: Sequence[float], shared: Sequence[float] = ()) -> Relevance:
    return settle(fuse(legs(similarity, keyword)), vector(*shared) if shared else np.zeros(len(similarity)))


def order(found: Relevance) -> list[int]:
    return [int(row) for row in np.argsort(-found.total, kind="stable")]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param((1, 2), (1, 2), 1.0, id="70 identical"),
        pytest.param((1, 0), (0, 1), 0.0, id="70 orthogonal"),
        pytest.param((1, 2), (-1, -2), -1.0, id="70 opposite"),
        pytest.param((1, 2, 3), (2, 4, 6), 1.0, id="71 scaled"),
        pytest.param((1, 0), (1, 1), 0.707107, id="71"),
        pytest.param((0, 0), (1, 1), 0.0, id="72 zero"),
        pytest.param((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), 0.636364, id="73a"),
        pytest.param((1, 2, 3), (4, 5, 6), 0.974632, id="73b"),
        pytest.param((1, -2, 3), (-4, 5, -6), -0.974632, id="73c"),
        pytest.param((100, 200, 300), (150, 250, 350), 0.997415, id="73d"),
        pytest.param((0.5, 0.8, 0.3, 0.9, 0.1), (0.5, 0.8, 0.3, 0.9, 0.15), 0.999314, id="74"),
        pytest.param([i % 10 / 10 for i in range(384)], [i % 10 / 10 + 0.1 for i in range(384)], 0.996157, id="75"),
    ],
)
def test_a_cosine_is_the_published_one(first: Sequence[float], second: Sequence[float], expected: float) -> None:
    rows = unit_rows(np.array([first, second]))
    assert cosines(rows[:1], rows[1])[0] == pytest.approx(expected, abs=1e-6)


def test_what_leads_in_both_legs_comes_first_and_what_lags_in_both_last() -> None:
    assert order(relevance([0.9, 0.5, 0.6, 0.1], [4.0, 3.0, 0.0, 0.0])) == [0, 1, 2, 3]


def test_either_leg_alone_decides_when_the_other_is_silent() -> None:
    assert order(relevance([0.2, 0.9, 0.5], [0.0, 0.0, 0.0])) == [1, 2, 0]
    assert order(relevance([0.0, 0.0, 0.0], [1.0, 3.0, 2.0])) == [1, 2, 0]


def test_nothing_found_is_nothing_relevant() -> None:
    assert relevance([], []).total.size == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 30), st.floats(0, 1)), min_size=1, max_size=90))
def test_relevance_stays_between_zero_and_one_and_is_the_sum_of_its_parts(
    rows: list[tuple[float, float, float]],
) -> None:
    similarity, keyword, shared = zip(*rows, strict=True)
    found = relevance(similarity, keyword, shared)
    assert ((found.total >= -1e-6) & (found.total <= 1.0 + 1e-6)).all()
    assert sum(found.parts(np.array([0])).values()) == pytest.approx(found.total[:1], abs=1e-5)


def test_cosines_that_are_nearly_equal_stay_nearly_equal() -> None:
    assert scaled(vector(0.80, 0.79), 0.25) == pytest.approx([1.0, 0.96], abs=1e-6)
    assert scaled(vector(3.0, 3.0), 0.0) == pytest.approx([1.0, 1.0])


def test_the_long_tail_of_a_leg_counts_for_nothing() -> None:
    stretched = scaled(np.arange(200.0), 0.0)
    assert np.count_nonzero(stretched) == WIDTH - 1
    assert stretched[-1] == 1.0


def test_a_memory_that_is_near_to_everything_loses_to_one_that_is_near_to_the_query() -> None:
    rng = np.random.default_rng(1)
    crowd = unit_rows(np.eye(1, 64)[0] + 0.9 * unit_rows(rng.standard_normal((30, 64))))
    query = unit_rows(np.eye(1, 64)[0] + unit_rows(rng.standard_normal(64)))
    own = unit_rows(query + 0.78 * unit_rows(rng.standard_normal(64)))
    hub = unit_rows(np.eye(1, 64)[0] + 0.25 * query)
    vectors = np.vstack([hub, own, crowd])
    similarity = np.clip(vectors @ query, 0.0, 1.0)
    dense = fuse(Legs(query, vectors, similarity, np.zeros(len(vectors)))).dense
    assert similarity[0] - similarity[1] == pytest.approx(0.0, abs=0.05)
    assert dense[1] - dense[0] > 0.02 + similarity[1] - similarity[0]


def test_what_is_centred_gives_the_products_and_the_mixture_of_the_centred_unit_vectors() -> None:
    rng = np.random.default_rng(2)
    vectors = unit_rows(rng.random((CENTRE_OF + 20, 24)))
    query, weights = vectors[0], rng.random(len(vectors))
    similarity = vectors @ query
    nearest = np.argsort(-similarity)[:CENTRE_OF]

    found = centred(Legs(query, vectors, similarity, np.zeros(len(vectors))))

    plain = unit_rows(vectors - CENTRE_SHARE * vectors[nearest].mean(axis=0))
    assert found.products(query) == pytest.approx(plain @ query, abs=1e-6)
    assert found.mixture(weights) == pytest.approx(weights @ plain, abs=1e-5)


def test_the_order_of_equally_near_candidates_does_not_move_the_centre() -> None:
    vectors = unit_rows(np.random.default_rng(4).standard_normal((CENTRE_OF + 5, 8)))
    even = np.full(len(vectors), 0.5, dtype=np.float32)
    there, back = (centred(Legs(vectors[0], rows, even, even)).centre for rows in (vectors, vectors[::-1]))
    assert there == pytest.approx(back, abs=1e-6)


def test_a_match_of_the_one_rare_word_is_looked_at_however_poor_its_cosine_is() -> None:
    similarity = np.linspace(0.9, 0.1, 80)
    keyword = np.where(np.arange(80) == 79, 12.0, 0.0)
    looked_at = leaders(fuse(legs(similarity.tolist(), keyword.tolist())))
    assert sorted(looked_at) == [*range(LEADERS - 1), 79]


def test_at_most_a_few_are_looked_at_for_their_words_alone() -> None:
    similarity = np.linspace(0.9, 0.1, 80)
    looked_at = leaders(fuse(legs(similarity.tolist(), np.arange(80.0).tolist())))
    assert len(set(looked_at)) == LEADERS
    assert set(looked_at) >= set(range(80 - LEADERS_BY_KEYWORD, 80))
    assert len([row for row in looked_at if row < 40]) == LEADERS - LEADERS_BY_KEYWORD


def test_repeating_the_query_word_for_word_counts_and_sharing_some_words_hardly() -> None:
    plain, copied = relevance([0.5, 0.5], [1.0, 1.0], [0.3, 0.9]).verbatim.tolist()
    assert copied * FULL == pytest.approx(1.2 * 0.9**3, rel=1e-5)
    assert plain < 0.05 * copied


def test_those_like_the_leader_follow_it() -> None:
    vectors = unit_rows(np.array([(1.0, 0.0, 0.0), (0.6, 0.8, 0.0), (0.6, 0.0, 0.8), (0.5, 0.85, 0.1)]))
    found = settle(fuse(Legs(vector(1, 0, 0), vectors, vectors[:, 0], vector(0, 9, 0, 0))), vector(0, 1, 0, 0))
    assert found.feedback[3] > found.feedback[2]


def test_a_memory_gets_no_credit_for_repeating_the_query() -> None:
    fused = fuse(legs([0.9, 0.9, 0.9], [3.0, 3.0, 3.0]))
    credited = without_echoes(fused, vector(0.4, 0.75, 1.0))
    assert credited.score[0] == fused.score[0]
    assert credited.score[1] == pytest.approx(fused.score[1] / 2)
    assert credited.score[2] == 0.0


def test_the_shares_of_the_legs_add_up_to_one() -> None:
    fused = fuse(legs([0.9, 0.1], [3.0, 0.0]))
    assert (fused.dense[0], fused.score[0]) == pytest.approx((DENSE_SHARE, 1.0), abs=0.11)


@pytest.mark.parametrize(
    ("similarity", "shared", "words", "kept", "weak"),
    [
        pytest.param(0.70, 0.3, 0.5, True, False, id="clearly about it"),
        pytest.param(0.35, 0.1, 0.2, True, True, id="perhaps about it"),
        pytest.param(0.10, 0.1, 0.2, False, True, id="about something else"),
        pytest.param(0.05, 0.1, 0.6, True, True, id="in the same words"),
        pytest.param(0.15, 0.9, 1.0, True, False, id="almost word for word"),
    ],
)
def test_the_gate_keeps_what_may_be_relevant(
    similarity: float, shared: float, words: float, kept: bool, weak: bool
) -> None:
    decided = gate(vector(similarity), vector(shared), vector(words), Scale())
    assert (decided.keep.tolist(), decided.weak) == ([kept], weak)


@pytest.mark.parametrize(
    ("farthest", "scale", "beyond"),
    [(0.1, Scale(), True), (0.4, Scale(), False), (0.15, Scale(0.0, 0.5), False), (0.7, Scale(0.6, 1.0), False)],
)
def test_a_leg_is_at_its_end_where_nothing_farther_could_pass_the_gate(
    farthest: float, scale: Scale, beyond: bool
) -> None:
    assert is_beyond(farthest, scale) is beyond


def test_a_match_is_stronger_for_the_ten_nearest_that_are_about_it_too_and_for_no_others() -> None:
    def strength(*others: float) -> float:
        similarity = vector(0.6, *others)
        nothing = np.zeros_like(similarity)
        return gate(similarity, nothing, nothing, Scale()).strength

    assert strength() == pytest.approx(0.6)
    assert strength(*[0.0] * 9) == pytest.approx((0.6 + 0.5 * 0.06) / 1.5)
    assert strength(*[0.0] * 9) < strength(0.3, *[0.0] * 8) < strength(*[0.5] * 9) < 0.6
    assert strength(*[0.5] * 9) == pytest.approx(strength(*[0.5] * 9, *[0.4] * 30))


def test_where_there_is_no_vector_to_tell_by_a_keyword_match_passes() -> None:
    both = legs([0.0, 0.0, 0.0], [2.0, 0.0, 2.0])
    both.vectors[:2] = 0.0
    nothing = np.zeros(3)
    assert gated(both, nothing, nothing, Scale()).keep.tolist() == [True, False, False]


def test_parts_are_given_by_name_for_the_rows_that_are_asked_for_and_equals_tie() -> None:
    found = relevance([0.2, 0.9, 0.5], [1.0, 3.0, 2.0], [0.0, 0.5, 0.0])
    parts = found.parts(np.array([1, 0]))
    assert list(parts) == ["dense", "keyword", "verbatim", "feedback"]
    assert parts["verbatim"].tolist() == [round(float(found.verbatim[1]), 6), 0.0]


def test_nothing_found_is_weak() -> None:
    assert gate(vector(), vector(), vector(), Scale()).weak


def test_shared_words_say_which_of_the_terms_a_text_has() -> None:
    assert shared_words(["slow", "build", "cach"], ["slow slow cach", "deploy", ""]) == pytest.approx([2 / 3, 0, 0])
    assert shared_words([], ["slow"]).tolist() == [0.0]


def test_a_hash_needs_a_smaller_cosine_than_a_model_and_the_smaller_the_longer_it_is() -> None:
    model, long, short = known_scale("minilm", 384), known_scale("hash", 1024), known_scale("hash", 32)
    assert model is not None
    assert long is not None
    assert short is not None
    assert [gate(vector(0.4), vector(0.0), vector(0.0), scale).weak for scale in (model, long, short)] == [
        True,
        False,
        True,
    ]
    assert [gate(vector(0.18), vector(0.0), vector(0.0), scale).keep.all() for scale in (model, long, short)] == [
        False,
        True,
        False,
    ]
    assert known_scale("other", 384) is None


def test_an_unknown_embedders_cosines_are_read_by_what_unlike_memories_have() -> None:
    rng = np.random.default_rng(0)
    narrow = unit_rows(np.eye(1, 50)[0] * 2.0 + rng.standard_normal((40, 50)) / 7.0)
    assert measured_scale(narrow).unrelated == pytest.approx(0.78, abs=0.06)
    assert measured_scale(narrow[:10]) == Scale()
    assert gate(vector(0.8), vector(0.0), vector(0.0), measured_scale(narrow)).weak
    assert gate(vector(0.8), vector(0.0), vector(0.0), measured_scale(narrow)).keep.all()


@pytest.mark.parametrize("count", [1, 5, 64, 257])
def test_inner_products_in_slabs_are_those_of_all_rows_at_once(count: int) -> None:
    rows = unit_rows(np.random.default_rng(3).standard_normal((count, 48)))

    assert inner_products(rows) == pytest.approx(rows @ rows.T, abs=1e-6)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_what_is_more_relevant_is_more_likely_about_the_task(one: float, other: float) -> None:
    chances = about(np.array([min(one, other), max(one, other)]))

    assert 0.0 < chances[0] <= chances[1] < 1.0


def test_among_a_few_the_least_relevant_may_be_about_the_query_too() -> None:
    nothing = np.zeros(1)

    assert about(nothing)[0] < 0.02
    assert about(nothing, 2)[0] > 0.04
    assert about(nothing, 63)[0] > about(nothing, 64)[0] == about(nothing, 999)[0]
