"""Recall policy: which of the memories that fit a task are handed out.

Proven memories come first. New ones get a few tries beside them; after that they must have earned their place, and
when nothing is proven the likeliest of them is handed out alone. There is no chance in it: among about equals what was
shown least comes first, and the same bank gives the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from reasoningbank.belief.belief import Belief, Standing, standing
from reasoningbank.signals import SignalKind, Tally

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

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Prospect(Generic[Key]):
    """A memory that may be handed out: it fits the task, as far as retrieval can tell.

    Attributes:
        key: whatever the caller knows it by.
        score: what the ranking policy gave it, about 0 to 1, higher is better.
        shown: how often it was handed out.
        judged: whether there is any evidence about it: a vote, an outcome, or stability.
        blamed: whether more votes are against it than for it.
    """

    key: Key
    score: float
    belief: Belief
    shown: int
    judged: bool
    blamed: bool = False


def judged_and_blamed(tallies: Iterable[Tally]) -> tuple[bool, bool]:
    """Tell whether there is any evidence about a memory, and whether more votes are against it than for it."""
    judged, votes = False, 0.0
    for t in tallies:
        judged |= t.kind is not SignalKind.USAGE
        if t.kind is SignalKind.EXPLICIT:
            votes += t.positive - t.negative
    return judged, votes < 0.0


@dataclass(frozen=True, slots=True)
class Selection(Generic[Key]):
    """What is handed out, best first, and how many were not, by reason.

    Attributes:
        proven: their confidence is at the floor or above.
        provisional: handed out to find out, after the proven ones.
        withheld: "rejected" (surely below the floor) or "provisional" (had its tries, and others are better known).
        What
            did not fit into k is not counted.
    """

    proven: tuple[Key, ...] = ()
    provisional: tuple[Key, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)


def select(prospects: Sequence[Prospect[Key]], *, k: int, floor: float, strict: bool = False) -> Selection[Key]:
    """Choose up to `k` memories.

    1. Proven ones, by score.
    2. Slots that are left go to memories on trial, by score, and least shown first among about equal ones: those that
       were handed out fewer than `TRIES` times, or about which nobody ever said anything.
    3. If no slot is left, the last one goes to a memory on trial whose score beats what is there by `CLEARLY_BETTER`.
    4. If nothing was chosen, what is left with the greatest score times confidence, if that confidence is at least
       `LEAST_CHANCE`; alone, since a run's outcome then says most about it. It may even be surely below the floor, so
       that a bank whose lessons help now and then does not fall silent, unless people say that it does not help.

    Args:
        prospects: in the ranking's order, which decides between equals.
        floor: confidence from which a memory is proven, in [0, 1].
        strict: proven memories only.
    """
    by_standing: dict[Standing, list[Prospect[Key]]] = {stands: [] for stands in Standing}
    for prospect in sorted(prospects, key=lambda p: -p.score):
        by_standing[standing(prospect.belief, floor)].append(prospect)
    proven, provisional, rejected = (by_standing[stands] for stands in Standing)
    withheld = {"rejected": len(rejected), "provisional": len(provisional)}
    if strict:
        return _selection(proven[:k], [], withheld)
    chosen, on_trial = _with_trials(proven, sorted(filter(_on_trial, provisional), key=_turn), k)
    withheld["provisional"] -= sum(map(_on_trial, provisional))
    if chosen or on_trial:
        return _selection(chosen, on_trial, withheld)
    left = [p for p in [*provisional, *(r for r in rejected if not r.blamed)] if p.belief.mean >= LEAST_CHANCE]
    best = max(left, key=lambda p: p.score * p.belief.mean, default=None)
    if best is None:
        return _selection([], [], withheld)
    withheld[standing(best.belief, floor).value] -= 1
    return _selection([], [best], withheld)


def _on_trial(prospect: Prospect[Key]) -> bool:
    return prospect.shown < TRIES or not prospect.judged


def _turn(prospect: Prospect[Key]) -> tuple[int, int]:
    return -round(prospect.score / ABOUT_EQUAL), prospect.shown


def _with_trials(
    proven: list[Prospect[Key]], trials: list[Prospect[Key]], k: int
) -> tuple[list[Prospect[Key]], list[Prospect[Key]]]:
    """Return the proven memories that are handed out, and those on trial."""
    if len(proven) < k:
        return proven, trials[: k - len(proven)]
    better = [p for p in trials if p.score >= proven[k - 1].score + CLEARLY_BETTER][:1]
    return proven[: k - len(better)], better


def _selection(
    proven: list[Prospect[Key]], provisional: list[Prospect[Key]], withheld: dict[str, int]
) -> Selection[Key]:
    return Selection(
        tuple(p.key for p in proven),
        tuple(p.key for p in provisional),
        {reason: many for reason, many in withheld.items() if many},
    )
