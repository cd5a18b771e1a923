"""Belief about a lesson that several projects share: what all of them saw, and on top of it what was seen here.

With L_j(theta) the likelihood of what project j saw (`CalibratedModel`), and R_j the range of log L_j over theta,

    pooled:  p(theta) ~ Beta(theta; n mu, n (1 - mu)) * product over the other j of L_j(theta) ^ min(1, R / R_j)
    here:    p(theta) ~ Beta(theta; n' m, n' (1 - m)) * L_here(theta),   n' = n + n (N - n) / N

R = log(a / (1 - a)) is what one explicit vote tells: however much one project says, for the others it counts for one
vote at the most, so that ten are not outvoted by one that is noisy. m and N are the mean and the strength of the
pooled belief. What others saw is worth up to n observations here, as many as the class mean: where lessons differ much
so do projects, and a lesson that helps everywhere but here is found out by what happens here. Where no other project
saw anything, n' = n and m = mu: the belief is that of a lesson of one's own.

What is learned of the evidence (S1, S0, mu, n) is learned of each project's part by itself: it speaks of what helps in
that project, and a lesson that helps half of them is not one that helps half of the time.

Source: a power prior for historical data (Ibrahim & Chen 2000), with a bounded weight for each source; n' is the
precision of two normal errors in a row, that of the pool and that between projects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reasoningbank.belief.belief import Belief, Evidence
from reasoningbank.belief.calibrated import CalibratedModel, Parameters, class_of, judge_columns, log_likelihoods
from reasoningbank.belief.calibrated import weighted_counts as counts_of
from reasoningbank.belief.quadrature import Float64, beliefs_of, log_priors
from reasoningbank.signals import Tally


@dataclass(frozen=True, slots=True)
class PooledModel:
    """A `ConfidenceModel` for the memories of a shared bank, whose tallies name their project as the source.

    Attributes:
        model: by which evidence is read.
        here: the project that asks; None for what all of them believe together.
    """

    model: CalibratedModel
    here: str | None = None

    @property
    def parameters(self) -> Parameters:
        """What was learned of the shared bank's evidence."""
        return self.model.parameters

    def shares(self, confidences: Sequence[float], succeeded: bool, about: Sequence[float]) -> tuple[float, ...]:
        """Return the strength of a run's outcome for each memory recalled for it, as `CalibratedModel` does."""
        return self.model.shares(confidences, succeeded, about)

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""
        if not items:
            return []
        own, pooled = self._counts(items)
        known = self.parameters
        of_class = dict(known.class_means)
        means = np.array([of_class.get(class_of(initial), initial) for _, initial in items])
        likelihoods = self._likelihoods
        together = beliefs_of(log_priors(means, known.strength) + pooled @ likelihoods)
        if self.here is None:
            return together
        seen = pooled.any(axis=1)
        mean = np.where(seen, [b.mean for b in together], means)
        more = np.where(seen, np.maximum([b.strength for b in together], known.strength) - known.strength, 0.0)
        strength = known.strength + known.strength * more / (known.strength + more)
        return beliefs_of(log_priors(mean, strength[:, None]) + own @ likelihoods)

    @property
    def _likelihoods(self) -> Float64:
        known = self.parameters
        return log_likelihoods(known.accuracies, known.helped, known.unhelped)

    def _counts(self, items: Sequence[Evidence]) -> tuple[Float64, Float64]:
        """Return the weights of the signals of each memory that are from here, and of all others within bounds."""
        known = self.parameters
        places: list[int] = []
        split: list[Evidence] = []
        is_own: list[bool] = []
        for place, (tallies, initial) in enumerate(items):
            for project, theirs in by_project(tallies).items():
                places.append(place)
                split.append((theirs, initial))
                is_own.append(project == self.here)
        judges = judge_columns(known.judges)
        counts = counts_of(split, judges, known.reporters, fading=known.fading, overlap=known.overlap)
        at, here = np.array(places, dtype=np.intp), np.array(is_own, dtype=bool)
        own, pooled = np.zeros((2, len(items), counts.shape[1]))
        np.add.at(own, at[here], counts[here])
        told = counts[~here] @ self._likelihoods
        spread = told.max(axis=1, initial=-math.inf) - told.min(axis=1, initial=math.inf)
        most = math.log(known.accuracy / (1.0 - known.accuracy))
        np.add.at(pooled, at[~here], counts[~here] * np.minimum(1.0, most / np.maximum(spread, 1e-12))[:, None])
        return own, pooled


def for_others(told: Sequence[tuple[str, Sequence[Tally]]], initial: float) -> float:
    """Return what a lesson starts from where nobody saw it yet, by what projects saw of it, each of which is bounded.

    Args:
        told: of each project its name, and its own tallies.
        initial: the belief that the lesson itself started from.
    """
    tallies = [replace(tally, source=project) for project, theirs in told for tally in theirs]
    return PooledModel(CalibratedModel()).beliefs([(tallies, initial)])[0].mean


def by_project(tallies: Sequence[Tally]) -> dict[str, list[Tally]]:
    """Return tallies by the project that they are from, in the order of their first."""
    found: dict[str, list[Tally]] = {}
    for tally in tallies:
        found.setdefault(tally.source, []).append(tally)
    return found


def mostly_fails(
    tallies: Sequence[Tally], model: CalibratedModel, initial: float, *, fewest: int, below: float
) -> bool:
    """Tell whether a lesson fails in most of the projects that say anything of it, of which there are `fewest` or more.

    It fails where the belief by that project's own evidence alone is under `below`.
    """
    judged = {p: t for p, t in by_project(tallies).items() if any(each.kind.value != "usage" for each in t)}
    beliefs = model.beliefs([(theirs, initial) for theirs in judged.values()])
    failing = sum(belief.mean < below for belief in beliefs)
    return len(judged) >= fewest and 2 * failing > len(judged)
