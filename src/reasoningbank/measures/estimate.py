"""The difference that chance lets us see: success with and without, what is known beforehand adjusted for.

Everything here rests on one thing only: that each run was assigned by chance, with a chance that is known. Runs may
repeat a task, get harder or easier, and depend on one another; those of one unit (a thread) count as one cluster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reasoningbank.measures.lift_results import Interval
from reasoningbank.measures.reliability import Z95, wilson

Float64 = NDArray[np.float64]

Z80: Final = 0.841621  # a power of 80 %

# What the always-valid interval expects differences to be like, as a standard deviation: it is narrowest where as much
# is known of one as it takes to see some 2 to 3 of these.
USUAL_DIFFERENCE: Final = 0.1
# So many runs without are needed for each thing that is adjusted for; with fewer it would add more noise than it takes.
RUNS_A_COVARIATE: Final = 10
# No adjustment is believed to take more of the variance than nine tenths; and what counts as none.
LEAST_RATIO: Final = 0.1
NOTHING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Runs that chance gave or withheld something, as aligned arrays.

    Attributes:
        given: (n,) truth.
        chance: (n,) that it was withheld, in (0, 1).
        succeeded: (n,) 0 or 1; any other number where something else is compared.
        known: (n, k) what was known of each run before it was assigned, the most telling first; k may be 0.
        unit: (n,) numbers of the clusters; no cluster is in both arms.
    """

    given: NDArray[np.bool_]
    chance: Float64
    succeeded: Float64
    known: Float64
    unit: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference: with minus without.

    Attributes:
        given, withheld: the two means, adjusted.
        error: the standard error of the difference.
        effective: how many independent runs with one answer each the two means are worth.
        narrowed: by what share the adjustment lessened the variance; negative where clusters made it larger.
    """

    difference: float
    given: float
    withheld: float
    error: float
    effective: tuple[float, float]
    narrowed: float


def estimate(outcomes: Outcomes) -> Estimate:
    """Estimate a difference; each arm needs two units at least.

    Means are weighed by the inverse of the chance of their arm (Hajek 1971), so that a share that was changed meanwhile
    does no harm. What was known beforehand is taken out of both arms with those slopes that make the difference's
    variance least: as good as slopes for each arm (Lin 2013, section 4: "tyranny of the minority"), with half as many
    to fit. The variance is of the clusters' residuals, each divided by what it had no part in (HC3, MacKinnon & White
    1985).
    """
    arms = [_Arm.of(outcomes, outcomes.given), _Arm.of(outcomes, ~outcomes.given)]
    smallest = min(arm.sums.shape[0] for arm in arms)
    columns = min(outcomes.known.shape[1], smallest // RUNS_A_COVARIATE)
    sums = np.concatenate([arm.sums for arm in arms])
    y, x = sums[:, 0], sums[:, 1 : 1 + columns]
    inverse = np.linalg.pinv(x)
    slopes = inverse @ y
    leverage = np.einsum("ij,ji->i", x, inverse) + np.concatenate([arm.share for arm in arms])
    residuals = (y - x @ slopes) / np.maximum(1.0 - leverage, 0.1)
    variance = float(residuals @ residuals)
    centre = outcomes.known[:, :columns].mean(axis=0)
    means = [float(arm.means[0] + (centre - arm.means[1 : 1 + columns]) @ slopes) for arm in arms]
    plain = math.fsum(arm.means[0] * (1.0 - arm.means[0]) / arm.runs for arm in arms)
    # Where all of an arm ended alike nothing is left to narrow, and their number is all that tells.
    ratio = max(variance / plain, LEAST_RATIO) if plain > NOTHING else 1.0
    return Estimate(
        difference=means[0] - means[1],
        given=means[0],
        withheld=means[1],
        error=math.sqrt(variance),
        effective=(arms[0].runs / ratio, arms[1].runs / ratio),
        narrowed=1.0 - ratio,
    )


@dataclass(frozen=True, slots=True)
class _Arm:
    """One arm: weighted means of the answer and of what was known, and each cluster's part in their noise.

    Attributes:
        means: (1 + k,).
        sums: (clusters, 1 + k) weighted sums of what is beyond the means.
        share: (clusters,) of the weight.
        runs: how many runs of equal weight it is worth (Kish 1965).
    """

    means: Float64
    sums: Float64
    share: Float64
    runs: float

    @classmethod
    def of(cls, outcomes: Outcomes, rows: NDArray[np.bool_]) -> _Arm:
        given = outcomes.given[rows]
        weight = 1.0 / np.where(given, 1.0 - outcomes.chance[rows], outcomes.chance[rows])
        weight = weight / weight.sum()
        values = np.column_stack([outcomes.succeeded[rows], outcomes.known[rows]])
        means = weight @ values
        _, unit = np.unique(outcomes.unit[rows], return_inverse=True)
        many = int(unit.max()) + 1
        sums = np.zeros((many, values.shape[1]))
        np.add.at(sums, unit, weight[:, None] * (values - means))
        return cls(means, sums, np.bincount(unit, weight).astype(np.float64), float(1.0 / (weight @ weight)))


def newcombe(found: Estimate, z: float = Z95) -> Interval:
    """Return the interval of a difference between two shares, by the square-and-add of two Wilson intervals.

    Source: Newcombe 1998, method 10; with the runs that adjusted means are worth in place of their number, as in Zou &
    Donner 2008.
    """
    means = [min(max(mean, 0.0), 1.0) for mean in (found.given, found.withheld)]
    (low1, high1), (low0, high0) = (wilson(p, n, z) for p, n in zip(means, found.effective, strict=True))
    return Interval(
        max(found.difference - math.hypot(means[0] - low1, high0 - means[1]), -1.0),
        min(found.difference + math.hypot(high1 - means[0], means[1] - low0), 1.0),
    )


def always_valid(
    found: Estimate, interval: Interval, *, usual: float = USUAL_DIFFERENCE, alarms: float = 0.05
) -> Interval:
    """Return the interval that holds at every look at once, but for a share `alarms` of cases.

    Robbins' (1970) normal mixture: reach = sqrt(V (V + t^2) / t^2 log((V + t^2) / (alarms^2 V))), with V the variance
    of the difference and t the deviation of `usual` differences. As a confidence sequence for experiments: Johari,
    Koomen, Pekelis & Walsh 2022, section 4; for estimates that are normal only in the long run, as here: Waudby-Smith,
    Arbour, Sinha, Kennedy & Ramdas 2024. Each side keeps the shape of the 95 % interval's.
    """
    error = (interval.high - interval.low) / (2.0 * Z95)
    times = looks(error, usual, alarms) / Z95
    return Interval(
        max(found.difference - times * (found.difference - interval.low), -1.0),
        min(found.difference + times * (interval.high - found.difference), 1.0),
    )


def looks(error: float, usual: float, alarms: float) -> float:
    """Return how many standard errors an always-valid interval reaches; see `always_valid`."""
    v, t = error * error, usual * usual
    return math.sqrt((v + t) / t * math.log((v + t) / (alarms**2 * v)))


def smallest(error: float) -> float:
    """Return the smallest difference that is seen four times in five by an interval with this standard error."""
    return (Z95 + Z80) * error


def runs_to_see(difference: float, error: float, runs: int) -> int:
    """Return how many more runs like these it takes to see a difference four times in five; 0 when there are enough."""
    return max(0, math.ceil(runs * (smallest(error) / difference) ** 2) - runs)


def textbook_error(success: float, rate: float, runs: float) -> float:
    """Return the standard error of a difference between shares without any adjustment, before anything is measured."""
    return math.sqrt(success * (1.0 - success) / runs * (1.0 / rate + 1.0 / (1.0 - rate)))
