"""Pruning: which memories are taken out of service, and why. They stay in the bank, and can be restored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from reasoningbank.results import Change
from reasoningbank.signals import SignalKind, Tally

# Below this, with so much evidence against it, a memory misleads.
REFUTED_BELOW: Final = 0.3
REFUTED_BY: Final = 3.0

# Nobody misses a memory that is doubted and that nobody asked for in half a year.
UNUSED: Final = timedelta(days=180)
WEAK_BELOW: Final = 0.5

# A new memory nobody has judged yet is the last to go when there is no room.
ON_TRIAL: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Kept:
    """What pruning knows of one memory in service.

    Attributes:
        confidence: the present belief that it helps.
        against: summed strength of the votes, outcomes and stability signals against it.
        blamed: when the last of those came; None when there is none.
        judged: whether anything but usage is known about it.
        used: when it was last handed out; None when it never was.
        changed: when it was recorded, or last changed or restored by somebody.
    """

    id: str
    confidence: float
    against: float
    blamed: datetime | None
    judged: bool
    used: datetime | None
    changed: datetime

    @property
    def touched(self) -> datetime:
        """When it was last used or changed."""
        return max(self.used or self.changed, self.changed)


def evidence_against(tallies: Iterable[Tally]) -> tuple[float, datetime | None, bool]:
    """Return how much is against a memory, when the last of it came, and whether anything but usage is known."""
    judged = [tally for tally in tallies if tally.kind is not SignalKind.USAGE]
    against = [tally for tally in judged if tally.negative > 0.0]
    return sum(tally.negative for tally in against), max((t.last for t in against), default=None), bool(judged)


def is_refuted(confidence: float, against: float) -> bool:
    """Tell whether a memory misleads: it is believed so little, and so much weight is against it."""
    return confidence < REFUTED_BELOW and against >= REFUTED_BY


def proposals(
    memories: Sequence[Kept], now: datetime, *, unused: timedelta = UNUSED, most: int | None = None
) -> list[Change]:
    """Return what should be archived: what misleads, what nobody needs, then what there is no room for.

    Of all memories in service, at most `most` may stay (None for any number). Room is made by this policy: what is
    believed least goes first, and of equals what was not touched for longest; what is newer than 30 days and judged by
    nobody goes last of all.
    """
    found = {memory.id: reason for memory in memories if (reason := _why(memory, now, unused))}
    if most is not None:
        staying = sorted((m for m in memories if m.id not in found), key=lambda memory: _worth(memory, now))
        for memory in staying[: max(0, len(staying) - most)]:
            found[memory.id] = f"more than {most:,} memories, and this one is worth least"
    return [Change("archive", (memory_id,), reason) for memory_id, reason in found.items()]


def _why(memory: Kept, now: datetime, unused: timedelta) -> str:
    # What somebody changed or restored after the last blame is theirs to judge, until there is new blame.
    blamed_anew = memory.blamed is not None and memory.blamed > memory.changed
    if blamed_anew and is_refuted(memory.confidence, memory.against):
        return f"evidence against it: confidence {memory.confidence:.2f}, weight {memory.against:.1f} against"
    if memory.confidence < WEAK_BELOW and now - memory.touched >= unused:
        return f"not used for {(now - memory.touched).days} days, and doubted: confidence {memory.confidence:.2f}"
    return ""


def _worth(memory: Kept, now: datetime) -> tuple[bool, float, datetime, str]:
    on_trial = not memory.judged and now - memory.changed < ON_TRIAL
    return on_trial, memory.confidence, memory.touched, memory.id
