"""What an agent's run is, read from any framework's messages; what `bank.runs` and `bank.queue` return."""

from reasoningbank.runs.jobs import DistillStatus, Job
from reasoningbank.runs.results import EpisodePage, EpisodeSummary, FailureRecall, MemoryRuns, StepsKept
from reasoningbank.runs.trajectory import BadLine, Step, Trajectory

__all__ = [
    "BadLine",
    "DistillStatus",
    "EpisodePage",
    "EpisodeSummary",
    "FailureRecall",
    "Job",
    "MemoryRuns",
    "Step",
    "StepsKept",
    "Trajectory",
]
