"""What makes runs succeed, learned from runs with a verdict: lessons that help, that are about the task, that harm.

What is fitted depends on the runs as a set, and is shrunk towards where every project starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reasoningbank.belief.belief import MARGIN
from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.belief.quadrature import Float64

# The starting values of S1 and S0 are worth as many runs where a memory surely helped, and where surely none did.
RUNS_OF_EACH_KIND: Final = 5.0
LEAST_GAIN: Final = 0.02  # S1 - S0: where outcomes do not discriminate, they weigh next to nothing

# Log-odds of being about a task are tried on this grid; their prior deviations are those of its offset and log slope.
OFFSETS: Final = np.linspace(-2.0, 2.0, 7)
SLOPES: Final = np.array([0.25, 0.4, 0.7, 1.0, 1.4])
OFFSET_DEVIATION, SLOPE_DEVIATION = 1.0, 0.5

# Where fewer verdicts than this share are of one kind, the other kind is not reported: they tell nothing.
LEAST_SHARE: Final = 0.02
ENOUGH_RUNS: Final = 50

# A reporter is told apart with so many runs, and taken for all of them by as many; of more reporters, the busiest.
RUNS_OF_A_REPORTER: Final = 20
MOST_REPORTERS: Final = 20
LEAST_SPREAD: Final = 1e-3

LEAST_VARIANCE: Final = 0.05
# How far memories are from adding nothing, as a share of what one that helps is worth, before anything is known of one;
# and how many deviations below nothing one must be to be taken for harmful.
EFFECT_DEVIATION: Final = 0.25
SURE_OF_HARM: Final = 1.0


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run with a verdict, and what was handed out for it, as it was believed then.

    Attributes:
        memories: their numbers.
        confidences: that each helps with a task it is about.
        relevance: the chance that each is about this task, by its relevance alone.
        held_out: lessons were withheld from it by chance.
        by: who reported how it ended, or what kind of check.
    """

    memories: tuple[int, ...]
    confidences: tuple[float, ...]
    relevance: tuple[float, ...]
    succeeded: bool
    held_out: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs as aligned arrays (n, most memories of a run); where there is no memory, its confidence is 0."""

    memories: NDArray[np.int64]
    confidences: Float64
    log_odds: Float64
    succeeded: Float64

    @classmethod
    def of(cls, runs: Sequence[JudgedRun]) -> _Runs:
        shape = len(runs), max(len(run.memories) for run in runs)
        memories, confidences, chance = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
        for row, run in enumerate(runs):
            many = len(run.memories)
            memories[row, :many], confidences[row, :many] = run.memories, run.confidences
            chance[row, :many] = run.relevance
        chance = np.clip(chance, MARGIN, 1.0 - MARGIN)
        return cls(memories, confidences, np.log(chance / (1.0 - chance)), np.array([float(r.succeeded) for r in runs]))

    def helps(self, offset: Float64, slope: Float64) -> Float64:
        """Return the chance that each memory helps its run (..., n, most), for offsets and slopes that broadcast."""
        helps: Float64 = self.confidences / (1.0 + np.exp(-offset - slope * self.log_odds))
        return helps


def fit_runs(judged: Sequence[JudgedRun], start: Parameters = STARTING, worth: float = 1.0) -> Parameters:
    """Return where a fit starts with S1, S0, offset, slope and harms as runs teach them.

    The start is worth `worth` times what that of a project alone is.

    Given what was believed at recall, a run succeeds with chance S0 + (S1 - S0) x, where x is the believed chance that
    one of its memories helped. x is an expectation of what is regressed on, not a noisy measurement of it, so that
    plain least squares is unbiased (Berkson 1950). No vote is needed. Offset and slope are means over a grid, each
    point weighed by how well its x explains the verdicts (a normal likelihood) and by its prior.

    Runs without memories are left out. They look like a control group, but a bank knows nothing about other tasks than
    those it has lessons for: often the easy ones. Runs from which chance withheld their lessons are one: with them S0
    is measured.
    """
    used = [run for run in judged if run.memories or run.held_out]
    if not used:
        return start
    runs = _Runs.of(used)
    share = float(runs.succeeded.mean())
    if len(used) >= ENOUGH_RUNS and not LEAST_SHARE <= share <= 1.0 - LEAST_SHARE:
        unhelped = min(max(share, LEAST_GAIN), 1.0 - 2.0 * LEAST_GAIN)
        return replace(start, unhelped=unhelped, helped=unhelped + LEAST_GAIN)
    fitted = _on_the_grid(runs, start, worth)
    return replace(fitted, harms=_harms(runs, fitted), reporters=_reporters(used, runs, fitted))


def _on_the_grid(runs: _Runs, start: Parameters, worth: float) -> Parameters:
    offset, log_slope = (grid.ravel() for grid in np.meshgrid(OFFSETS, np.log(SLOPES)))
    x = 1.0 - (1.0 - runs.helps(offset[:, None, None], np.exp(log_slope)[:, None, None])).prod(axis=2)
    unhelped, gain, error = _least_squares(x, runs.succeeded, start, worth)
    variance = max(float(runs.succeeded.var()), LEAST_VARIANCE)
    log_p = -error / (2.0 * variance) - ((offset / OFFSET_DEVIATION) ** 2 + (log_slope / SLOPE_DEVIATION) ** 2) / 2.0
    weight = np.exp(log_p - log_p.max())
    means = np.stack([offset, log_slope, unhelped, gain]) @ (weight / weight.sum())
    low = min(max(float(means[2]), LEAST_GAIN), 1.0 - 2.0 * LEAST_GAIN)
    return replace(
        start,
        offset=float(means[0]),
        slope=float(np.exp(means[1])),
        unhelped=low,
        helped=min(low + max(float(means[3]), LEAST_GAIN), 1.0 - LEAST_GAIN / 2.0),
    )


def _least_squares(x: Float64, y: Float64, start: Parameters, worth: float) -> tuple[Float64, Float64, Float64]:
    """Return S0, S1 - S0 and the squared error of each row of x (grid, n), with y (n,) and the starting runs."""
    k, helped, unhelped = RUNS_OF_EACH_KIND * worth, start.helped, start.unhelped
    n, sum_x, sum_xx = y.size + 2.0 * k, x.sum(axis=1) + k, (x * x).sum(axis=1) + k
    sum_y, sum_xy = float(y.sum()) + k * (helped + unhelped), x @ y + k * helped
    gain = np.maximum((n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x**2), LEAST_GAIN)
    low = np.maximum((sum_y - gain * sum_x) / n, LEAST_GAIN)
    gain = np.where(low > LEAST_GAIN, gain, np.maximum((sum_xy - low * sum_x) / sum_xx, LEAST_GAIN))
    sum_yy = float((y * y).sum()) + k * (helped**2 + unhelped**2)
    error = sum_yy - 2.0 * (low * sum_y + gain * sum_xy) + n * low**2 + 2.0 * low * gain * sum_x + gain**2 * sum_xx
    return low, gain, error


def _harms(runs: _Runs, fitted: Parameters) -> tuple[tuple[int, float], ...]:
    """Return what memories likely cost, by number, as a share of what one that helps is worth.

    How a run ends beyond what the others in it promise is, on average, what a memory adds. Its mean is shrunk towards
    nothing (a normal prior of EFFECT_DEVIATION), and counts as far as it is one deviation below zero. It is no
    experiment: memories for hard tasks end badly too, so that it may only decide between memories for the same task.
    """
    helps = runs.helps(np.array(fitted.offset), np.array(fitted.slope))
    others = (1.0 - helps).prod(axis=1, keepdims=True) / (1.0 - helps)
    gain = fitted.helped - fitted.unhelped
    beyond = runs.succeeded[:, None] - fitted.unhelped - gain * (1.0 - others)
    there = runs.confidences > 0.0
    numbers, place = np.unique(runs.memories[there], return_inverse=True)
    share = float(runs.succeeded.mean())
    variance = max(share * (1.0 - share), LEAST_VARIANCE)
    weight = np.bincount(place) + variance / (EFFECT_DEVIATION * gain) ** 2
    added = np.bincount(place, beyond[there]) / weight + SURE_OF_HARM * np.sqrt(variance / weight)
    costs = -added / gain
    return tuple((int(n), round(float(c), 6)) for n, c in zip(numbers, costs, strict=True) if c > 0.0)


def _reporters(judged: Sequence[JudgedRun], runs: _Runs, fitted: Parameters) -> tuple[tuple[str, float], ...]:
    """Return how much each reporter's verdicts depend on whether memories helped, beside what all verdicts do.

    The slope of success on x among the runs that one reported, over S1 - S0, shrunk towards it as if so many runs more
    had been like all: a check that comes out the same whatever was handed out says nothing of memories.
    """
    many = Counter(run.by for run in judged if run.by)
    names = sorted((name for name, n in many.items() if n >= RUNS_OF_A_REPORTER), key=lambda n: (-many[n], n))
    if len(many) < 2:
        return ()
    x = 1.0 - (1.0 - runs.helps(np.array(fitted.offset), np.array(fitted.slope))).prod(axis=1)
    usual, gain = RUNS_OF_A_REPORTER * max(float(x.var()), LEAST_SPREAD), fitted.helped - fitted.unhelped
    weights = []
    for name in names[:MOST_REPORTERS]:
        own = np.array([run.by == name for run in judged])
        apart, ends = x[own] - x[own].mean(), runs.succeeded[own]
        slope = (float(apart @ ends) + usual * gain) / (float(apart @ apart) + usual)
        weights.append((name, round(min(max(slope / gain, 0.0), 1.0), 6)))
    return tuple(weights)
