"""What the calls about runs return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reasoningbank.episode import Episode
from reasoningbank.memory import Memory
from reasoningbank.results import Hit
from reasoningbank.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FailureRecall:
    """What was handed out at a failure of a run.

    Attributes:
        ref: the reference of the run's episode; "" when there is none and nothing was handed out.
        errors: what the output says went wrong, without what is another each time.
        hits: the memories handed out, in the order of `text`; none that the run was handed before.
        text: the prompt block; empty when nothing is known of the error.
        tokens: estimated tokens of `text`.
        match: "exact" (they answer this very error), "template" (with other numbers, ids or files), "search" (an error
            of its kind); "" without hits.
        step: which failure of the run at which something was handed out it is, from 1; 0 without hits.
        repeated: the run had the same error before, and was handed then what there is.
        reason: why nothing was handed out, in words.
        shortened: ids of memories that are cut in `text`, visibly.
        degraded: what did not work as configured, in words.
    """

    ref: str
    errors: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    match: str = ""
    step: int = 0
    repeated: bool = False
    reason: str = ""
    shortened: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories handed out, in the order of `text`."""
        return tuple(hit.memory for hit in self.hits)


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
