"""A memory's row with its tallies, and the memory that is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from reasoningbank.memory import Memory, Source, State
from reasoningbank.signals import SignalKind, Tally, parse_time
from reasoningbank.verdict import Verdict

MEMORY_COLUMNS = (
    "n, id, title, content, description, applies_when, outcome, tags, state, initial_confidence, source_how, "
    "source_by, source_session, trusted, metadata, revision, scrub_version, findings, created_at, updated_at, "
    "signatures, occurred_at, expires_at"
)


class Written(NamedTuple):
    """What a row says in texts that mean something else."""

    outcome: Verdict
    tags: tuple[str, ...]
    state: State
    metadata: dict[str, Any]
    findings: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    signatures: tuple[str, ...]
    occurred_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True)
class Stored:
    """A memory's row with its tallies; what it says about confidence is for the model to judge.

    Most of the rows that a search looks at are never shown, so that a memory is made of one when it is asked for.

    Attributes:
        n: the row's number, never reused.
        row: as MEMORY_COLUMNS says.
        written: what of it is text and means something else.
        usage_count: how often it was handed out by recall.
        last_used: when that was last, in UTC.
        touched: when it was last used, or else when what it tells of happened, or else when it was written.
    """

    n: int
    row: Sequence[Any]
    written: Written
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
            confidence=confidence,
            initial_confidence=row[9],
            usage_count=self.usage_count,
            last_used=self.last_used,
            source=self.source,
            revision=row[15],
            **self.written._asdict(),
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


def as_stored(row: Sequence[Any], tallies: tuple[Tally, ...], project: str) -> Stored:
    """Return a row, as MEMORY_COLUMNS says, with its tallies."""
    usage = [tally for tally in tallies if tally.kind is SignalKind.USAGE] if tallies else []
    last = max(tally.last for tally in usage) if usage else None
    written = _written(row)
    touched = last or written.occurred_at or written.updated_at
    return Stored(row[0], row, written, tallies, project, usage_of(usage), last, touched)


def _written(row: Sequence[Any]) -> Written:
    if not all(isinstance(text, str) for text in row[1:6]) or not isinstance(row[15], int):
        raise ValueError("a text is none, or the revision no number")
    return Written(
        outcome=Verdict(row[6]),
        tags=_listed(row[7]),
        state=State(row[8]),
        metadata=json.loads(row[14]) if row[14] != "{}" else {},
        findings=_listed(row[17]),
        created_at=parse_time(row[18]),
        updated_at=parse_time(row[19]),
        signatures=_listed(row[20]),
        occurred_at=_time(row[21]),
        expires_at=_time(row[22]),
    )


def readable(row: Sequence[Any], tallies: tuple[Tally, ...], project: str) -> Stored | None:
    """Return a row with its tallies; None where damage, or a hand, has it say what no row can."""
    try:
        return as_stored(row, tallies, project)
    except (ValueError, TypeError, AttributeError):
        return None


def usage_of(tallies: Sequence[Tally]) -> int:
    """Return how often a memory was handed out, by its tallies."""
    return round(sum(tally.positive for tally in tallies if tally.kind is SignalKind.USAGE)) if tallies else 0


def _listed(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text not in ("", "[]") else ()


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)


@lru_cache(maxsize=1_024)
def _source(how: Any, by: str | None, session: str | None, trusted: bool) -> Source:
    # It was checked when it was written.
    return Source.model_construct(how=how, by=by, session=session, trusted=trusted)
