"""The cautious choice: as large a share as possible of what is handed out is to help, however often that leaves room.

Proven memories come first. New ones get a few tries beside them; after that they must have earned their place, and
when nothing is proven the likeliest of them is handed out alone. There is no chance in it: among about equals what was
shown least comes first, and the same bank gives the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from reasoningbank.belief.belief import SURE_DEVIATIONS
from reasoningbank.search.ranking import Floats

Rows = npt.NDArray[np.intp]
Choice: TypeAlias = tuple[Rows, dict[str, int]]
"""What is handed out (rows of the standings), best first, and how many were not, by reason: "rejected" (surely below
the floor) or "provisional" (had its tries, and others are better known). What did not fit into k is not counted."""

# A new lesson is handed out beside others this often before its evidence must speak for it.
TRIES = 3

# Scores that differ by less count as equal: then the memory that was shown least comes first.
ABOUT_EQUAL = 0.1

# With every slot taken by proven memories, a lesson on trial takes the last one when it beats what is there by this
# much.
CLEARLY_BETTER = 0.25

# When there is nothing better, a memory is handed out alone if it helps one time in five: a memory that does not help
# costs less than that.
LEAST_CHANCE = 0.2


@dataclass(frozen=True, slots=True)
class Standings:
    """Memories that may be handed out: aligned arrays, in the ranking's order, which decides between equals.

    Attributes:
        score: what the ranking policy gave each, about 0 to 1, higher is better.
        mean, deviation: of the belief that it helps.
        shown: how often it was handed out.
        judged: whether there is any evidence about it: a vote, an outcome, or stability.
        blamed: whether more votes are against it than for it.
    """

    score: Floats
    mean: Floats
    deviation: Floats
    shown: npt.NDArray[np.int64]
    judged: npt.NDArray[np.bool_]
    blamed: npt.NDArray[np.bool_]


def cautious(standings: Standings, *, k: int, floor: float, strict: bool = False) -> Choice:
    """Choose up to `k` memories.

    1. Proven ones, by score.
    2. Slots that are left go to memories on trial, by score, and least shown first among about equal ones: those that
       were handed out fewer than `TRIES` times, or about which nobody ever said anything.
    3. If no slot is left, the last one goes to a memory on trial whose score beats what is there by `CLEARLY_BETTER`.
    4. If nothing was chosen, what is left with the greatest score times confidence, if that confidence is at least
       `LEAST_CHANCE`; alone, since a run's outcome then says most about it. It may even be surely below the floor, so
       that a bank whose lessons help now and then does not fall silent, unless people say that it does not help.

    Args:
        floor: confidence from which a memory is proven, in [0, 1].
        strict: proven memories only.
    """
    order = np.argsort(-standings.score, kind="stable")
    mean = standings.mean[order]
    is_proven = mean >= floor
    is_rejected = mean + SURE_DEVIATIONS * standings.deviation[order] < floor
    proven, rejected = order[is_proven], order[is_rejected & ~is_proven]
    provisional = order[~is_proven & ~is_rejected]
    if strict:
        return _selection(proven[:k], proven[:0], len(rejected), len(provisional))
    trial = (standings.shown[provisional] < TRIES) | ~standings.judged[provisional]
    chosen, on_trial = _with_trials(standings, proven, provisional[trial], k)
    if len(chosen) or len(on_trial):
        return _selection(chosen, on_trial, len(rejected), int((~trial).sum()))
    return _the_likeliest(standings, provisional, rejected)


def _with_trials(standings: Standings, proven: Rows, trials: Rows, k: int) -> tuple[Rows, Rows]:
    """Return the proven memories that are handed out, and those on trial."""
    turn = np.lexsort((standings.shown[trials], -np.round(standings.score[trials] / ABOUT_EQUAL)))
    trials = trials[turn]
    if len(proven) < k:
        return proven, trials[: k - len(proven)]
    enough = standings.score[proven[k - 1]] + CLEARLY_BETTER
    better = trials[standings.score[trials] >= enough][:1]
    return proven[: k - len(better)], better


def _the_likeliest(standings: Standings, provisional: Rows, rejected: Rows) -> Choice:
    left = np.concatenate([provisional, rejected[~standings.blamed[rejected]]])
    left = left[standings.mean[left] >= LEAST_CHANCE]
    none = left[:0]
    if not len(left):
        return _selection(none, none, len(rejected), len(provisional))
    place = int(np.argmax(standings.score[left] * standings.mean[left]))
    is_rejected = bool(np.isin(left[place], rejected))
    return _selection(none, left[place : place + 1], len(rejected) - is_rejected, len(provisional) - (not is_rejected))


def _selection(proven: Rows, provisional: Rows, rejected: int, withheld: int) -> Choice:
    counts = {"rejected": rejected, "provisional": withheld}
    return np.concatenate([proven, provisional]), {reason: many for reason, many in counts.items() if many}
