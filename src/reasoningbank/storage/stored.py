"""A memory's row with its tallies, and the memory that is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from reasoningbank.memory import Memory, Source, State
from reasoningbank.signals import SignalKind, Tally, parse_time
from reasoningbank.verdict import Verdict

MEMORY_COLUMNS = (
    "n, id, title, content, description, applies_when, outcome, tags, state, initial_confidence, source_how, "
    "source_by, source_session, trusted, metadata, revision, scrub_version, findings, created_at, updated_at, "
    "signatures, occurred_at, expires_at"
)


@dataclass(frozen=True)
class Stored:
    """A memory's row with its tallies; what it says about confidence is for the model to judge.

    Most of the rows that a search looks at are never shown, so that a memory is made of one when it is asked for.

    Attributes:
        n: the row's number, never reused.
        row: as MEMORY_COLUMNS says.
        usage_count: how often it was handed out by recall.
        last_used: when that was last, in UTC.
        touched: when it was last used, or else when what it tells of happened, or else when it was written.
    """

    n: int
    row: Sequence[Any]
    tallies: tuple[Tally, ...]
    project: str
    usage_count: int
    last_used: datetime | None
    touched: datetime

    @cached_property
    def memory(self) -> Memory:
        """The memory, with the confidence it started from."""
        return self.believed(self.initial_confidence)

    def believed(self, confidence: float) -> Memory:
        """Return the memory with a confidence."""
        row = self.row
        return Memory(
            id=row[1],
            project=self.project,
            title=row[2],
            content=row[3],
            description=row[4],
            applies_when=row[5],
            outcome=Verdict(row[6]),
            tags=tuple(json.loads(row[7])) if row[7] != "[]" else (),
            state=State(row[8]),
            confidence=confidence,
            initial_confidence=row[9],
            usage_count=self.usage_count,
            last_used=self.last_used,
            source=self.source,
            metadata=json.loads(row[14]) if row[14] != "{}" else {},
            revision=row[15],
            findings=tuple(json.loads(row[17])) if row[17] != "[]" else (),
            created_at=parse_time(row[18]),
            updated_at=parse_time(row[19]),
            signatures=tuple(json.loads(row[20])) if row[20] not in ("", "[]") else (),
            occurred_at=_time(row[21]),
            expires_at=_time(row[22]),
        )

    @property
    def id(self) -> str:
        """The memory's id."""
        return str(self.row[1])

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """When it applies, its title, description and content."""
        row = self.row
        return row[5], row[2], row[4], row[3]

    @property
    def initial_confidence(self) -> float:
        """The belief it started from."""
        return float(self.row[9])

    @property
    def source(self) -> Source:
        """Where it came from."""
        return _source(self.row[10], self.row[11], self.row[12], bool(self.row[13]))

    @property
    def scrub_version(self) -> int:
        """Version of the scrubbing rules its text went through."""
        return int(self.row[16])


@dataclass(frozen=True, slots=True)
class Judged:
    """What a belief about a memory rests on."""

    n: int
    tallies: tuple[Tally, ...]
    initial_confidence: float

    @property
    def usage_count(self) -> int:
        """How often it was handed out by recall."""
        return usage_of(self.tallies)


def is_readable(row: Sequence[Any]) -> bool:
    """Tell whether a row, as MEMORY_COLUMNS says, says what a row can: damage, or a hand, may have changed it."""
    try:
        for written in (row[7], row[14], row[17], row[20]):
            if written not in ("", "[]", "{}"):
                json.loads(written)
        for at in (row[18], row[19], row[21], row[22]):
            _time(at)
        return row[18] is not None and row[19] is not None and bool(Verdict(row[6]) and State(row[8]))
    except (ValueError, TypeError, AttributeError):
        return False


def as_stored(row: Sequence[Any], tallies: tuple[Tally, ...], project: str) -> Stored:
    """Return a row, as MEMORY_COLUMNS says, with its tallies."""
    usage = [tally for tally in tallies if tally.kind is SignalKind.USAGE] if tallies else []
    last = max(tally.last for tally in usage) if usage else None
    return Stored(row[0], row, tallies, project, usage_of(usage), last, last or parse_time(row[21] or row[19]))


def usage_of(tallies: Sequence[Tally]) -> int:
    """Return how often a memory was handed out, by its tallies."""
    return round(sum(tally.positive for tally in tallies if tally.kind is SignalKind.USAGE)) if tallies else 0


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)


@lru_cache(maxsize=1_024)
def _source(how: Any, by: str | None, session: str | None, trusted: bool) -> Source:
    # It was checked when it was written.
    return Source.model_construct(how=how, by=by, session=session, trusted=trusted)
