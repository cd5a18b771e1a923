"""An episode: one run of a task, what was recalled for it, and how it ended."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from reasoningbank.verdict import Verdict


class Served(BaseModel, frozen=True):
    """A memory as it was handed out: the belief is kept, so that predictions can be checked later.

    Attributes:
        position: 0 for the first of the hits.
        confidence: the belief's mean at that time.
        deviation: the belief's standard deviation at that time.
        provisional: it was below the floor and given a chance.
        similarity, keyword, score, about: as in the hit.
        step: the failure of the run that it was handed out at, from 1; 0 before the task.
        pinned: it was shown as a pin.
    """

    memory: str
    position: int
    revision: int
    confidence: float
    deviation: float
    provisional: bool
    similarity: float = 0.0
    keyword: float = 0.0
    score: float = 0.0
    about: float = 1.0
    step: int = 0
    pinned: bool = False


class Episode(BaseModel, frozen=True):
    """One run of a task.

    Attributes:
        ref: its reference, unique in the project.
        thread: the conversation or checkpoint thread it belongs to, if any.
        verdict: None while it is open.
        by: who judged.
        held_out: lessons were withheld from it, to compare runs with and without them.
        held_out_all: all that may be withheld was, not a single lesson (`holdout="memory"`).
        withheld: their ids; those deleted since are left out.
    """

    ref: str
    task: str
    thread: str | None
    opened_at: datetime
    closed_at: datetime | None = None
    verdict: Verdict | None = None
    reason: str = ""
    by: str = ""
    memories: tuple[Served, ...] = ()
    held_out: bool = False
    held_out_all: bool = False
    withheld: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether no verdict was given yet."""
        return self.verdict is None
