"""What `bank.upkeep` returns: status, metrics, proposed changes, and what became of them.

What should become one and what should go is decided here, in pure functions; `services.upkeep` carries it out.
"""

from typing import Final

from reasoningbank.corrections import Revision, Superseded
from reasoningbank.measures.criteria import Weighing
from reasoningbank.measures.lift_results import Arm, Compared, Interval, Lift, LiftReport
from reasoningbank.measures.reliability import Bin, Calibration, Measure
from reasoningbank.results import Change, Consolidated, Pruned, Unmerged
from reasoningbank.status import (
    Erased,
    Maintained,
    Metrics,
    Period,
    Pin,
    ProjectCounts,
    Repair,
    Round,
    RunsOfDay,
    Salvaged,
    SourceCounts,
    Status,
)

# Cosine above which two memories are compared word for word. Here, since the bank's signature shows it: what compares
# the words loads a stemmer.
THRESHOLD: Final = 0.75

__all__ = [
    "THRESHOLD",
    "Arm",
    "Bin",
    "Calibration",
    "Change",
    "Compared",
    "Consolidated",
    "Erased",
    "Interval",
    "Lift",
    "LiftReport",
    "Maintained",
    "Measure",
    "Metrics",
    "Period",
    "Pin",
    "ProjectCounts",
    "Pruned",
    "Repair",
    "Revision",
    "Round",
    "RunsOfDay",
    "Salvaged",
    "SourceCounts",
    "Status",
    "Superseded",
    "Unmerged",
    "Weighing",
]
