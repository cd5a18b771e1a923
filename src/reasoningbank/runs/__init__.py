"""What an agent's run is, read from any framework's messages; what `bank.runs` and `bank.queue` return."""

from reasoningbank.runs.jobs import DistillStatus, Job
from reasoningbank.runs.readers.ledger import LeftOut
from reasoningbank.runs.results import EpisodePage, EpisodeSummary, FailureRecall, MemoryRuns, StepsKept
from reasoningbank.runs.trajectory import BadLine, Step, Trajectory


def known_forms() -> dict[str, str]:
    """Return the names of the forms that runs are recognised in, each with what it is."""
    from reasoningbank.runs.readers import recognise

    return recognise.known_forms()


__all__ = [
    "BadLine",
    "DistillStatus",
    "EpisodePage",
    "EpisodeSummary",
    "FailureRecall",
    "Job",
    "LeftOut",
    "MemoryRuns",
    "Step",
    "StepsKept",
    "Trajectory",
    "known_forms",
]
