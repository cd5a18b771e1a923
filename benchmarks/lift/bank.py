"""The same through a real bank: recalls, reports and `lift`, in a project of which the truth is known."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from reasoningbank import ReasoningBank
from reasoningbank.upkeep import LiftReport

TASKS = (
    "quote the paths in the shell script",
    "retry the payment request when it times out",
    "convert the amounts in the invoice to euros",
    "rename the columns of the sales table",
    "send the weekly report to the customers",
    "merge the two address lists without doubles",
)
SUCCESS = {"without": 0.45, "with": 0.7}


@dataclass
class Clock:
    """The simulated time."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return it."""
        return self.now


def project(seed: int, runs: int, holdout: float | str, *, harmful: bool = False) -> tuple[LiftReport, int]:
    """Live through a project in a bank; return what `lift` says, and how many lessons were named that do not harm.

    Each task has one lesson, which raises success from 0.45 to 0.7; with `harmful` that of the first lowers it to 0.15,
    and half of the runs are of this task.
    """
    random, clock = np.random.default_rng(seed), Clock()
    with (
        tempfile.TemporaryDirectory() as folder,
        ReasoningBank(folder, tenant="t", project="p", embedder="hash", clock=clock) as bank,
    ):
        lessons = [bank.record(task.title(), f"How to {task}", outcome="success").memory.id for task in TASKS]
        for number in range(runs):
            clock.now += timedelta(hours=1)
            place = 0 if harmful and random.random() < 0.5 else int(random.integers(harmful, len(TASKS)))
            recall = bank.recall(TASKS[place], 1, ref=f"r{number}", holdout=holdout)
            hurts = harmful and lessons[0] in {memory.id for memory in recall.memories}
            success = 0.15 if hurts else SUCCESS["with" if recall.hits else "without"]
            if random.random() >= 0.3:
                bank.report(bool(random.random() < success), ref=recall.ref)
        found = bank.lift()
    return found, len(set(found.harmful) - {lessons[0]})
