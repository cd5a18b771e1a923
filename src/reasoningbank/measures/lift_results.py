"""What `lift` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        """Tell whether a number lies in it."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Arm:
    """The runs that were given lessons, or those from which they were withheld.

    Attributes:
        judged: those of them with verdict success or failure.
        succeeded: those of these that succeeded.
    """

    runs: int
    judged: int
    succeeded: int

    @property
    def missing(self) -> int:
        """Runs of which nobody said how they ended."""
        return self.runs - self.judged


@dataclass(frozen=True, slots=True)
class Compared:
    """The means of something else in both arms, and their difference with its 95 % interval."""

    given: float
    withheld: float
    difference: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Lift:
    """By how much lessons raise the share of runs that succeed; figures are None while there is nothing to estimate.

    Attributes:
        of: "run": all lessons of a run were withheld, or none; "memory": one of them, or none.
        about: the tag, or the memory's id; "" for all lessons.
        title: the memory's.
        given, withheld: the two arms.
        enough: there are 20 independent runs with a verdict in each arm, so that `words` may come to a verdict.
        success_given, success_withheld: shares of success, adjusted for what was known of the runs before.
        difference: the first minus the second.
        interval: of the difference, 95 %, for one look at a time fixed beforehand.
        always_valid: the same for every look, however often one looks.
        narrowed: by what share the adjustment lessened the variance.
        smallest: the smallest difference that such a sample shows four times in five.
        needed: how many more runs it takes to see 10 points four times in five.
        tokens: of the prompt block.
        steps: of the run, where the settings keep them.
        words: all of it in plain words.
    """

    of: Literal["run", "memory"]
    about: str
    title: str
    given: Arm
    withheld: Arm
    enough: bool
    success_given: float | None = None
    success_withheld: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    always_valid: Interval | None = None
    narrowed: float | None = None
    smallest: float | None = None
    needed: int = 0
    tokens: Compared | None = None
    steps: Compared | None = None
    words: str = ""

    def saying(self, words: str) -> Lift:
        """Return it with the words for it."""
        return replace(self, words=words)


@dataclass(frozen=True, slots=True)
class LiftReport:
    """What lessons do to the runs of a project, from its hold-out alone.

    Attributes:
        since: when the window began; None for all runs.
        overall: of all lessons; None when nothing was ever withheld.
        by: what `parts` are of: None, "tag" or "memory".
        harmful: ids of the lessons that surely harm: they are not handed out any more until they are changed.
        words: all of it in plain words.
    """

    since: datetime | None
    until: datetime
    overall: Lift | None
    by: Literal["tag", "memory"] | None = None
    parts: tuple[Lift, ...] = ()
    harmful: tuple[str, ...] = ()
    words: str = ""
