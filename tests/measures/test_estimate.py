"""The difference between two arms: what it is, how sure it is, and for how many looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.measures.estimate import (
    RUNS_A_COVARIATE,
    Outcomes,
    always_valid,
    estimate,
    newcombe,
    runs_to_see,
    smallest,
    textbook_error,
)
from reasoningbank.measures.lift_results import Interval
from reasoningbank.measures.reliability import wilson


def counts(good1: int, n1: int, good0: int, n0: int, chance: float = 0.5) -> Outcomes:
    """Runs of which nothing was known before: so many of each arm, and so many of these that succeeded."""
    n = n1 + n0
    ends = [1.0] * good1 + [0.0] * (n1 - good1) + [1.0] * good0 + [0.0] * (n0 - good0)
    return Outcomes(np.arange(n) < n1, np.full(n, chance), np.array(ends), np.zeros((n, 0)), np.arange(n))


def lived(n: int, lift: float, seed: int, *, chance: float = 0.3) -> Outcomes:
    """Runs of which how hard each is was known before."""
    random = np.random.default_rng(seed)
    hard, given_ = random.uniform(0.1, 0.8 - max(lift, 0.0), n), random.random(n) >= chance
    ends = random.random(n) < hard + lift * given_
    return Outcomes(given_, np.full(n, chance), ends.astype(float), hard[:, None], np.arange(n))


@pytest.mark.parametrize(
    ("table", "low", "high"),
    # Newcombe 1998, table II, method 10.
    [((56, 70, 48, 80), 0.0524, 0.3339), ((9, 10, 3, 10), 0.1705, 0.8090), ((10, 10, 0, 20), 0.6791, 1.0)],
)
def test_without_anything_known_it_is_newcombes_interval(
    table: tuple[int, int, int, int], low: float, high: float
) -> None:
    good1, n1, good0, n0 = table
    # The published formula has no correction for clusters, each of which is left out once here.
    found = estimate(counts(*table))
    plain = newcombe(found.__class__(found.difference, found.given, found.withheld, found.error, (n1, n0), 0.0))

    assert found.difference == pytest.approx(good1 / n1 - good0 / n0)
    assert (plain.low, plain.high) == pytest.approx((low, high), abs=6e-4)
    ours = newcombe(found)
    assert ours.low <= plain.low + 1e-9
    assert ours.high >= plain.high - 1e-9


@given(st.integers(0, 60), st.integers(0, 60))
def test_both_intervals_hold_the_difference_and_the_one_for_every_look_is_wider(good1: int, good0: int) -> None:
    found = estimate(counts(good1, 60, good0, 60))
    once = newcombe(found)
    always = always_valid(found, once)

    assert -1.0 <= always.low <= once.low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= once.high <= always.high <= 1.0


@given(st.integers(0, 1000), st.permutations(range(200)))
def test_the_order_of_runs_does_not_matter(seed: int, order: list[int]) -> None:
    runs = lived(200, 0.2, seed)
    mixed = Outcomes(runs.given[order], runs.chance[order], runs.succeeded[order], runs.known[order], runs.unit[order])

    assert estimate(mixed).difference == pytest.approx(estimate(runs).difference)
    assert estimate(mixed).error == pytest.approx(estimate(runs).error)


@given(st.integers(0, 1000))
def test_arms_that_change_names_change_the_sign_alone(seed: int) -> None:
    runs = lived(150, 0.2, seed)
    turned = Outcomes(~runs.given, 1.0 - runs.chance, runs.succeeded, runs.known, runs.unit)
    one, other = estimate(runs), estimate(turned)

    assert other.difference == pytest.approx(-one.difference)
    assert other.error == pytest.approx(one.error)
    low, high = newcombe(one).low, newcombe(one).high
    assert (newcombe(other).low, newcombe(other).high) == pytest.approx((-high, -low))


def test_what_is_known_before_narrows_the_interval() -> None:
    random = np.random.default_rng(1)
    known = (random.random((600, 1)) < 0.5).astype(np.float64)
    given_, ends = random.random(600) < 0.5, np.where(random.random(600) < 0.9, known[:, 0], 1.0 - known[:, 0])
    half, units = np.full(600, 0.5), np.arange(600)
    adjusted = estimate(Outcomes(given_, half, ends, known, units))
    plain = estimate(Outcomes(given_, half, ends, known[:, :0], units))

    assert adjusted.narrowed == pytest.approx(0.64, abs=0.1)
    assert plain.narrowed == pytest.approx(0.0, abs=0.02)
    assert adjusted.error < 0.7 * plain.error


def test_with_few_runs_without_nothing_is_adjusted_for() -> None:
    runs = lived(60, 0.2, 3, chance=0.1)
    few = int((~runs.given).sum())
    bare = Outcomes(runs.given, runs.chance, runs.succeeded, runs.known[:, :0], runs.unit)

    assert few < RUNS_A_COVARIATE
    assert estimate(runs).difference == pytest.approx(estimate(bare).difference)


def test_runs_of_one_thread_count_as_one() -> None:
    single = lived(100, 0.2, 5)
    doubled = Outcomes(
        np.tile(single.given, 4),
        np.tile(single.chance, 4),
        np.tile(single.succeeded, 4),
        np.tile(single.known, (4, 1)),
        np.tile(single.unit, 4),
    )

    assert estimate(doubled).error == pytest.approx(estimate(single).error)
    assert newcombe(estimate(doubled)).low == pytest.approx(newcombe(estimate(single)).low, abs=1e-9)


def test_a_share_that_was_changed_while_tasks_got_harder_does_no_harm() -> None:
    """Without weights the harder half, of which more was held out, would make lessons look good."""
    random = np.random.default_rng(7)
    n = 40_000
    chance = np.where(np.arange(n) < n // 2, 0.1, 0.5)
    given_ = random.random(n) >= chance
    ends = random.random(n) < np.where(np.arange(n) < n // 2, 0.8, 0.3)
    found = estimate(Outcomes(given_, chance, ends.astype(float), np.zeros((n, 0)), np.arange(n)))

    assert found.difference == pytest.approx(0.0, abs=4 * found.error)
    assert ends[given_].mean() - ends[~given_].mean() > 0.1


@pytest.mark.parametrize("lift", [-0.1, 0.0, 0.2])
def test_the_interval_holds_the_truth_as_often_as_it_says(lift: float) -> None:
    """Of 400 worlds 95 % are 380, with a deviation of 4.4."""
    holds = [lift in newcombe(estimate(lived(240, lift, seed, chance=0.2))) for seed in range(400)]

    assert 366 <= sum(holds) <= 394


def test_where_all_ended_alike_the_interval_is_that_of_their_numbers() -> None:
    found = estimate(counts(30, 30, 0, 30))

    assert found.effective == (30.0, 30.0)
    assert 0.8 < newcombe(found).low < 1.0 == newcombe(found).high
    assert always_valid(found, newcombe(found)).low > 0.5


@pytest.mark.parametrize(("share", "runs"), [(0.0, 10), (0.5, 10), (1.0, 40)])
def test_wilsons_interval_solves_its_equation(share: float, runs: int) -> None:
    for end in wilson(share, runs):
        assert (share - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / runs, abs=1e-12)


def test_what_a_sample_can_see_and_how_many_more_runs_it_takes() -> None:
    error = textbook_error(0.5, 0.5, 100)

    assert error == pytest.approx(0.1)
    assert smallest(error) == pytest.approx(0.28, abs=0.001)
    # Twice (1.96 + 0.84)^2 p q / 0.1^2 runs in each arm.
    assert runs_to_see(0.1, error, 100) == pytest.approx(785 - 100, abs=1)
    assert runs_to_see(0.5, error, 100) == 0


def test_an_interval_holds_its_ends() -> None:
    assert 1.0 in Interval(0.0, 1.0)
    assert -0.1 not in Interval(0.0, 1.0)
