"""The `calibrated` confidence model (the default): a Bayesian belief over the chance that a memory helps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reasoningbank.confidence import MARGIN, SUCCESS_IF_HELPED, SUCCESS_IF_NOT, Belief, Evidence
from reasoningbank.signals import SignalKind, Tally

Float64 = NDArray[np.float64]

# Nodes of the quadrature: theta = logistic(sinh t), t uniform. The double exponential rule (Takahasi & Mori 1974)
# takes the integrable poles that a Beta density below one observation has at 0 and 1 without loss.
NODES = 96
REACH = 5.0

# The prior's mean stays inside this range, and each of its two parameters at or above this size, so that the quadrature
# is exact to 1e-4; a prior that is nearly certain is worth more observations for it.
SUREST_PRIOR = 0.98
SMALLEST_PRIOR = 0.1


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a project's own evidence teaches about its evidence.

    Attributes:
        accuracy: chance that an explicit vote is right.
        helped: chance that a run succeeds when a recalled memory helped (S1).
        unhelped: chance that it succeeds when none did (S0).
        strength: how many observations the prior is worth.
        fading: what one observation is still worth after one later use of its memory.
    """

    accuracy: float = 0.9
    helped: float = SUCCESS_IF_HELPED
    unhelped: float = SUCCESS_IF_NOT
    strength: float = 2.0
    fading: float = 0.97


STARTING = Parameters()


def _grid() -> tuple[Float64, Float64, Float64, Float64]:
    t = np.linspace(-REACH, REACH, NODES)
    x = np.sinh(t)
    log_theta, log_rest = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
    # d theta = theta (1 - theta) cosh t dt
    return np.exp(log_theta), log_theta, log_rest, np.log(np.cosh(t))


THETA, LOG_THETA, LOG_REST, LOG_COSH = _grid()


@dataclass(frozen=True, slots=True)
class CalibratedModel:
    """A belief over theta = P(the memory helps), computed by quadrature.

    p(theta) ~ Beta(theta; n mu, n (1 - mu)) * product over observations of P(observation | theta) ^ weight, where

        P(vote for | theta) = a theta + (1 - a) (1 - theta)
        P(success | theta) = s1 theta + s0 (1 - theta)

    The weight is the signal's strength, faded by the memory's own uses on later days. Usage says nothing by itself: it
    is always positive, so it does not discriminate. A vote supersedes the outcome of its own episode: tallies that are
    marked as superseded are left out.
    """

    parameters: Parameters = STARTING

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""
        if not items:
            return []
        counts = np.array([_counts(tallies, self.parameters.fading) for tallies, _ in items])
        prior = _log_prior(np.array([initial for _, initial in items]), self.parameters.strength)
        return _beliefs(prior + counts @ _log_likelihoods(self.parameters))


def _log_prior(means: Float64, strength: float) -> Float64:
    """Return (n, NODES) log Beta densities with `means`, times the quadrature's weights."""
    mean = np.clip(means, 1.0 - SUREST_PRIOR, SUREST_PRIOR)[:, None]
    n = np.maximum(strength, SMALLEST_PRIOR / np.minimum(mean, 1.0 - mean))
    # Beta's exponents are one less, and the step's theta (1 - theta) gives that one back.
    return n * mean * LOG_THETA + n * (1.0 - mean) * LOG_REST + LOG_COSH


def _log_likelihoods(parameters: Parameters) -> Float64:
    """Return (4, NODES) log chances: vote for, vote against, success, failure."""
    a, s1, s0 = parameters.accuracy, parameters.helped, parameters.unhelped
    vote, success = (a * THETA + (1.0 - a) * (1.0 - THETA), s1 * THETA + s0 * (1.0 - THETA))
    return np.log(np.stack([vote, 1.0 - vote, success, 1.0 - success]))


def _counts(tallies: Sequence[Tally], fading: float) -> list[float]:
    """Return the faded weight of votes for, votes against, successes, failures.

    Stability is a run's outcome seen later, and is counted as one.
    """
    uses: dict[int, float] = defaultdict(float)
    for tally in tallies:
        if tally.kind is SignalKind.USAGE:
            uses[tally.day] += tally.positive
    counts = [0.0, 0.0, 0.0, 0.0]
    for tally in tallies:
        if tally.kind is SignalKind.USAGE or tally.superseded:
            continue
        weight = fading ** sum(n for day, n in uses.items() if day > tally.day)
        place = 0 if tally.kind is SignalKind.EXPLICIT else 2
        counts[place] += weight * tally.positive
        counts[place + 1] += weight * tally.negative
    return counts


def _beliefs(log_p: Float64) -> list[Belief]:
    """Return the beliefs of unnormalised log densities (n, NODES), quadrature weights included."""
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    mean = np.clip(p @ THETA, MARGIN, 1.0 - MARGIN)
    variance = np.maximum(p @ THETA**2 - (p @ THETA) ** 2, 1e-12)
    strength = np.maximum(mean * (1.0 - mean) / variance - 1.0, MARGIN)
    below = p.cumsum(axis=1) - 0.5 * p
    low, high = (_quantile(below, q) for q in (0.1, 0.9))
    columns: list[Any] = [column.tolist() for column in (mean, np.sqrt(variance), strength, low, high)]
    return [Belief(*row) for row in zip(*columns, strict=True)]


def _quantile(below: Float64, q: float) -> Float64:
    """Return the theta of each row below which a share q of the mass lies, between nodes by straight lines."""
    right = np.clip((below < q).sum(axis=1), 1, NODES - 1)
    rows = np.arange(len(below))
    b0, b1 = below[rows, right - 1], below[rows, right]
    part = np.clip((q - b0) / np.maximum(b1 - b0, 1e-300), 0.0, 1.0)
    found: Float64 = np.clip(THETA[right - 1] + part * (THETA[right] - THETA[right - 1]), MARGIN, 1.0 - MARGIN)
    return found
