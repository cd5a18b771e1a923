"""Measures, against numbers worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.measures.reliability import (
    Prediction,
    auc,
    brier,
    calibration_error,
    helped_above,
    measure,
    reliability,
    widest_range,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def seen(*pairs: tuple[float, bool]) -> list[Prediction]:
    return [Prediction(confidence, helped) for confidence, helped in pairs]


def test_a_reliability_diagram_puts_each_prediction_into_one_bin_of_equal_width() -> None:
    bars = reliability(seen((0.0, False), (0.05, True), (0.1, True), (0.99, True), (1.0, False)))

    assert [bar.count for bar in bars] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (bars[0].low, bars[0].high) == (0.0, 0.1)
    assert (bars[0].confidence, bars[0].helped) == (0.025, 0.5)
    assert (bars[5].confidence, bars[5].helped) == (0.55, None)


def test_calibration_error_is_the_mean_gap_weighted_by_count() -> None:
    assert calibration_error(seen((0.85, True), (0.85, False), (0.25, False))) == pytest.approx((2 * 0.35 + 0.25) / 3)
    assert calibration_error(seen((1.0, True), (0.0, False))) == 0.0


def test_brier_is_the_mean_squared_error() -> None:
    assert brier(seen((0.8, True), (0.4, False))) == pytest.approx((0.04 + 0.16) / 2)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0.1, False), (0.9, True)], 1.0),
        ([(0.9, False), (0.1, True)], 0.0),
        ([(0.5, False), (0.5, True)], 0.5),
        ([(0.2, False), (0.4, True), (0.4, False), (0.6, True)], 0.875),
        ([(0.2, True), (0.4, True)], None),
        ([], None),
    ],
)
def test_auc_counts_pairs_in_the_right_order(pairs: list[tuple[float, bool]], expected: float | None) -> None:
    assert auc(seen(*pairs)) == expected


def test_without_predictions_there_is_no_figure() -> None:
    assert (calibration_error([]), brier([]), helped_above([], 0.8)) == (None, None, (None, 0))


def test_helped_above_looks_strictly_above_the_threshold() -> None:
    assert helped_above(seen((0.8, False), (0.81, True), (0.9, False)), 0.8) == (0.5, 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_figures_stay_in_their_range(pairs: list[tuple[float, bool]]) -> None:
    predictions = seen(*pairs)
    error, score, order = calibration_error(predictions), brier(predictions), auc(predictions)

    assert all(figure is None or 0.0 <= figure <= 1.0 for figure in (error, score, order))
    assert None not in (error, score)
    assert sum(bar.count for bar in reliability(predictions)) == len(predictions)


def test_the_widest_range_looks_at_the_window_and_at_what_held_when_it_began() -> None:
    history = [
        (NOW, (0.9, 0.5)),
        (NOW - timedelta(days=3), (0.8, 0.5)),
        (NOW - timedelta(days=10), (0.7, 0.6)),
        (NOW - timedelta(days=50), (0.1, 0.1)),
        (NOW + timedelta(days=1), (0.0, 0.0)),
    ]

    assert widest_range(history, NOW, timedelta(days=7)) == pytest.approx(0.2)
    assert widest_range([], NOW, timedelta(days=7)) is None


@pytest.mark.parametrize(
    ("value", "goal", "sample", "met", "enough"),
    [
        (0.8, ">= 0.75", 20, True, True),
        (0.7, ">= 0.75", 20, False, True),
        (0.04, "<= 0.05", 20, True, True),
        (0.9, ">= 0.75", 19, None, False),
        (None, ">= 0.75", 20, None, False),
    ],
)
def test_a_measure_says_whether_its_goal_is_met_only_when_there_is_enough(
    value: float | None, goal: str, sample: int, met: bool | None, enough: bool
) -> None:
    found = measure("SC-006", "helped above 0.8", value, goal=goal, sample=sample, needed=20)

    assert (found.met, found.enough) == (met, enough)
