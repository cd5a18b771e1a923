"""The arrays under the indexes: published cosines, and unit rows of whatever comes."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank.vectors.base import best_first, cosines, unit_rows


def cosine(first: list[float], second: list[float]) -> float:
    return float(cosines(unit_rows(np.array([first])), unit_rows(np.array(second)))[0])


PUBLISHED = {
    "identical": ([1, 2, 3], [1, 2, 3], 1.0),
    "orthogonal": ([1, 0], [0, 1], 0.0),
    "opposite": ([1, 2], [-1, -2], -1.0),
    "scaled": ([1, 2, 3], [2, 4, 6], 1.0),
    "half a right angle": ([1, 0], [1, 1], 0.707107),
    "one is zero": ([0, 0], [1, 1], 0.0),
    "reversed": ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], 0.636364),
    "shifted": ([1, 2, 3], [4, 5, 6], 0.974632),
    "signs turned": ([1, -2, 3], [-4, 5, -6], -0.974632),
    "large numbers": ([100, 200, 300], [150, 250, 350], 0.997415),
    "one number differs a little": ([0.5, 0.8, 0.3, 0.9, 0.1], [0.5, 0.8, 0.3, 0.9, 0.15], 0.999314),
    "384 numbers, all shifted": ([i % 10 / 10 for i in range(384)], [i % 10 / 10 + 0.1 for i in range(384)], 0.996157),
}


@pytest.mark.parametrize(("first", "second", "expected"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_cosines_are_the_published_ones(first: list[float], second: list[float], expected: float) -> None:
    assert cosine(first, second) == pytest.approx(expected, abs=1e-6)


def test_length_does_not_rank() -> None:
    rows = unit_rows(np.array([[0.2, 0.0], [0.6, 0.8]]))

    assert cosines(rows, unit_rows(np.array([1.0, 0.0]))).tolist() == pytest.approx([1.0, 0.6])


@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1.0, 1e30, 3e38])
def test_any_finite_scale_becomes_a_unit_row(scale: float) -> None:
    row = unit_rows(np.array([[3, 4, 0]], dtype=np.float64) * scale / 5)

    assert row.tolist() == [pytest.approx([0.6, 0.8, 0.0])]


def test_a_row_of_zeros_stays_zeros() -> None:
    assert unit_rows(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]
    assert unit_rows(np.zeros((0, 3))).shape == (0, 3)


def test_equal_rows_score_equally_wherever_they_stand() -> None:
    rng = np.random.default_rng(0)
    twin = unit_rows(rng.standard_normal(384))
    rows = unit_rows(rng.standard_normal((999, 384)))
    rows[[0, 1, 17, 500, 997, 998]] = twin

    assert len(set(cosines(rows, unit_rows(rng.standard_normal(384)))[[0, 1, 17, 500, 997, 998]].tolist())) == 1


def test_the_best_are_first_and_ties_go_to_the_smaller_id() -> None:
    ids, scores = best_first(np.array([9, 3, 7, 1]), np.array([0.5, 0.9, 0.5, 0.1], dtype=np.float32), 3)

    assert ids.tolist() == [3, 7, 9]
    assert scores.tolist() == pytest.approx([0.9, 0.5, 0.5])
