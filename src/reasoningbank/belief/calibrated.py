"""The `calibrated` confidence model (the default): a Bayesian belief over the chance that a memory helps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reasoningbank.belief.belief import SUCCESS_IF_HELPED, SUCCESS_IF_NOT, Belief, Evidence, outcome_shares
from reasoningbank.belief.quadrature import THETA, Float64, beliefs_of, log_priors
from reasoningbank.signals import SignalKind

# One place for each day that a datetime can hold, so that (memory, day) is one number.
_FIRST_DAY = -719_162
_DAYS = 2**22


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a project's own evidence teaches about its evidence; the defaults are where every project starts.

    Attributes:
        accuracy: a, the chance that an explicit vote is right, of any judge who is not in `judges`.
        judges: the same for judges with enough votes, by name.
        repair: r, the chance that what came of a failure says rightly whether a memory handed out at it helped.
        helped: S1, the chance that a run succeeds when at least one recalled memory helped.
        unhelped: S0, the chance that it succeeds when none did.
        class_means: how often memories that start with one confidence turn out to help, by that confidence; a class
            that is not in it is taken at its word.
        strength: n, how many observations the class mean is worth.
        fading: what one observation is still worth after one later use of its memory.
        offset, slope: of the log-odds that a memory is about a task, over those that its relevance alone gives.
        reported: how often a memory that is handed out learns how the run ended.
        voted: how often it gets a vote.
        harms: how much worse than without it runs end with a memory, as a share of what one that helps is worth, by
            its number; only of those that likely harm.
        reporters: how much what is said of runs by one who reports, or by a kind of check, says of the memories in
            them, beside what all say, by name, in [0, 1]; only of those with enough runs.
        harmful: what surely harms, by hold-outs of single lessons, as (number, revision).
    """

    accuracy: float = 0.9
    judges: tuple[tuple[str, float], ...] = ()
    repair: float = 0.7
    helped: float = SUCCESS_IF_HELPED
    unhelped: float = SUCCESS_IF_NOT
    class_means: tuple[tuple[float, float], ...] = ()
    strength: float = 2.0
    fading: float = 0.97
    offset: float = 0.0
    slope: float = 1.0
    reported: float = 0.5
    voted: float = 0.1
    harms: tuple[tuple[int, float], ...] = ()
    harmful: tuple[tuple[int, int], ...] = ()
    reporters: tuple[tuple[str, float], ...] = ()

    @property
    def overlap(self) -> float:
        """The part of its weight that an outcome keeps when its episode has a vote about the memory, in [0, 1].

        None (the vote supersedes it) as long as votes say more than outcomes, by the odds r = a / (1 - a) of the least
        accurate judge against r' = S1 / S0 and (1 - S0) / (1 - S1). Where they say less, just so much that a vote never
        moves a belief the other way than it points: d log(r theta + 1 - theta) / d theta, over the same with r', is
        least at theta = 0, where it is (r - 1) / (r' - 1).
        """
        accuracy = min([self.accuracy, *(accuracy for _, accuracy in self.judges)])
        vote = accuracy / (1.0 - accuracy)
        outcome = max(self.helped / self.unhelped, (1.0 - self.unhelped) / (1.0 - self.helped))
        return 1.0 - min(1.0, (vote - 1.0) / (outcome - 1.0))

    @property
    def accuracies(self) -> tuple[float, ...]:
        """How often each is right who votes: anybody, the known judges in their order, and what came of a failure."""
        return (self.accuracy, *(accuracy for _, accuracy in self.judges), self.repair)

    def record(self) -> dict[str, Any]:
        """Return them as a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Parameters:
        """Read what `record` wrote.

        Raises:
            ValueError: these are no parameters that a model could work with.
        """
        try:
            judges = tuple((str(name), float(accuracy)) for name, accuracy in record["judges"])
            means = tuple((float(initial), float(mean)) for initial, mean in record["class_means"])
            numbers = {name: float(record.get(name, getattr(STARTING, name))) for name in _NUMBERS}
            harms = tuple((int(number), float(cost)) for number, cost in record.get("harms", ()))
            harmful = tuple((int(number), int(revision)) for number, revision in record.get("harmful", ()))
            reporters = tuple((str(name), float(weight)) for name, weight in record.get("reporters", ()))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"no parameters of the confidence model ({error!r})") from None
        found = cls(judges=judges, class_means=means, harms=harms, harmful=harmful, reporters=reporters, **numbers)
        if not found._is_usable():
            raise ValueError("parameters of the confidence model that are out of range")
        return found

    def _is_usable(self) -> bool:
        return (
            all(0.5 <= accuracy < 1.0 for accuracy in self.accuracies)
            and 0.0 < self.unhelped < self.helped < 1.0
            and all(0.0 < mean < 1.0 for _, mean in self.class_means)
            and 0.0 < self.strength < math.inf
            and 0.0 < self.fading <= 1.0
            and math.isfinite(self.offset)
            and 0.0 <= self.slope < math.inf
            and all(0.0 <= share <= 1.0 for share in (self.reported, self.voted, *dict(self.reporters).values()))
        )


STARTING = Parameters()
_NUMBERS = ("accuracy", "repair", "helped", "unhelped", "strength", "fading", "offset", "slope", "reported", "voted")


class Unlearning:
    """What the models share that learn nothing of a project's evidence: they take every outcome whole."""

    __slots__ = ()

    parameters: ClassVar = STARTING

    def shares(
        self,
        confidences: Sequence[float],
        succeeded: bool,  # noqa: ARG002 - whole for all
        about: Sequence[float],  # noqa: ARG002
    ) -> tuple[float, ...]:
        """Return the strength of a run's outcome: whole, for every memory recalled for it."""
        return (1.0,) * len(confidences)


@dataclass(frozen=True, slots=True)
class CalibratedModel:
    """A belief over theta = P(the memory helps when it is used), by Bayes' rule.

    p(theta) ~ Beta(theta; n mu, n (1 - mu)) * product over signals of P(signal | theta) ^ weight, with

        P(vote for | theta) = a theta + (1 - a) (1 - theta), likewise with r of a failure that was repaired
        P(success | theta) = S1 theta + S0 (1 - theta)

    and one minus these for votes against and failures. mu, n, a, S1 and S0 are the project's `Parameters`. A signal's
    weight is its strength (for an outcome that several memories share, `outcome_shares`), times `fading` for each use
    of the memory on a later day: the power steady model of Smith 1979, with the memory's own uses for a clock. So a
    memory that went stale is found out by its later runs, while idle time changes nothing.

    Usage itself is never evidence: it is always positive, so it cannot tell good from bad. A change that survived, or
    was reverted, is an outcome seen later, and counts as one.

    The result depends on the multiset of signals only. With fixed parameters every factor for a memory increases in
    theta and every factor against it decreases, so that praise never lowers a belief and blame never raises one
    (Milgrom 1981, proposition 1).
    """

    parameters: Parameters = STARTING

    def beliefs(self, items: Sequence[Evidence]) -> list[Belief]:
        """Return one belief for each memory, in the order given."""
        if not items:
            return []
        own, judges = self.parameters, judge_columns(self.parameters.judges)
        counts = weighted_counts(items, judges, own.reporters, fading=own.fading, overlap=own.overlap)
        of_class = dict(own.class_means)
        # Where a class taught nothing, a memory is taken at its word.
        prior = {initial: of_class.get(class_of(initial), initial) for initial in {initial for _, initial in items}}
        means = np.array([prior[initial] for _, initial in items])
        return beliefs_of(
            log_priors(means, own.strength) + counts @ log_likelihoods(own.accuracies, own.helped, own.unhelped)
        )

    def shares(self, confidences: Sequence[float], succeeded: bool, about: Sequence[float]) -> tuple[float, ...]:
        """Return the strength of a run's outcome for each memory recalled for it, by what was believed at recall."""
        own = self.parameters
        return outcome_shares(confidences, succeeded, about=about, helped=own.helped, unhelped=own.unhelped)


def class_of(initial: float) -> float:
    """Return the class of a memory: its initial confidence, in steps of 0.05."""
    return round(round(initial * 20.0) / 20.0, 2)


def judge_columns(judges: Sequence[tuple[str, float]]) -> dict[str, int]:
    """Return the number of each known judge, from 1; everybody else is 0."""
    return {name: number for number, (name, _) in enumerate(judges, 1)}


@lru_cache(maxsize=8)
def log_likelihoods(accuracies: tuple[float, ...], helped: float, unhelped: float) -> Float64:
    """Return log P(signal | theta): a row each for votes for, then votes against, by who votes; then success, failure.

    It is the same for all beliefs under one set of parameters, and not to be written to.
    """
    a = np.array(accuracies)[:, None]
    vote, success = a * THETA + (1.0 - a) * (1.0 - THETA), helped * THETA + unhelped * (1.0 - THETA)
    rows: Float64 = np.log(np.concatenate([vote, 1.0 - vote, success[None], 1.0 - success[None]]))
    return rows


def weighted_counts(
    items: Sequence[Evidence],
    judges: Mapping[str, int],
    reporters: Sequence[tuple[str, float]] = (),
    *,
    fading: float,
    overlap: float,
) -> Float64:
    """Return the weight of each memory's signals (n, columns), in the columns of `log_likelihoods`."""
    explicit, usage, repair = SignalKind.EXPLICIT, SignalKind.USAGE, SignalKind.REPAIR
    known = len(judges) + 2
    believed = dict(reporters)
    rows, uses = [], []
    for i, (tallies, _) in enumerate(items):
        for t in tallies:
            moment = i * _DAYS + t.day - _FIRST_DAY
            if t.kind is usage:
                uses.append((moment, t.positive))
            else:
                column = judges.get(t.by, 0) if t.kind is explicit else known - 1 if t.kind is repair else -1
                trust = believed.get(t.by, 1.0) if t.kind is SignalKind.OUTCOME else 1.0
                rows.append((moment, column, t.positive, t.negative, trust * (overlap if t.superseded else 1.0)))
    counts = np.zeros((len(items), 2 * known + 2))
    if rows:
        moments, columns, positive, negative, weight = (np.array(column) for column in zip(*rows, strict=True))
        weight = weight * fading ** _later_uses(moments, uses)
        memories, votes = moments // _DAYS, columns >= 0
        np.add.at(counts, (memories, np.where(votes, columns, 2 * known)), weight * positive)
        np.add.at(counts, (memories, np.where(votes, known + columns, 2 * known + 1)), weight * negative)
    return counts


def _later_uses(moments: NDArray[np.int64], uses: list[tuple[int, float]]) -> Float64:
    """Return how often the memory of each moment was used on later days."""
    if not uses:
        return np.zeros(len(moments))
    uses.sort()
    days = np.array([day for day, _ in uses])
    total = np.concatenate([[0.0], np.cumsum([many for _, many in uses])])
    end = (moments // _DAYS + 1) * _DAYS
    later: Float64 = total[np.searchsorted(days, end)] - total[np.searchsorted(days, moments, side="right")]
    return later
