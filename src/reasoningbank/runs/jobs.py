"""Jobs: runs that wait to be distilled, and what became of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from reasoningbank.memory import fingerprint_text
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.verdict import Verdict

MOST_ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
# A worker renews its hold well within this; one that does not is taken for dead, and its job is taken up again.
LEASE = timedelta(seconds=60)


class DistillStatus(StrEnum):
    """Where the distilling of a run is: waiting in the queue, held by a worker, or at one of its ends.

    queued, running: of jobs only. done: at least one lesson. empty: the run teaches nothing. refused: the model would
    not answer. truncated: the answer was cut off before one whole lesson. unparseable: there was an answer, and no
    lesson could be read from it. failed: there was no answer, or the work broke down; the reason says why.
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether no worker will take it up any more, unless it is retried."""
        return self not in (DistillStatus.QUEUED, DistillStatus.RUNNING)


# Ends that a retry may change: with another model, more room, or an endpoint that answers.
RETRYABLE = tuple(status for status in DistillStatus if status.is_over and status is not DistillStatus.DONE)


@dataclass(frozen=True, slots=True)
class Job:
    """A run that waits to be distilled, or what became of it.

    Attributes:
        task: the beginning of its task.
        attempts: how often a worker took it up.
        due_at: while queued, not before this time; while running, when its worker is taken for dead.
        reason: why it is where it is, in words; "" where that needs no saying.
        memories: ids of the lessons it gave, of those that were not deleted since.
        counts: lessons recorded, duplicates of lessons that were there, and items rejected by reason.
    """

    id: str
    kind: str
    status: DistillStatus
    task: str
    verdict: Verdict
    attempts: int
    due_at: datetime
    reason: str
    created_at: datetime
    updated_at: datetime
    memories: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Held:
    """A job that a worker holds: what is to be done, and the token that proves it."""

    job: Job
    token: str
    payload: dict[str, Any]
    earlier: tuple[Trajectory, ...] = ()

    @property
    def run(self) -> Trajectory:
        """The run that is to be distilled."""
        return Trajectory.model_validate(self.payload)


def key_of(kind: str, payload: str) -> str:
    """Return the idempotency key of a job that was given none: what is to be done, in short."""
    return hashlib.blake2b(f"{kind}\n{payload}".encode(), digest_size=16).hexdigest()


def task_key(task: str) -> str:
    """Return a digest that two wordings of a task share if they differ in case, spacing and punctuation only."""
    return hashlib.blake2b(fingerprint_text("", task).encode(), digest_size=16).hexdigest()


def run_key(run: Trajectory) -> str:
    """Return a digest of what happened in a run and how it ended: one in whatever form, under whatever name."""
    acts = [(step.action.strip(), step.observation.strip()) for step in run.steps if step.action or step.observation]
    told = json.dumps([task_key(run.task), acts, run.result.strip(), run.verdict, run.reason], ensure_ascii=False)
    return key_of("happened", told)


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait after so many failed attempts: 30 s, doubled each time, an hour at the most."""
    pause: timedelta = FIRST_PAUSE * 2 ** max(0, attempts - 1)
    return min(LONGEST_PAUSE, pause)
