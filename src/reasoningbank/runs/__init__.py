"""What an agent's run is, read from any framework's messages, and the jobs of runs that wait to be distilled."""

from reasoningbank.runs.jobs import DistillStatus, Job
from reasoningbank.runs.trajectory import BadLine, Step, Trajectory

__all__ = ["BadLine", "DistillStatus", "Job", "Step", "Trajectory"]
