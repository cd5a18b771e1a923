"""What came of distilling a run: a typed result that is never empty in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from reasoningbank.llm.base import Usage
from reasoningbank.memory import Draft


class DistillStatus(StrEnum):
    """How a distillation ended.

    done: at least one lesson. empty: the run teaches nothing. refused: the model would not answer. truncated: the
    answer was cut off before one whole lesson. unparseable: there was an answer, and no lesson could be read from it.
    failed: there was no answer, or the work broke down; the reason says why.
    """

    DONE = "done"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"


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
