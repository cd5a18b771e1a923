"""What the projects of a tenant have in common: S1, S0 and n, learned from the runs of all of them.

A project sees too little to learn how much its lessons differ: a few runs of each lesson look alike whether it helps
always or never, or half of the time. Those of twenty projects do not. So each project tells how well each of a few
worlds w = (S1, S0, n) explains its runs, and where projects start from is the mean over

    p(w) ~ prior(w) * product over projects j of P(runs of j | w)

(empirical Bayes of a hierarchical model: Gelman et al., Bayesian Data Analysis, chapter 5). In a world the lessons of a
project help with chances theta_i ~ Beta(n mu, n (1 - mu)), mu by class, and a run that was handed lessons i, each about
the task with chance a_i, succeeds with chance S0 + (S1 - S0) (1 - product of (1 - a_i theta_i)). P(runs | w) is what
belief propagation gives: exact where no two runs share two lessons, else Bethe's approximation (Yedidia, Freeman &
Weiss 2005). Unlike the shares of outcomes, which are fixed when they are reported, it lets what is known of a lesson by
now explain the runs that it was handed with others.

What one project says counts for MOST_RUNS runs at the most, and no word, name or number of a lesson is in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reasoningbank.belief.belief import MARGIN
from reasoningbank.belief.calibrated import STARTING, Parameters, class_of
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.quadrature import THETA, Float64, log_priors, normalised

WORLDS: Final = tuple(product((0.65, 0.75, 0.85, 0.93), (0.2, 0.35, 0.45, 0.6), (0.3, 0.6, 1.25, 2.5, 5.0)))
"""S1, S0 and n of each world."""

LOGIT_DEVIATION, LOG_DEVIATION = 0.5, 1.0
"""How far S1 and S0 (log-odds), and n (logarithm), of a tenant are from where every project starts."""

MOST_RUNS: Final = 200
ROUNDS: Final = 4
MEMORIES_OF_A_CLASS: Final = 3.0
LEAST: Final = -1000.0
"""No world is told to be less likely than this, against the likeliest."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a project's fit starts.

    Attributes:
        parameters: those that it is shrunk towards.
        projects: how many told; what is learned of them is worth the starting values of so many more.
    """

    parameters: Parameters = STARTING
    projects: int = 0

    @property
    def worth(self) -> float:
        """How many times the starting values of a project alone it is worth."""
        return 1.0 + self.projects

    def record(self) -> dict[str, Any]:
        """Return it as a dictionary that JSON can hold."""
        return {"parameters": self.parameters.record(), "projects": self.projects}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Start:
        """Read what `record` wrote."""
        return cls(Parameters.of(record["parameters"]), int(record["projects"]))


ALONE: Final = Start()
"""Where the fit of a project starts that nobody told anything."""


def told_by(runs: Sequence[JudgedRun], initial: Mapping[int, float]) -> tuple[float, ...]:
    """Return how well each world explains a project's runs: logarithms, that of the best is 0; () without runs.

    Args:
        runs: at most MOST_RUNS.
        initial: the initial confidence of each memory, by number; runs with any other are left out.
    """
    used = [run for run in runs if run.memories and all(n in initial for n in run.memories)]
    if not used:
        return ()
    graph = _Graph.of(used, initial)
    found = np.array([graph.log_evidence(*world) for world in WORLDS])
    return tuple(np.maximum(found - found.max(), LEAST).round(4).tolist())


def starting(told: Sequence[Sequence[float]]) -> Start:
    """Return where projects of a tenant start, by what each told; what cannot be read is left out."""
    read = [each for each in told if len(each) == len(WORLDS) and all(LEAST <= x <= 0.0 for x in each)]
    if not read:
        return ALONE
    worlds = np.array(WORLDS)
    logs = np.column_stack([_logit(worlds[:, 0]), _logit(worlds[:, 1]), np.log(worlds[:, 2])])
    first = np.array([*_logit(np.array([STARTING.helped, STARTING.unhelped])), math.log(STARTING.strength)])
    off = (logs - first) / (LOGIT_DEVIATION, LOGIT_DEVIATION, LOG_DEVIATION)
    log_p = np.array(read).sum(axis=0) - (off**2).sum(axis=1) / 2.0
    weight = np.exp(log_p - log_p.max())
    helped, unhelped, strength = (weight @ logs / weight.sum()).tolist()
    learned = replace(STARTING, helped=_chance(helped), unhelped=_chance(unhelped), strength=math.exp(strength))
    return Start(learned, len(read))


def _logit(chance: Float64) -> Float64:
    odds: Float64 = np.log(chance / (1.0 - chance))
    return odds


def _chance(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


@dataclass(frozen=True, slots=True)
class _Graph:
    """Runs and the memories they were handed: (runs, most) arrays; where there is no memory, `about` is 0.

    Attributes:
        memories: their places, from 0.
        about: the chance that each is about the task.
        succeeded: of each run.
        group: of each memory, the place of its class in `classes`.
    """

    memories: NDArray[np.int64]
    about: Float64
    succeeded: NDArray[np.bool_]
    group: NDArray[np.intp]
    classes: Float64

    @classmethod
    def of(cls, runs: Sequence[JudgedRun], initial: Mapping[int, float]) -> _Graph:
        places = {n: place for place, n in enumerate(dict.fromkeys(n for run in runs for n in run.memories))}
        shape = len(runs), max(len(run.memories) for run in runs)
        memories, about = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        for row, run in enumerate(runs):
            memories[row, : len(run.memories)] = [places[n] for n in run.memories]
            about[row, : len(run.memories)] = np.clip(run.relevance, MARGIN, 1.0 - MARGIN)
        classes, group = np.unique([class_of(initial[n]) for n in places], return_inverse=True)
        return cls(memories, about, np.array([run.succeeded for run in runs]), group, classes)

    def log_evidence(self, helped: float, unhelped: float, strength: float) -> float:
        """Return log P(runs | world), with the class means that it makes likeliest, within bounds."""
        there, many = self.about > 0.0, np.bincount(self.group)
        messages, told = np.zeros((*self.about.shape, len(THETA))), np.zeros((len(self.group), len(THETA)))
        priors = log_priors(self.classes[self.group], strength)
        for _ in range(ROUNDS):
            messages = self._messages(priors + told, messages, helped, unhelped) * there[..., None]
            told = np.zeros_like(told)
            np.add.at(told, self.memories, messages)
            theta = np.bincount(self.group, normalised(priors + told) @ THETA)
            means = (MEMORIES_OF_A_CLASS * self.classes + theta) / (MEMORIES_OF_A_CLASS + many)
            priors = log_priors(means[self.group], strength)
        posterior = priors + told
        without = self._without(posterior, messages)
        ends_well = helped - (helped - unhelped) * self._none_helps(without).prod(axis=1)
        of_runs = np.log(np.where(self.succeeded, ends_well, 1.0 - ends_well)).sum()
        of_edges = (_log_sum(posterior)[self.memories] - _log_sum(without))[there].sum()
        return float((_log_sum(posterior) - _log_sum(priors)).sum() + of_runs - of_edges)

    def _messages(self, posterior: Float64, before: Float64, helped: float, unhelped: float) -> Float64:
        """Return log P(how each run ended | theta) of each of its memories, by what is believed of the others."""
        none_helps = self._none_helps(self._without(posterior, before))
        others = none_helps.prod(axis=1, keepdims=True) / none_helps
        missed = others[..., None] * (1.0 - self.about[..., None] * THETA)
        ends_well = helped - (helped - unhelped) * missed
        found: Float64 = np.log(np.where(self.succeeded[:, None, None], ends_well, 1.0 - ends_well))
        return found

    def _without(self, posterior: Float64, messages: Float64) -> Float64:
        """Return what is believed of each memory of each run without that run."""
        return posterior[self.memories] - messages

    def _none_helps(self, without: Float64) -> Float64:
        """Return the chance that each memory of a run does not help it."""
        flat = normalised(without.reshape(-1, len(THETA))) @ THETA
        return 1.0 - self.about * flat.reshape(self.about.shape)


def _log_sum(log_p: Float64) -> Float64:
    most = log_p.max(axis=-1, keepdims=True)
    total: Float64 = np.log(np.exp(log_p - most).sum(axis=-1)) + most[..., 0]
    return total
