"""Fading, number by number. The vectors carry the numbers they are published under."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reasoningbank.search.decay import freshness

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("half_life", "expected"),
    [
        pytest.param(45, (0.629961, 0.5, 0.25, 0.0625), id="159 half-life 45"),
        pytest.param(90, (0.793701, 0.707107, 0.5, 0.25), id="159 half-life 90"),
        pytest.param(30, (0.5, 0.353553, 0.125, 0.015625), id="159 half-life 30"),
    ],
)
def test_freshness_halves_with_every_half_life(half_life: int, expected: tuple[float, ...]) -> None:
    found = [freshness(NOW - timedelta(days=days), NOW, timedelta(days=half_life)) for days in (30, 45, 90, 180)]

    assert found == pytest.approx(expected, abs=1e-6)


def test_a_time_to_come_counts_as_now() -> None:
    assert freshness(NOW + timedelta(days=9), NOW, timedelta(days=1)) == 1.0
    assert freshness(NOW, NOW, timedelta(days=1)) == 1.0
