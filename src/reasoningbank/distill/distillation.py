"""What came of distilling a run: a typed result that is never empty in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reasoningbank.llm.base import Usage
from reasoningbank.memory import Draft, Memory
from reasoningbank.results import Recorded
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item that was not taken: why, and how it began."""

    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Distillation:
    """The lessons drawn from a run, and an account of everything else.

    Attributes:
        drafts: lessons to record, in the order they came.
        rejected: items that were not taken, with reasons.
        salvaged: whether something had to be guessed or left out to read the answer.
        notes: what was guessed or left out.
        reason: why the status is not `done`; "" when it is.
        attempts: how often the model was asked; 0 without a model.
        usage: tokens spent, over all attempts.
        by: who distilled: "template-1", or the model's name and the version of the prompts.
    """

    status: DistillStatus
    drafts: tuple[Draft, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    salvaged: bool = False
    notes: tuple[str, ...] = ()
    reason: str = ""
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    by: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many lessons were drawn, and how many items were rejected for each reason."""
        reasons = Counter(rejection.reason for rejection in self.rejected)
        return {"lessons": len(self.drafts), **dict(sorted(reasons.items()))}


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a run taught the bank.

    Attributes:
        result: what the distiller drew from it.
        run: the run as it was distilled: cleaned and judged.
        recorded: the lessons that were stored, each with the one that it may repeat; and those that somebody took out
            of service before (`held`), which stay there.
        duplicates: ids of memories that said what a lesson says already, in so many words or in others; that lesson was
            not stored. One that says the opposite, another number or another order is stored.
        removed: what was taken out of the run before (recalled lessons, boilerplate, secrets), and how often.
    """

    result: Distillation
    run: Trajectory
    recorded: tuple[Recorded, ...] = ()
    duplicates: tuple[str, ...] = ()
    removed: dict[str, int] = field(default_factory=dict)

    @property
    def status(self) -> DistillStatus:
        """How the distillation ended."""
        return self.result.status

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The lessons that are in the bank because of it."""
        return tuple(recorded.memory for recorded in self.recorded)
