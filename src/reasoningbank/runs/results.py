"""What the calls about runs return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reasoningbank.episode import Episode
from reasoningbank.verdict import Verdict


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """A page of episodes, the newest first.

    Attributes:
        next: pass it as `after` to get the next page; None on the last one.
    """

    episodes: tuple[Episode, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class StepsKept:
    """What became of steps that were to be kept with their episode.

    Attributes:
        kept: how many are.
        left_out: how many are not.
        reason: why something is not, in words; empty when all is.
    """

    kept: int = 0
    left_out: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """A run in one line.

    Attributes:
        ref: of its episode, or the session it was, where the bank knows no episode of it.
        verdict: None while it is open, and where there is no episode.
        steps: how many are kept; `runs.trajectory(ref)` returns them.
        left_out: how many are not, since the run had grown too long.
    """

    ref: str
    task: str = ""
    verdict: Verdict | None = None
    opened_at: datetime | None = None
    steps: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class MemoryRuns:
    """The runs of a memory, the newest first.

    Attributes:
        came_from: those it was distilled from.
        used_in: those it was handed out in.
    """

    came_from: tuple[EpisodeSummary, ...] = ()
    used_in: tuple[EpisodeSummary, ...] = ()
