"""The `ema` confidence model: +20 % of what is missing after a success, -15 % of what is there after a failure.

For people who come from systems that do so. It forgets fast and is badly calibrated (docs/guides/confidence.md); the
default is `calibrated`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reasoningbank.belief.belief import Belief, Beta, Evidence, within
from reasoningbank.belief.calibrated import Unlearning
from reasoningbank.signals import SignalKind, Tally

GAIN = 0.2
LOSS = 0.15

# What the last 1 / GAIN signals are worth, whatever their number: the deviation of the belief.
STRENGTH = 1.0 / GAIN


def after(confidence: float, positive: float, negative: float) -> float:
    """Return the confidence after so many signals for and then so many against; 0.7 of a signal moves 0.7 times as far.

    Source: claude-flow's architecture: c + 0.2 (1 - c) after a success, 0.85 c after a failure.
    """
    praised = 1.0 - (1.0 - confidence) * math.pow(1.0 - GAIN, positive)
    return praised * math.pow(1.0 - LOSS, negative)


@dataclass(frozen=True, slots=True)
class EmaModel(Unlearning):
    """Signals move the confidence in the order of their days; within one tally, those for come first.

    Usage is not counted. Unlike the other models, this one depends on the order of the signals: by design.
    """

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""
        return [self._belief(tallies, initial) for tallies, initial in items]

    def _belief(self, tallies: Sequence[Tally], initial: float) -> Belief:
        confidence = initial
        judged = (t for t in tallies if t.kind is not SignalKind.USAGE)
        for t in sorted(judged, key=lambda t: (t.day, t.last, t.kind, t.source, t.by)):
            confidence = after(confidence, t.positive, t.negative)
        mean = within(confidence)
        return Belief.of(Beta(STRENGTH * mean, STRENGTH * (1.0 - mean)))
