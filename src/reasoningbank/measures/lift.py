"""What lessons do, measured: runs that were given lessons beside runs from which chance withheld them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final, Literal

import numpy as np

from reasoningbank.measures.estimate import (
    Estimate,
    Outcomes,
    always_valid,
    estimate,
    newcombe,
    runs_to_see,
    smallest,
    textbook_error,
)
from reasoningbank.measures.lift_results import Arm, Compared, Interval, Lift
from reasoningbank.measures.lift_words import in_words
from reasoningbank.measures.reliability import Z95

# No verdict with fewer independent runs (or threads) in either arm: a share of 20 is known to within 0.2.
ENOUGH: Final = 20
# What one waits to see, in success.
WORTH_SEEING: Final = 0.1
# An earlier verdict of the same task weighs against so many of what all tasks come to; of these the last 50 count most.
OF_ALL_TASKS: Final = 2.0
RECENT: Final = 0.02

# A lesson is taken for harmful on fewer runs, since each one costs; harm that is worth the trouble is about this large.
ENOUGH_OF_ONE: Final = 10
USUAL_HARM: Final = 0.25


@dataclass(frozen=True, slots=True)
class Candidate:
    """A lesson that could be withheld from a run.

    Attributes:
        number, memory: its row number and its id; the id is "" when it is deleted by now.
        revision: of what it said then; `unchanged` tells whether it says so still.
        given: it was handed out.
        chance: of being withheld.
    """

    number: int
    given: bool
    chance: float
    memory: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    revision: int = 0
    unchanged: bool = True


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that had a chance of going without lessons.

    Attributes:
        unit: what stays in one arm: the thread, or the reference.
        task: what tasks in the same words share.
        of: what was drawn: whether all lessons are withheld ("run"), or one of them ("memory").
        held: something was withheld.
        drawn: nothing was drawn in its unit before; a later recall follows the first draw.
        expected: how likely it was to succeed with all that would have been handed out, as it was believed.
        succeeded: None while it is open, and when nobody knows.
        tokens: of the prompt block.
        steps: those that are kept of it; None where none are.
    """

    at: datetime
    unit: str
    task: str
    of: Literal["run", "memory"]
    held: bool
    drawn: bool
    expected: float
    succeeded: bool | None
    candidates: tuple[Candidate, ...]
    tokens: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """One run as it counts for one question: in which arm it is, and by what chance."""

    trial: Trial
    given: bool
    chance: float
    known: tuple[float, ...]


Concerns = Callable[[Candidate], bool]


def known_before(trials: Iterable[Trial]) -> list[tuple[float, ...]]:
    """Return what was known of each run before it was assigned, the most telling first, for runs in their order.

    How its task ended before, whether lessons were given or not (shrunk towards how tasks ended lately); how likely it
    was to succeed by what was believed; how tasks ended lately, since they may get harder.
    """
    lately, record = 0.5, defaultdict[str, list[float]](lambda: [0.0, 0.0])
    rows: list[tuple[float, ...]] = []
    for trial in trials:
        good, many = record[trial.task]
        rows.append(((good + OF_ALL_TASKS * lately) / (many + OF_ALL_TASKS), trial.expected, lately))
        if trial.succeeded is not None:
            record[trial.task] = [good + trial.succeeded, many + 1.0]
            lately += RECENT * (trial.succeeded - lately)
    return rows


def lift(
    trials: Sequence[Trial],
    known: Sequence[tuple[float, ...]],
    concerns: Concerns = lambda _: True,
    *,
    single: bool = False,
    about: str = "",
    title: str = "",
) -> Lift | None:
    """Say what the lessons of which `concerns` is true do to the runs that they were meant for; None without any run.

    Everything counts in the arm that it was assigned to (intention to treat). Runs without a verdict are counted and
    left out.

    Args:
        trials: in the order they were opened.
        known: of each, what `known_before` returns.
        single: go by runs from which single lessons were withheld, if there are any; else by those from which all were,
            if there are any.
        about, title: what the lessons have in common, for the result.
    """
    rows: list[_Row] = []
    for of in ("memory", "run") if single else ("run", "memory"):
        rows = [row for t, k in zip(trials, known, strict=True) if t.of == of and (row := _row(t, k, concerns))]
        if rows:
            break
    if not rows:
        return None
    judged = [row for row in rows if row.trial.succeeded is not None]
    units = [len({row.trial.unit for row in judged if row.given is given}) for given in (True, False)]
    found = estimate(_outcomes(judged, lambda t: float(bool(t.succeeded)))) if min(units) >= 2 else None
    return _lift(rows, judged, found, enough=min(units) >= ENOUGH, about=about, title=title)


def _row(trial: Trial, known: tuple[float, ...], concerns: Concerns) -> _Row | None:
    """Return a run as it counts for some lessons; None where it says nothing about them.

    Of single lessons, runs that lack one of these stand beside runs that lack nothing.
    """
    asked = [candidate for candidate in trial.candidates if concerns(candidate)]
    if not asked or not (trial.drawn or trial.of == "run"):
        return None
    if trial.of == "run":
        return _Row(trial, not trial.held, asked[0].chance, known)
    if trial.held and all(candidate.given for candidate in asked):
        return None
    these, whole = (sum(c.chance for c in some) for some in (asked, trial.candidates))
    return _Row(trial, not trial.held, these / (these + 1.0 - whole), known)


def _outcomes(rows: Sequence[_Row], of: Callable[[Trial], float]) -> Outcomes:
    _, units = np.unique([row.trial.unit for row in rows], return_inverse=True)
    return Outcomes(
        given=np.array([row.given for row in rows], dtype=bool),
        chance=np.array([row.chance for row in rows]),
        succeeded=np.array([of(row.trial) for row in rows]),
        known=np.array([row.known for row in rows]),
        unit=units,
    )


def _lift(
    rows: Sequence[_Row], judged: Sequence[_Row], found: Estimate | None, *, enough: bool, about: str, title: str
) -> Lift:
    arms = [_arm(rows, judged, given=given) for given in (True, False)]
    if found is None:
        interval = always = None
        rate = sum(row.chance for row in rows) / len(rows)
        error = textbook_error(0.5, rate, max(1, len(judged)))
    else:
        interval = newcombe(found)
        always, error = always_valid(found, interval), (interval.high - interval.low) / (2.0 * Z95)
    needed = runs_to_see(WORTH_SEEING, error, max(1, len(judged)))
    if not enough:
        fewest = min(arm.judged for arm in arms)
        needed = max(needed, round(len(judged) * (ENOUGH / max(1, fewest) - 1.0)))
    lift_ = Lift(
        of=rows[0].trial.of,
        about=about,
        title=title,
        given=arms[0],
        withheld=arms[1],
        enough=enough,
        success_given=None if found is None else found.given,
        success_withheld=None if found is None else found.withheld,
        difference=None if found is None else found.difference,
        interval=interval,
        always_valid=always,
        narrowed=None if found is None else found.narrowed,
        smallest=None if found is None else smallest(error),
        needed=round(needed * len(rows) / max(1, len(judged))),
        tokens=_compared(rows, lambda trial: trial.tokens),
        steps=_compared(rows, lambda trial: trial.steps),
    )
    return lift_.saying(in_words(lift_, ENOUGH, WORTH_SEEING))


def _arm(rows: Sequence[_Row], judged: Sequence[_Row], *, given: bool) -> Arm:
    ends = [bool(row.trial.succeeded) for row in judged if row.given is given]
    return Arm(runs=sum(row.given is given for row in rows), judged=len(ends), succeeded=sum(ends))


def _compared(rows: Sequence[_Row], of: Callable[[Trial], int | None]) -> Compared | None:
    there = [row for row in rows if of(row.trial) is not None]
    units = [len({row.trial.unit for row in there if row.given is given}) for given in (True, False)]
    if min(units) < 2:
        return None
    # Plain means: what is known of success says little about these.
    plain = [replace(row, known=()) for row in there]
    found = estimate(_outcomes(plain, lambda trial: float(of(trial) or 0)))
    reach = Z95 * found.error
    interval = Interval(found.difference - reach, found.difference + reach)
    return Compared(found.given, found.withheld, found.difference, interval)


# -- lessons that surely harm -----------------------------------------------------------------------------------------


def harmful(trials: Sequence[Trial]) -> tuple[tuple[int, int], ...]:
    """Return the lessons with which runs surely end worse, as (row number, revision).

    Only draws of one lesson count: from a run that lacks several nobody knows which of them it was. The always-valid
    interval is one-sided: of lessons that do nothing, one in twenty is ever taken for harmful, however often one looks.
    """
    known = known_before(trials)
    of_lesson = defaultdict[tuple[int, int], list[_Row]](list)
    for trial, before in zip(trials, known, strict=True):
        if trial.succeeded is None or not (trial.of == "memory" or len(trial.candidates) == 1):
            continue
        for candidate in trial.candidates:
            row = _row(trial, before, partial(_is, candidate.number)) if candidate.unchanged else None
            if row is not None:
                of_lesson[candidate.number, candidate.revision].append(row)
    return tuple(sorted(lesson for lesson, rows in of_lesson.items() if _harms(rows)))


def _harms(rows: Sequence[_Row]) -> bool:
    if any(len({row.trial.unit for row in rows if row.given is given}) < ENOUGH_OF_ONE for given in (True, False)):
        return False
    found = estimate(_outcomes(rows, lambda trial: float(bool(trial.succeeded))))
    return always_valid(found, newcombe(found), usual=USUAL_HARM, alarms=0.1).high < 0.0


def _is(number: int, candidate: Candidate) -> bool:
    return candidate.number == number and candidate.unchanged


def _tagged(tag: str, candidate: Candidate) -> bool:
    return tag in candidate.tags


# -- all of them ------------------------------------------------------------------------------------------------------


def by_tag(trials: Sequence[Trial]) -> tuple[Lift, ...]:
    """Return what the lessons of each tag do, sorted by tag."""
    known = known_before(trials)
    tags = sorted({tag for trial in trials for candidate in trial.candidates for tag in candidate.tags})
    found = (lift(trials, known, partial(_tagged, tag), about=tag) for tag in tags)
    return tuple(each for each in found if each is not None)


def by_memory(trials: Sequence[Trial]) -> tuple[Lift, ...]:
    """Return what each lesson does that is still there and says the same, in the order they were recorded."""
    known = known_before(trials)
    lessons = {c.number: c for trial in trials for c in trial.candidates if c.memory and c.unchanged}
    found = (
        lift(
            trials,
            known,
            partial(_is, n),
            single=True,
            about=lessons[n].memory,
            title=lessons[n].title,
        )
        for n in sorted(lessons)
    )
    return tuple(each for each in found if each is not None)


def overall(trials: Sequence[Trial]) -> Lift | None:
    """Return what lessons do; None when nothing was ever drawn."""
    return lift(trials, known_before(trials))
