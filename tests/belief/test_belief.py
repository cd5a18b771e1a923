"""Values, standing and shares: what every confidence model has in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.belief.belief import Belief, Beta, Standing, outcome_shares, standing, within

confidences = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


def belief(mean: float, deviation: float) -> Belief:
    return Belief(mean, deviation, 2.0, within(mean - deviation), within(mean + deviation))


@pytest.mark.parametrize(
    ("mean", "deviation", "expected"),
    [
        (0.7, 0.0, Standing.PROVEN),
        (0.9, 0.3, Standing.PROVEN),
        (0.699, 0.2, Standing.PROVISIONAL),
        (0.6, 0.28, Standing.PROVISIONAL),
        (0.444, 0.2, Standing.PROVISIONAL),
        (0.443, 0.2, Standing.REJECTED),
        (0.1, 0.1, Standing.REJECTED),
    ],
)
def test_a_memory_is_proven_provisional_or_rejected(mean: float, deviation: float, expected: Standing) -> None:
    assert standing(belief(mean, deviation), 0.7) is expected


def test_nothing_is_rejected_at_floor_zero_and_nothing_is_proven_at_floor_one() -> None:
    assert standing(belief(0.001, 0.0), 0.0) is Standing.PROVEN
    assert standing(belief(0.999, 0.1), 1.0) is Standing.PROVISIONAL


def test_a_beta_becomes_a_belief_with_an_interval_inside_zero_and_one() -> None:
    found = Belief.of(Beta(1.6, 0.4))
    assert (found.mean, found.strength) == pytest.approx((0.8, 2.0))
    assert found.deviation == pytest.approx((0.8 * 0.2 / 3.0) ** 0.5)
    assert 0.0 < found.low < found.mean < found.high < 1.0


def test_a_memory_recalled_alone_takes_the_whole_outcome() -> None:
    assert outcome_shares([0.6], True) == pytest.approx((1.0,))
    assert outcome_shares([0.6], False) == pytest.approx((1.0,))
    assert outcome_shares([], True) == ()


def test_companions_that_surely_help_take_the_credit_for_a_success() -> None:
    weak, strong = outcome_shares([0.6, 0.2], True), outcome_shares([0.6, 0.95], True)
    assert strong[0] < weak[0] < 1.0


@given(confidences, st.booleans())
def test_shares_are_strengths(given_confidences: list[float], succeeded: bool) -> None:
    shares = outcome_shares(given_confidences, succeeded)
    assert len(shares) == len(given_confidences)
    assert all(0.0 < share <= 1.0 for share in shares)


@given(confidences, st.booleans(), st.randoms(use_true_random=False))
def test_shares_do_not_depend_on_the_order_of_the_memories(
    given_confidences: list[float], succeeded: bool, random: object
) -> None:
    turned = given_confidences[::-1]
    assert outcome_shares(turned, succeeded)[::-1] == pytest.approx(outcome_shares(given_confidences, succeeded))
