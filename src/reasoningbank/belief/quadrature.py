"""Densities over a chance, on a fixed grid: priors, and what a posterior says.

theta = logistic(sinh t) with t uniform, the double exponential rule (Takahasi & Mori 1974): the integrable poles that a
Beta density of less than one observation has at 0 and 1 cost no accuracy, and everything is one table of logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reasoningbank.belief.belief import MARGIN, Belief

Float64 = NDArray[np.float64]

NODES = 64
REACH = 4.6

# The prior's mean stays inside this range, and each of its two parameters at or above this size, so that means are
# exact to 1e-4; a prior that is nearly certain is worth more observations for it.
SUREST_PRIOR = 0.98
SMALLEST_PRIOR = 0.125

# Sums over many rows at once differ in their last bits from those over one: rounded, a belief is one number.
DIGITS = 9


_T: Float64 = np.linspace(-REACH, REACH, NODES)
LOG_THETA: Float64 = -np.logaddexp(0.0, -np.sinh(_T))
LOG_REST: Float64 = -np.logaddexp(0.0, np.sinh(_T))
LOG_COSH: Float64 = np.log(np.cosh(_T))
THETA: Float64 = np.exp(LOG_THETA)
_POWERS = np.stack([THETA, THETA**2], axis=1)


def log_priors(means: Float64, strength: float | Float64) -> Float64:
    """Return (n, NODES) log Beta densities with these means and the rule's weights.

    They are worth `strength` observations: one number, or an (n, 1) column.
    """
    mean = np.clip(means, 1.0 - SUREST_PRIOR, SUREST_PRIOR)[:, None]
    n = np.maximum(strength, SMALLEST_PRIOR / np.minimum(mean, 1.0 - mean))
    # Beta's exponents are one less, but d theta = theta (1 - theta) cosh t dt gives that one back.
    priors: Float64 = n * (mean * (LOG_THETA - LOG_REST) + LOG_REST) + LOG_COSH
    return priors


def normalised(log_p: Float64) -> Float64:
    """Return the probabilities of the nodes, each row summing to 1."""
    p: Float64 = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def beliefs_of(log_p: Float64) -> list[Belief]:
    """Return the belief that each row of unnormalised log densities (n, NODES) is; the interval is the central 80 %."""
    p = normalised(log_p)
    first, second = (p @ _POWERS).T
    mean = _within(first.round(DIGITS), MARGIN, 1.0 - MARGIN)
    variance = np.maximum(second - first**2, MARGIN**2)
    strength = np.maximum(mean * (1.0 - mean) / variance - 1.0, MARGIN)
    below = p.cumsum(axis=1) - 0.5 * p
    columns: list[Any] = [mean, np.sqrt(variance), strength, _quantile(below, 0.1), _quantile(below, 0.9)]
    return list(map(Belief._make, zip(*(column.tolist() for column in columns), strict=True)))


def _quantile(below: Float64, q: float) -> Float64:
    """Return the theta of each row below which a share q of the mass lies, between nodes by straight lines."""
    right = np.minimum(np.maximum((below < q).sum(axis=1), 1), NODES - 1)
    rows = np.arange(len(below))
    b0, b1 = below[rows, right - 1], below[rows, right]
    part = _within((q - b0) / np.maximum(b1 - b0, MARGIN**2), 0.0, 1.0)
    return _within(THETA[right - 1] + part * (THETA[right] - THETA[right - 1]), MARGIN, 1.0 - MARGIN)


def _within(values: Float64, least: float, most: float) -> Float64:
    # As np.clip, which takes four times as long for a few numbers.
    found: Float64 = np.minimum(np.maximum(values, least), most)
    return found
