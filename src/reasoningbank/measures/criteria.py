"""How well a bank does, from what it saw: the success criteria SC-001 to SC-006, and how true its predictions were.

What helped is what people said of a memory in the run it was handed out for; where nobody said anything, all there is
to go by is how the run ended, and a figure says that it rests on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from reasoningbank.measures.reliability import Measure, Prediction, helped_above, measure, widest_range

# A share of fewer observations than this says little: its 95 % interval is wider than 0.3.
ENOUGH = 30
ENOUGH_RUNS = 20
HIGH = 0.8
BUDGET = 500
SETTLED_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A memory recalled for a run, as it was believed then.

    Attributes:
        vote: what was said of it for this run; None when nothing was.
        about: the chance that it is about the task, by its relevance alone.
    """

    confidence: float
    vote: bool | None = None
    about: float = 1.0


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as the bank saw it: what tasks in the same words share, and the tokens of its prompt block, if noted.

    Whether it succeeded is None while it is open, and when nobody knows.
    """

    at: datetime
    task: str
    succeeded: bool | None = None
    tokens: int | None = None
    handed_out: tuple[HandedOut, ...] = ()


@dataclass(frozen=True, slots=True)
class DistilledRun:
    """What became of one run that was to be distilled: whether it gave a lesson, and when that was known."""

    succeeded: bool
    gave: bool
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Weighing:
    """How far each kind of evidence was trusted from one moment on."""

    at: datetime
    weights: dict[str, float]


def voted(runs: Iterable[PastRun]) -> list[Prediction]:
    """Return a prediction for each memory that was handed out and voted on: its confidence, and the vote."""
    return [Prediction(h.confidence, h.vote, run.at) for run in runs for h in run.handed_out if h.vote is not None]


def lived(runs: Iterable[PastRun]) -> list[Prediction]:
    """Return a prediction for each memory handed out in a run whose end is known: its confidence, and that end."""
    return [
        Prediction(h.confidence, run.succeeded, run.at)
        for run in runs
        if run.succeeded is not None
        for h in run.handed_out
    ]


def foretold(runs: Iterable[PastRun], expected: Callable[[PastRun], float]) -> list[Prediction]:
    """Return the success that was to be expected of each run with memories whose end is known, and that end."""
    return [
        Prediction(expected(run), run.succeeded, run.at) for run in runs if run.succeeded is not None and run.handed_out
    ]


def success(runs: Sequence[PastRun], expected: Callable[[PastRun], float], unhelped: float) -> dict[str, float | None]:
    """Return how often runs succeeded with lessons and without, and how often they should have.

    Runs without lessons are no control group: a bank tends to have lessons for other tasks than it has none for.

    Args:
        expected: gives the success to be expected of a run with lessons.
        unhelped: S0, how often runs succeed when none helped.
    """
    with_lessons = foretold(runs, expected)
    without = [run.succeeded for run in runs if run.succeeded is not None and not run.handed_out]
    many = len(with_lessons)
    return {
        "with_lessons": _share([p.helped for p in with_lessons]),
        "expected": math.fsum(p.confidence for p in with_lessons) / many if many else None,
        "expected_if_none_helped": unhelped if many else None,
        "without_lessons": _share(without),
    }


def criteria(
    runs: Sequence[PastRun],
    *,
    failed_before: Iterable[str] = (),
    distilled: Sequence[DistilledRun] = (),
    history: Sequence[Weighing] = (),
    now: datetime,
) -> tuple[Measure, ...]:
    """Return SC-001 to SC-006.

    Args:
        runs: those of the window, in the order they were opened.
        failed_before: the tasks that had failed before the window.
        distilled: what became of the runs that were to be distilled within the window.
        history: all weights there ever were.
    """
    votes = voted(runs)
    told, by = (votes, "voted helpful") if votes else (lived(runs), "in a run that succeeded (nobody voted)")
    return (
        _helpful(told, by),
        _tokens(runs),
        _yield(distilled),
        _repeated(runs, failed_before),
        _settled(history, now),
        _high(told, by),
    )


def _helpful(told: Sequence[Prediction], by: str) -> Measure:
    what = f"of the memories handed out, the share {by}"
    return measure("SC-001", what, _share([p.helped for p in told]), goal=">= 0.75", sample=len(told), needed=ENOUGH)


def _tokens(runs: Sequence[PastRun]) -> Measure:
    known = [run.tokens for run in runs if run.tokens is not None and run.handed_out]
    what = "tokens of the longest prompt block"
    return measure("SC-002", what, max(known, default=None), goal=f"<= {BUDGET}", sample=len(known), needed=1)


def _yield(distilled: Sequence[DistilledRun]) -> Measure:
    groups = [[d.gave for d in distilled if d.succeeded is succeeded] for succeeded in (True, False)]
    shares = [share for group in groups if (share := _share(group)) is not None]
    what = "of the runs that were distilled, the share that gave a lesson: successes or failures, whichever is less"
    sample = min(map(len, groups))
    return measure("SC-003", what, min(shares, default=None), goal=">= 0.5", sample=sample, needed=ENOUGH_RUNS)


def _repeated(runs: Sequence[PastRun], failed_before: Iterable[str]) -> Measure:
    failed = set(failed_before)
    groups: dict[bool, list[bool]] = {True: [], False: []}
    for run in runs:
        if run.succeeded is not None and run.task in failed:
            groups[bool(run.handed_out)].append(not run.succeeded)
        if run.succeeded is False:
            failed.add(run.task)
    what = "of tasks that failed before, how much less often they fail again with lessons than without"
    sample = min(map(len, groups.values()))
    failures, control = _share(groups[True]), _share(groups[False])
    less = 1.0 - failures / control if failures is not None and control else None
    return measure("SC-004", what, less, goal=">= 0.23", sample=sample, needed=ENOUGH_RUNS)


def _settled(history: Sequence[Weighing], now: datetime) -> Measure:
    values = [(each.at, list(each.weights.values())) for each in history]
    days = max(0, (now - min(at for at, _ in values)).days) if values else 0
    moved = widest_range(values, now, SETTLED_WITHIN)
    what = "by how much the weight that moved most did move within seven days"
    return measure("SC-005", what, moved, goal="<= 0.05", sample=days, needed=SETTLED_WITHIN.days)


def _high(told: Sequence[Prediction], by: str) -> Measure:
    share, many = helped_above(told, HIGH)
    what = f"of the memories handed out with a confidence above {HIGH}, the share {by}"
    return measure("SC-006", what, share, goal=">= 0.75", sample=many, needed=ENOUGH)


def hit_rates(runs: Sequence[PastRun], late: int = 0) -> dict[str, float | None]:
    """Return how often recalls handed out something or came too late, and how often runs and lessons were judged."""
    return {
        "recalls": float(len(runs)),
        "recalls_too_late": float(late),
        "recalls_with_lessons": _share([bool(run.handed_out) for run in runs]),
        "lessons_a_recall": math.fsum(len(run.handed_out) for run in runs) / len(runs) if runs else None,
        "runs_reported": _share([run.succeeded is not None for run in runs]),
        "lessons_voted_on": _share([h.vote is not None for run in runs for h in run.handed_out]),
        "voted_helpful": _share([p.helped for p in voted(runs)]),
    }


def yields(distilled: Sequence[DistilledRun], recorded: Mapping[str, int]) -> dict[str, float | None]:
    """Return how many memories were recorded, by how, and the share of distilled runs that gave a lesson."""
    return {
        **{f"recorded_{how}": float(many) for how, many in recorded.items()},
        "runs_distilled": float(len(distilled)),
        "successes_that_gave_a_lesson": _share([d.gave for d in distilled if d.succeeded]),
        "failures_that_gave_a_lesson": _share([d.gave for d in distilled if not d.succeeded]),
    }


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
