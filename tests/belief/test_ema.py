"""The ema model, number by number. The vectors carry the numbers they are published under."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.ema import EmaModel, after
from reasoningbank.signals import SignalKind, Tally

WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def tally(day: int, positive: float, negative: float, kind: SignalKind = SignalKind.OUTCOME) -> Tally:
    return Tally(kind, day, "", "", positive, negative, WHEN + timedelta(days=day))


@pytest.mark.parametrize(
    ("start", "signals", "expected"),
    [
        pytest.param(0.5, "SSFSS", (0.6, 0.68, 0.578, 0.6624, 0.72992), id="152"),
        pytest.param(0.5, "SSSSS", (0.6, 0.68, 0.744, 0.7952, 0.83616), id="153"),
        pytest.param(0.8, "FFFF", (0.68, 0.578, 0.4913, 0.417605), id="154"),
    ],
)
def test_a_success_adds_a_fifth_of_what_is_missing_and_a_failure_takes_fifteen_percent(
    start: float, signals: str, expected: tuple[float, ...]
) -> None:
    found, confidence, tallies = [], start, []
    for day, signal in enumerate(signals):
        good = float(signal == "S")
        confidence = after(confidence, good, 1.0 - good)
        tallies.append(tally(day, good, 1.0 - good))
        found.append(confidence)
        assert EmaModel().beliefs([(tallies[::-1], start)])[0].mean == pytest.approx(confidence, abs=1e-6)

    assert found == pytest.approx(expected, abs=1e-6)


def test_153_three_successes_pass_the_floor() -> None:
    assert [after(0.5, n, 0.0) >= 0.7 for n in (2, 3)] == [False, True]


def test_usage_is_not_counted() -> None:
    model = EmaModel()

    assert model.beliefs([([tally(0, 9, 0, SignalKind.USAGE)], 0.6)]) == model.beliefs([([], 0.6)])


@given(st.lists(st.builds(tally, st.integers(0, 9), st.floats(0, 1e4), st.floats(0, 1e4)), max_size=5), st.floats(0, 1))
def test_results_stay_strictly_inside_zero_and_one(tallies: list[Tally], initial: float) -> None:
    found = EmaModel().beliefs([(tallies, initial)])[0]

    assert 0.0 < found.low <= found.mean <= found.high < 1.0
