"""What an agent's run is, read from any framework's messages."""

from reasoningbank.runs.jobs import Job, JobStatus
from reasoningbank.runs.trajectory import BadLine, RunVerdict, Step, Trajectory

__all__ = ["BadLine", "Job", "JobStatus", "RunVerdict", "Step", "Trajectory"]
