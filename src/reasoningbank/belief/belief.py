"""Confidence: what the evidence about a memory says of the chance that it helps.

The seam between evidence and everything that acts on it: values, the model contract, and the two decisions that every
model shares: where a memory stands, and how an outcome is shared. Models: `spec` (for conformance), `calibrated`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from reasoningbank.signals import Tally

if TYPE_CHECKING:
    from reasoningbank.belief.calibrated import Parameters

# One-sided 90 % of a normal distribution: a memory is rejected only when it is 90 % sure to be below the floor.
SURE_DEVIATIONS = 1.28

# Confidences are kept this far from 0 and 1, so that no evidence is ever final and log-odds stay finite.
MARGIN = 1e-6

# P(the run succeeds | at least one of the memories helped) and P(it succeeds | none did), before anything is learned.
SUCCESS_IF_HELPED = 0.75
SUCCESS_IF_NOT = 0.45

Evidence = tuple[Sequence[Tally], float]
"""What a model is told about one memory: its tallies in any order, and its initial confidence in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Beta:
    """A Beta distribution; both parameters are positive."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        """The expected value."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def strength(self) -> float:
        """How many observations it is worth, the prior's included."""
        return self.alpha + self.beta

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.mean * (1.0 - self.mean) / (self.strength + 1.0))


class Belief(NamedTuple):
    """The belief that a memory helps. A named tuple, since every search makes hundreds.

    Attributes:
        mean: the confidence: the predicted chance that the memory helps, strictly inside (0, 1).
        deviation: its standard deviation.
        strength: how many direct observations it is worth, the prior's included.
        low: lower end of the central 80 % credible interval.
        high: upper end of it.
    """

    mean: float
    deviation: float
    strength: float
    low: float
    high: float

    @classmethod
    def of(cls, beta: Beta) -> Belief:
        """Return the belief that `beta` describes; the interval is its normal approximation, cut at 0 and 1."""
        mean, reach = within(beta.mean), SURE_DEVIATIONS * beta.deviation
        return cls(mean, beta.deviation, beta.strength, within(mean - reach), within(mean + reach))


class Standing(StrEnum):
    """Where a memory stands at a floor: exactly one of three."""

    PROVEN = "proven"
    PROVISIONAL = "provisional"
    REJECTED = "rejected"


class ConfidenceModel(Protocol):
    """Turns evidence into beliefs: a pure function of the multiset of tallies, whatever their order."""

    @property
    def parameters(self) -> Parameters:
        """What was learned of a project's evidence; where every project starts, for a model that learns nothing."""

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""

    def shares(self, confidences: Sequence[float], succeeded: bool, about: Sequence[float]) -> tuple[float, ...]:
        """Return the strength of a run's outcome for each memory recalled for it, by what was believed at recall.

        That is how likely each helps with a task it is about, and how likely it is about this one.
        """


def within(probability: float) -> float:
    """Return the nearest number to `probability` that is `MARGIN` or more away from 0 and 1."""
    return min(max(probability, MARGIN), 1.0 - MARGIN)


def standing(belief: Belief, floor: float) -> Standing:
    """Tell where a memory stands at `floor` in [0, 1], compared with >=.

    Proven: the mean reaches the floor. Rejected: not even `SURE_DEVIATIONS` deviations above the mean reach it.
    Provisional: the rest, where every new lesson is.
    """
    if belief.mean >= floor:
        return Standing.PROVEN
    if belief.mean + SURE_DEVIATIONS * belief.deviation < floor:
        return Standing.REJECTED
    return Standing.PROVISIONAL


def outcome_shares(
    confidences: Sequence[float],
    succeeded: bool,
    *,
    about: Sequence[float] | None = None,
    helped: float = SUCCESS_IF_HELPED,
    unhelped: float = SUCCESS_IF_NOT,
) -> tuple[float, ...]:
    """Share the outcome of one run among the memories that were recalled together for it.

    A run succeeds with chance `helped` (S1) when at least one memory helped and `unhelped` (S0) when none did. With q
    the chance that one of its companions helped, a memory that did not help still sees success with chance
    s0 = q S1 + (1 - q) S0. Its share is what the outcome says about it, relative to what it would say had the memory
    been recalled alone: log(S1 / s0) / log(S1 / S0) after a success, and after a failure
    log((1 - s0) / (1 - S1)) / log((1 - S0) / (1 - S1)).
    So companions that surely helped take the credit for a success, and a memory recalled alone has a share of 1. Of one
    that is about the task with chance a only, an outcome says less: a S1 + (1 - a) s0 stands in place of S1 above.

    Args:
        confidences: the beliefs' means as they were at recall, in any order: shares never depend on what came later.
        succeeded: the run's verdict.
        about: the chance that each is about the task, in (0, 1]; 1 when None.
        helped: S1 in (0, 1), above `unhelped`.
        unhelped: S0 in (0, 1).

    Returns:
        The strength of the outcome signal of each memory, in (0, 1], in the order given.

    Source: explaining away in a leaky noisy-OR (Pearl 1988, section 4.3.2), as a ratio of weights of evidence (Good
    1950).
    """
    sure = [1.0] * len(confidences) if about is None else about
    wrong = [1.0 - a * within(c) for a, c in zip(sure, confidences, strict=True)]
    none_helps = (math.prod(wrong[:i] + wrong[i + 1 :]) for i in range(len(wrong)))
    return tuple(_share(a, 1.0 - none, succeeded, helped, unhelped) for a, none in zip(sure, none_helps, strict=True))


def _share(about: float, companions: float, succeeded: bool, helped: float, unhelped: float) -> float:
    mixed = companions * helped + (1.0 - companions) * unhelped
    with_it = about * helped + (1.0 - about) * mixed
    if succeeded:
        share = math.log(with_it / mixed) / math.log(helped / unhelped)
    else:
        share = math.log((1.0 - mixed) / (1.0 - with_it)) / math.log((1.0 - unhelped) / (1.0 - helped))
    return min(max(share, MARGIN), 1.0)
