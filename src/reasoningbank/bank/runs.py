"""The part of the API about what happened in runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reasoningbank.bank.handle import Handle
from reasoningbank.results import MemoryRuns, StepsKept

if TYPE_CHECKING:
    from reasoningbank.runs.trajectory import Trajectory


class Runs(Handle):
    """Steps, trajectories, and the runs of a memory."""

    def add_steps(self, ref: str, steps: Any) -> StepsKept:
        """Keep steps of a run with its episode, as they happen or at the end, if the settings say so.

        Recalled lessons, system prompts and secrets are taken out before. A run is kept up to the setting
        `trajectory_limit`; what comes after that is left out and counted. `run.step` inside `with bank.episode(...)`
        calls this by itself.

        Args:
            ref: the episode's reference.
            steps: anything that `Trajectory.of` reads: a Trajectory, a dictionary, a list of steps or of messages. A
                result replaces the one before.

        Raises:
            EpisodeNotFoundError: there is none.
            InvalidInputError: it cannot be read as steps.
        """
        from reasoningbank.services.runs import trajectories

        return trajectories.add_steps(self._engine, ref, steps)

    def trajectory(self, ref: str) -> Trajectory:
        """Return an episode as a run: its task, the steps that are kept, how it ended. `distill` takes it.

        `is_empty` is true when no steps were kept, or when they expired (setting `trajectory_days`).

        Raises:
            EpisodeNotFoundError: there is none.
        """
        from reasoningbank.services.runs import trajectories

        return trajectories.trajectory(self._engine, ref)

    def runs_of(self, memory_id: str, limit: int = 20) -> MemoryRuns:
        """Return the runs that a memory was distilled from, and those that it was handed out in.

        Args:
            limit: how many of each at the most, the newest first; 1 to 1,000.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.record import record
        from reasoningbank.services.runs import trajectories

        return trajectories.runs_of(self._engine, memory_id, record.checked_limit(limit))
