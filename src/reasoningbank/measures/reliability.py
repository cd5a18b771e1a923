"""Measures of how good predictions and beliefs were: pure functions of what was predicted and what happened."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

BINS = 10
Z95 = 1.959964  # two-sided 95 %


@dataclass(frozen=True, slots=True)
class Prediction:
    """The confidence of a memory when it was handed out, what became of it, and when (None: it does not matter)."""

    confidence: float
    helped: bool
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a reliability diagram: predictions from `low` up to, but not including, `high` (the last includes it).

    Attributes:
        confidence: their mean; the middle of the bin when it is empty.
        helped: the share of them that helped; None when it is empty.
        interval: the 95 % interval of that share; None when it is empty.
    """

    low: float
    high: float
    count: int
    confidence: float
    helped: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure beside its goal.

    Attributes:
        name: such as "SC-006".
        what: what it is, in words.
        value: None when there is nothing to compute it from.
        goal: as a text, such as ">= 0.75".
        sample: how many observations it rests on.
        needed: how many it should rest on.
        met: None while there are too few observations.
    """

    name: str
    what: str
    value: float | None
    goal: str
    sample: int
    needed: int
    met: bool | None

    @property
    def enough(self) -> bool:
        """Whether there are enough observations to go by."""
        return self.value is not None and self.sample >= self.needed


def measure(name: str, what: str, value: float | None, *, goal: str, sample: int, needed: int) -> Measure:
    """Return a figure beside its goal, which is ">= x" or "<= x"."""
    sign, limit = goal.split()
    enough = value is not None and sample >= needed
    met = (value >= float(limit) if sign == ">=" else value <= float(limit)) if enough and value is not None else None
    return Measure(name, what, value, goal, sample, needed, met)


def reliability(predictions: Iterable[Prediction], bins: int = BINS) -> list[Bin]:
    """Return the bars of a reliability diagram, in bins of equal width over [0, 1], empty ones included."""
    rows: list[list[Prediction]] = [[] for _ in range(bins)]
    for prediction in predictions:
        rows[min(int(prediction.confidence * bins), bins - 1)].append(prediction)
    return [_bin(row, i / bins, (i + 1) / bins) for i, row in enumerate(rows)]


def _bin(row: Sequence[Prediction], low: float, high: float) -> Bin:
    if not row:
        return Bin(low, high, 0, (low + high) / 2.0, None)
    confidence = math.fsum(p.confidence for p in row) / len(row)
    helped = sum(p.helped for p in row) / len(row)
    return Bin(low, high, len(row), confidence, helped, wilson(helped, len(row)))


def wilson(share: float, runs: float, z: float = Z95) -> tuple[float, float]:
    """Return the interval of a share of `runs` answers, which need not be whole. Source: Wilson 1927."""
    shrunk = (share + z * z / (2.0 * runs)) / (1.0 + z * z / runs)
    reach = z / (1.0 + z * z / runs) * math.sqrt(share * (1.0 - share) / runs + z * z / (4.0 * runs * runs))
    return max(0.0, shrunk - reach), min(1.0, shrunk + reach)


def calibration_error(predictions: Sequence[Prediction], bins: int = BINS) -> float | None:
    """Return the expected calibration error: the mean gap between confidence and frequency; None without predictions.

    Source: Naeini, Cooper & Hauskrecht 2015, with bins of equal width.
    """
    gaps = [b.count * abs(b.confidence - b.helped) for b in reliability(predictions, bins) if b.helped is not None]
    return math.fsum(gaps) / len(predictions) if predictions else None


def brier(predictions: Sequence[Prediction]) -> float | None:
    """Return the mean squared error of the predictions (Brier 1950); None without predictions."""
    errors = math.fsum((p.confidence - p.helped) ** 2 for p in predictions)
    return errors / len(predictions) if predictions else None


def auc(predictions: Sequence[Prediction]) -> float | None:
    """Return the chance that one that helped was ranked above one that did not, ties counting half; None without both.

    Source: Mann & Whitney 1947, by ranks.
    """
    ordered = sorted(predictions, key=lambda p: p.confidence)
    helped = sum(p.helped for p in ordered)
    if not 0 < helped < len(ordered):
        return None
    ranks, below = 0.0, 0
    for _, tied in groupby(ordered, key=lambda p: p.confidence):
        row = list(tied)
        ranks += sum(p.helped for p in row) * (below + (len(row) + 1) / 2.0)
        below += len(row)
    start = helped * (helped + 1) / 2.0
    return (ranks - start) / (helped * (len(ordered) - helped))


@dataclass(frozen=True, slots=True)
class Calibration:
    """How true past predictions were; figures are None without any.

    Attributes:
        count: how many predictions.
        ece: expected calibration error.
        bins: the bars of the reliability diagram.
    """

    count: int
    ece: float | None
    brier: float | None
    auc: float | None
    bins: tuple[Bin, ...]

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> Calibration:
        """Compare predictions with what happened."""
        bars = tuple(reliability(predictions))
        return cls(len(predictions), calibration_error(predictions), brier(predictions), auc(predictions), bars)


def helped_above(predictions: Iterable[Prediction], threshold: float) -> tuple[float | None, int]:
    """Return the share that helped of the predictions above `threshold`, and how many those are."""
    above = [p for p in predictions if p.confidence > threshold]
    return (sum(p.helped for p in above) / len(above) if above else None), len(above)


def widest_range(history: Iterable[tuple[datetime, Sequence[float]]], now: datetime, window: timedelta) -> float | None:
    """Return by how much the weight that moved most did move within the last `window`; None without any weights.

    The history may come in any order. Weights that held when the window began count.
    """
    ordered = sorted(history, key=lambda entry: entry[0])
    before = [weights for at, weights in ordered if at < now - window][-1:]
    rows = before + [weights for at, weights in ordered if now - window <= at <= now]
    return max((max(column) - min(column) for column in zip(*rows, strict=True)), default=None)
