"""The `spec` confidence model: fixed formulas, kept exact so that banks that follow them can be compared to the digit.

It is badly calibrated (docs/guides/confidence.md); the default is `calibrated`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reasoningbank.belief.belief import Belief, Beta, Evidence, within
from reasoningbank.belief.calibrated import Unlearning
from reasoningbank.signals import SignalKind, Tally

# How many observations the initial confidence is worth when it is kept: as much as the uniform prior.
PRIOR_STRENGTH = 2.0

EXPLICIT = Beta(7.0, 3.0)
EVEN = Beta(5.0, 5.0)
UNIFORM = Beta(1.0, 1.0)


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """How far each kind of signal is trusted: a Beta pair a kind, learned per project from explicit votes."""

    explicit: Beta = EXPLICIT
    usage: Beta = EVEN
    outcome: Beta = EVEN
    stability: Beta = EVEN
    repair: Beta = EVEN

    def weight(self, kind: SignalKind) -> float:
        """Return the kind's weight: its pair's mean over the sum of the first three.

        At the start 0.411765 for explicit, 0.294118 for the others. Stability and repair came later and stand outside
        the sum, on the same scale, so that the three keep their published values.
        """
        total = self.explicit.mean + self.usage.mean + self.outcome.mean
        pair: Beta = getattr(self, kind.value)
        return pair.mean / total

    def taught(self, kind: SignalKind, confirmed: float, refuted: float) -> SignalWeights:
        """Return the weights after so many explicit votes that confirmed, and refuted, a kind."""
        pair: Beta = getattr(self, kind.value)
        return replace(self, **{kind.value: Beta(pair.alpha + confirmed, pair.beta + refuted)})


UNTAUGHT = SignalWeights()


def spec_beta(weights: SignalWeights, tallies: Iterable[Tally], prior: Beta = UNIFORM) -> Beta:
    """Return alpha = prior + sum of weight * positive, beta likewise with negative; old evidence counts like new."""
    alpha, beta = prior.alpha, prior.beta
    for tally in tallies:
        weight = weights.weight(tally.kind)
        alpha += weight * tally.positive
        beta += weight * tally.negative
    return Beta(alpha, beta)


@dataclass(frozen=True, slots=True)
class SpecModel(Unlearning):
    """The Beta-over-weighted-counts model.

    Attributes:
        weights: the project's, learned or at their start.
        keep_prior: start from the initial confidence, worth `PRIOR_STRENGTH` observations. Without it the prior is
            uniform, and the initial confidence stands only until there is more than usage: the first praise of a
            memory recorded at 0.8 then makes it 0.585.
    """

    weights: SignalWeights = UNTAUGHT
    keep_prior: bool = False

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""
        return [self._belief(tallies, within(initial)) for tallies, initial in items]

    def _belief(self, tallies: Sequence[Tally], initial: float) -> Belief:
        kept = Beta(PRIOR_STRENGTH * initial, PRIOR_STRENGTH * (1.0 - initial))
        if self.keep_prior:
            return Belief.of(spec_beta(self.weights, tallies, kept))
        if all(tally.kind is SignalKind.USAGE for tally in tallies):
            return Belief.of(kept)
        return Belief.of(spec_beta(self.weights, tallies))
