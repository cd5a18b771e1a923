"""A run in plain Python: what was recalled for it, its steps, and its verdict."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from reasoningbank.errors import StorageError
from reasoningbank.results import Recall, Reported
from reasoningbank.verdict import Verdict, as_verdict

if TYPE_CHECKING:
    from reasoningbank.bank.bank import ReasoningBank
    from reasoningbank.runs.trajectory import Trajectory


log = logging.getLogger(__name__)


class Run:
    """One run of a task, inside `with bank.episode(task) as run`.

    Attributes:
        recall: what was handed out.
        ref: the episode's reference.
        text: the prompt block with the recalled lessons; empty when nothing fits.
        hits: the memories handed out.
    """

    def __init__(self, bank: ReasoningBank, recall: Recall) -> None:
        self._bank = bank
        self.recall, self.ref, self.text, self.hits = recall, recall.ref, recall.text, recall.hits
        self._steps: list[dict[str, str]] = []
        self._verdict: Verdict | None = None

    @property
    def trajectory(self) -> Trajectory:
        """The task and the steps so far, with the verdict if one was given: what `distill` and `queue.put` take."""
        from reasoningbank.runs.trajectory import Trajectory

        return Trajectory.of(
            {"task": self.recall.task, "steps": self._steps, "verdict": self._verdict, "session": self.ref or None}
        )

    def step(self, action: str, result: str = "", *, thought: str = "", error: str = "") -> None:
        """Add a step as it happens; with the setting `keep_trajectories` it is written at once.

        A disk that refuses it then costs the run nothing: that is logged, and the step stays in `trajectory`.
        """
        step = {"thought": thought, "action": action, "observation": result, "error": error}
        self._steps.append(step)
        if self._bank.settings.keep_trajectories:
            try:
                self._bank.runs.add_steps(self.ref, [step])
            except StorageError as refused:
                log.warning("a step of %s was not kept: %s", self.ref, refused)

    def report(self, verdict: Verdict | str | bool, *, reason: str | None = None, by: str | None = None) -> Reported:
        """Say how the run ended; a later verdict replaces an earlier one."""
        self._verdict = as_verdict(verdict)
        return self._bank.report(self._verdict, ref=self.ref, reason=reason, by=by)
