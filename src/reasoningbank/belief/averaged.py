"""One set of parameters from the fits of several banks that exchange their evidence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from reasoningbank.belief.belief import within
from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.belief.effects import LEAST_GAIN, MOST_REPORTERS, OFFSETS, SLOPES
from reasoningbank.belief.fitting import LEAST_STRENGTH, MOST_ACCURACY, MOST_JUDGES, MOST_STRENGTH

Key = TypeVar("Key", str, float)
WeightedFit = tuple[Parameters, float]
"""A bank's fit, and how much judged evidence came of that bank, 0 or more."""

# What is told of single memories is of a bank's own hold-outs, and stays with it.
_MEANS = ("accuracy", "repair", "helped", "unhelped", "strength", "offset", "slope", "reported", "voted")
_MOST_CLASSES = 21


def averaged(fits: Sequence[WeightedFit]) -> Parameters:
    """Return the mean of fits, each by its weight: the same whatever their order, and in range as they are.

    A judge, a class or a reporter that some fits do not know counts there for what the model takes it for. A fit of
    weight 0 says nothing; without any other, it is where every project starts. What harms is left out.

    Source: federated averaging (McMahan et al. 2017), of maximum a posteriori estimates in place of gradients.
    """
    telling = [(fit, weight) for fit, weight in fits if weight > 0.0]
    if not telling:
        return STARTING
    found: dict[str, Any] = {name: _mean([(getattr(fit, name), weight) for fit, weight in telling]) for name in _MEANS}
    judges = [(dict(fit.judges), weight, fit.accuracy) for fit, weight in telling]
    reporters = [(dict(fit.reporters), weight, 1.0) for fit, weight in telling]
    classes = [(dict(fit.class_means), weight, None) for fit, weight in telling]
    found["judges"] = _named(judges, MOST_JUDGES)
    found["reporters"] = _named(reporters, MOST_REPORTERS)
    found["class_means"] = _named(classes, _MOST_CLASSES)
    return Parameters.of(found)


def _mean(values: Sequence[tuple[float, float]]) -> float:
    mean = math.fsum(value * weight for value, weight in values) / math.fsum(weight for _, weight in values)
    # Rounded, it might be beside all of them.
    return min(max(mean, min(values)[0]), max(values)[0])


def _named(fits: Sequence[tuple[Mapping[Key, float], float, float | None]], most: int) -> tuple[tuple[Key, float], ...]:
    """Return the mean of each value that has a name, of those that most weight knows; (values, weight, otherwise).

    What a fit takes for the value of a name that it does not know is `otherwise`; with None, the name itself.
    """
    known: defaultdict[Key, list[float]] = defaultdict(list)
    for values, weight, _ in fits:
        for key in values:
            known[key].append(weight)
    kept = sorted(known, key=lambda key: (-math.fsum(known[key]), key))[:most]

    def value(key: Key, values: Mapping[Key, float], otherwise: float | None) -> float:
        return values.get(key, within(float(key)) if otherwise is None else otherwise)

    return tuple((key, _mean([(value(key, values, other), weight) for values, weight, other in fits])) for key in kept)


def is_plausible(fit: Parameters) -> bool:
    """Tell whether a fit could have given this, generously: what another bank says that it fitted is checked by it."""
    return bool(
        max(fit.accuracies) <= MOST_ACCURACY
        and LEAST_STRENGTH <= fit.strength <= MOST_STRENGTH
        and fit.unhelped >= LEAST_GAIN
        and fit.helped <= 1.0 - LEAST_GAIN / 2.0
        and 2.0 * OFFSETS[0] <= fit.offset <= 2.0 * OFFSETS[-1]
        and fit.slope <= 2.0 * SLOPES[-1]
        and fit.fading == STARTING.fading
        and all(0.0 <= initial <= 1.0 for initial, _ in fit.class_means)
        and len(fit.class_means) <= _MOST_CLASSES
        and len(fit.judges) <= MOST_JUDGES
        and len(fit.reporters) <= MOST_REPORTERS
    )
