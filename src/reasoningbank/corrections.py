"""What became of memories that were put right: what they said before, and which took the place of which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reasoningbank.memory import Draft, Memory


@dataclass(frozen=True, slots=True)
class Revision:
    """What a memory said before it was changed.

    Attributes:
        memory: its id.
        number: from 1, the first.
        said: what it said.
        reason: why it was changed, in words; "" when nobody said.
        by: who changed it; "" when nobody said.
        written_at: since when it had said so.
        replaced_at: when it was changed.
    """

    memory: str
    number: int
    said: Draft
    reason: str
    by: str
    written_at: datetime
    replaced_at: datetime


@dataclass(frozen=True, slots=True)
class Superseded:
    """Two memories of which one took the other's place.

    Attributes:
        old: out of service now.
        new: served in its place.
    """

    old: Memory
    new: Memory
