"""Fitting the calibrated model's parameters to what a project has seen.

Everything is shrunk towards where every project starts, so that little evidence changes little. What is fitted
depends on the evidence as a set: neither on its order nor on what was fitted before.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reasoningbank.belief.belief import Evidence, within
from reasoningbank.belief.calibrated import (
    STARTING,
    Parameters,
    class_of,
    judge_columns,
    log_likelihoods,
    weighted_counts,
)
from reasoningbank.belief.effects import JudgedRun, fit_runs
from reasoningbank.belief.quadrature import THETA, Float64, log_priors, normalised
from reasoningbank.belief.worlds import ALONE, Start
from reasoningbank.measures.lift import Trial, harmful
from reasoningbank.signals import SignalKind

# How much the starting values are worth, each in its own kind of observation.
VOTES = 50.0
VOTES_OF_A_JUDGE = 10.0  # at the accuracy of the project's votes
MEMORIES_OF_A_CLASS = 3.0
MEMORIES_FOR_STRENGTH = 60.0
USES = 10.0  # of memories, to tell how many of them are reported and voted on

# A judge is told apart from the others with this many votes; of more judges than this, those with the most votes.
FEWEST_VOTES = 5
MOST_JUDGES = 20

ROUNDS = 25

# Parameters are fitted again after this many changes more, or a tenth more. A run with two memories makes four.
CHANGES_BETWEEN = 50
LEAST_ACCURACY = 0.5  # a judge who is wrong more often than right is ignored, never turned round
MOST_ACCURACY = 0.99
LEAST_STRENGTH, MOST_STRENGTH = 0.3, 30.0


@dataclass(frozen=True, slots=True)
class ProjectEvidence:
    """All that parameters are fitted to.

    Attributes:
        memories: the tallies and the initial confidence of each memory that has any; others may be left out.
        runs: those with verdict success or failure.
        trials: those from which something could be withheld, in the order they were opened.
        elsewhere: uses among the tallies whose runs other banks know, and this one does not.
    """

    memories: Sequence[Evidence]
    runs: Sequence[JudgedRun] = ()
    trials: Sequence[Trial] = ()
    elsewhere: float = 0.0


def is_due(changes: int, fitted: int) -> bool:
    """Tell whether there are enough new changes (signals of any kind, records) since `fitted` of them to fit again."""
    return changes >= fitted + max(CHANGES_BETWEEN, fitted // 10)


def fit(evidence: ProjectEvidence, start: Start = ALONE) -> Parameters:
    """Return the parameters that a project's evidence teaches, shrunk towards where it starts.

    What makes runs succeed comes first; then a, the judges, the class means mu and the strength n, by expectation
    maximisation (Dempster, Laird & Rubin 1977) over the hidden theta of each memory.
    """
    uses, votes = (_many(evidence.memories, kind) for kind in (SignalKind.USAGE, SignalKind.EXPLICIT))
    judged = float(sum(len(run.memories) for run in evidence.runs))
    found = replace(
        fit_runs(evidence.runs, start.parameters, start.worth),
        reported=_rate(STARTING.reported, judged, uses - evidence.elsewhere),
        voted=_rate(STARTING.voted, votes, uses),
        harmful=harmful(evidence.trials),
    )
    return fit_memories(evidence.memories, found, start)


def _many(memories: Iterable[Evidence], kind: SignalKind) -> float:
    return math.fsum(t.positive + t.negative for tallies, _ in memories for t in tallies if t.kind is kind)


def _rate(start: float, seen: float, uses: float) -> float:
    return min((USES * start + seen) / (USES + uses), 1.0)


def fit_memories(memories: Sequence[Evidence], learned: Parameters, start: Start = ALONE) -> Parameters:
    """Return `learned` with vote accuracies, class means and strength fitted; S1 and S0 are taken from it.

    Evidence is not faded here: how reliable a kind of signal is does not wear off.
    """
    judged = [item for item in memories if any(t.kind is not SignalKind.USAGE for t in item[0])]
    if not judged:
        return learned
    names = _busiest_judges(judged)
    columns = judge_columns([(name, 0.0) for name in names])
    counts = weighted_counts(judged, columns, learned.reporters, fading=1.0, overlap=learned.overlap)
    classes, group = np.unique([class_of(initial) for _, initial in judged], return_inverse=True)
    fitted = replace(
        learned,
        judges=tuple((name, learned.accuracy) for name in names),
        class_means=tuple((c, within(c)) for c in classes.tolist()),
    )
    for _ in range(ROUNDS):
        fitted = _round(counts, group, fitted, start)
    return fitted


def _busiest_judges(memories: Sequence[Evidence]) -> list[str]:
    """Return the judges with enough votes to be told apart, most votes first; votes by nobody stay together."""
    votes: defaultdict[str, float] = defaultdict(float)
    for tallies, _ in memories:
        for t in tallies:
            if t.kind is SignalKind.EXPLICIT and t.by:
                votes[t.by] += t.positive + t.negative
    busiest = sorted(votes, key=lambda name: (-votes[name], name))[:MOST_JUDGES]
    return [name for name in busiest if votes[name] >= FEWEST_VOTES]


def _round(counts: Float64, group: NDArray[np.intp], p: Parameters, start: Start) -> Parameters:
    """One step of expectation maximisation, each estimate with its pseudo-observations.

    Args:
        counts: of each memory's signals, by column.
        group: of each memory, the place of its class in the class means.
    """
    accuracies = np.array(p.accuracies)
    classes, means = np.array(p.class_means).T
    likelihoods = log_likelihoods(tuple(accuracies.tolist()), p.helped, p.unhelped)
    posterior = normalised(log_priors(means[group], p.strength) + counts @ likelihoods)
    accuracy, by_judge, repair = _accuracies(counts, posterior, accuracies)
    theta = posterior @ THETA
    many = np.bincount(group)
    means = (MEMORIES_OF_A_CLASS * classes + np.bincount(group, theta)) / (MEMORIES_OF_A_CLASS + many)
    return replace(
        p,
        accuracy=accuracy,
        repair=repair,
        judges=tuple((name, a) for (name, _), a in zip(p.judges, by_judge, strict=True)),
        class_means=tuple(zip(classes.tolist(), means.tolist(), strict=True)),
        strength=_strength(posterior, means[group], start),
    )


def _accuracies(counts: Float64, posterior: Float64, a: Float64) -> tuple[float, list[float], float]:
    """Return the accuracy of all votes, that of each known judge, and that of what came of failures.

    P(it helped | a vote for, theta) = a theta / (a theta + (1 - a) (1 - theta)), and P(it did not | a vote against) is
    the same at 1 - theta, which is the grid read backwards. The estimate is the expected number of right votes over the
    number of votes; a judge's is shrunk towards that of the project's votes.
    """
    columns = len(a)
    right, votes = np.zeros(columns), np.zeros(columns)
    for j, accuracy in enumerate(a):
        agrees = accuracy * THETA / (accuracy * THETA + (1.0 - accuracy) * (1.0 - THETA))
        votes_for, votes_against = counts[:, j], counts[:, columns + j]
        right[j] = votes_for @ (posterior @ agrees) + votes_against @ (posterior @ agrees[::-1])
        votes[j] = votes_for.sum() + votes_against.sum()
    repair = _accuracy(VOTES * STARTING.repair + float(right[-1]), VOTES + float(votes[-1]))
    right, votes = right[:-1], votes[:-1]
    overall = _accuracy(VOTES * STARTING.accuracy + right.sum(), VOTES + votes.sum())
    judges = zip(right[1:].tolist(), votes[1:].tolist(), strict=True)
    known = [_accuracy(VOTES_OF_A_JUDGE * overall + r, VOTES_OF_A_JUDGE + v) for r, v in judges]
    return overall, known, repair


def _accuracy(right: float, votes: float) -> float:
    return float(min(max(right / votes, LEAST_ACCURACY), MOST_ACCURACY))


def _strength(posterior: Float64, means: Float64, start: Start) -> float:
    """Return n from how much memories differ: a Beta's variance is mu (1 - mu) / (n + 1)."""
    spread = posterior @ THETA**2 - 2.0 * means * (posterior @ THETA) + means**2
    most = float((means * (1.0 - means)).mean())
    k = MEMORIES_FOR_STRENGTH * start.worth
    ratio = (k / (start.parameters.strength + 1.0) * most + float(spread.sum())) / ((k + len(means)) * most)
    return min(max(1.0 / ratio - 1.0, LEAST_STRENGTH), MOST_STRENGTH)
