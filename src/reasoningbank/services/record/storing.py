"""Stores prepared lessons inside a transaction: those that are there already stay as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reasoningbank.memory import Memory
from reasoningbank.results import Recorded
from reasoningbank.screening.scrub import RULES_VERSION
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import Prepared
from reasoningbank.storage import recording, records, trust
from reasoningbank.storage.stored import Stored


def store_all(engine: Engine, connection: sqlite3.Connection, prepared: Sequence[Prepared]) -> list[Recorded]:
    """Store prepared lessons inside the caller's transaction, in their order."""
    stored = store(engine, connection, prepared)
    known = records.load(connection, {one.n for one in stored if one.row is None}, engine.project_name)
    rows = known | {one.n: one.row for one in stored if one.row is not None}
    memories = engine.memories(connection, rows)
    return [_recorded(p, memories[one.n], one.created) for p, one in zip(prepared, stored, strict=True)]


def _recorded(prepared: Prepared, memory: Memory, created: bool) -> Recorded:
    degraded = (prepared.problem,) if created and prepared.problem else ()
    return Recorded(memory=memory, created=created, redactions=prepared.redactions, degraded=degraded)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lesson is.

    Attributes:
        n: its row number, or that of the one that was there.
        row: as it is loaded from now on, when it is new.
    """

    n: int
    row: Stored | None = None

    @property
    def created(self) -> bool:
        """Whether it is new."""
        return self.row is not None


def store(
    engine: Engine, connection: sqlite3.Connection, prepared: Sequence[Prepared], *, look_for_same: bool = True
) -> list[Place]:
    """Store prepared lessons, except what is there already, by id or in other spelling, or came before in the list."""
    by_id = records.numbers_of(connection, [p.memory_id for p in prepared if p.has_own_id])
    by_text = recording.same_lessons(connection, [p.fingerprint for p in prepared]) if look_for_same else {}
    counters = recording.Counters.of(connection)
    fresh: dict[int, Prepared] = {}
    found: list[tuple[int, bool]] = []
    for p in prepared:
        text = (p.fingerprint, p.draft.outcome.value)
        n = by_id.get(p.memory_id, by_text.get(text) if look_for_same else None)
        found.append((counters.memories + 1 + len(fresh) if n is None else n, n is None))
        if n is None:
            by_id[p.memory_id] = by_text[text] = found[-1][0]
            fresh[found[-1][0]] = p
    rows = _insert(engine, connection, list(fresh.values()), counters) if fresh else {}
    return [Place(n, rows[n] if created else None) for n, created in found]


def _insert(
    engine: Engine, connection: sqlite3.Connection, fresh: Sequence[Prepared], counters: recording.Counters
) -> dict[int, Stored]:
    generation = _generation(engine, connection, fresh[0])
    new = [
        recording.NewMemory(p.memory_id, p.draft, p.fingerprint, _indexed(p, generation), p.state, p.findings)
        for p in (_distrusted(connection, p) for p in fresh)
    ]
    rows = recording.insert(
        connection, new, counters, project=engine.project_name, scrub_version=RULES_VERSION, now=engine.now()
    )
    return {row.n: row for row in rows}


def _distrusted(connection: sqlite3.Connection, prepared: Prepared) -> Prepared:
    source = prepared.draft.source
    if not trust.is_forgotten(connection, source.by, source.session):
        return prepared
    return replace(prepared, findings=(*prepared.findings, "its source was forgotten"))


def check_embedder(engine: Engine, connection: sqlite3.Connection, prepared: Sequence[Prepared]) -> None:
    """Check, before anything is stored, that lessons were embedded by the embedder whose vectors are stored.

    Raises:
        EmbedderMismatchError: they were not.
    """
    for identity in {p.embedder for p in prepared if p.embedder is not None}:
        engine.generation(connection, identity)


def indexed(engine: Engine, connection: sqlite3.Connection, prepared: Prepared) -> records.Indexed:
    """Return what a lesson is found by, as it is stored."""
    return _indexed(prepared, _generation(engine, connection, prepared))


def _generation(engine: Engine, connection: sqlite3.Connection, prepared: Prepared) -> int:
    assert prepared.embedder is not None  # noqa: S101 - only what went through `embed` is stored
    generation = engine.generation(connection, prepared.embedder, create=True)
    assert generation is not None  # noqa: S101 - create=True always returns one
    return generation


def _indexed(prepared: Prepared, generation: int) -> records.Indexed:
    vectors = tuple((role, vector.tobytes()) for role, vector in prepared.vectors)
    return records.Indexed(vectors, generation, prepared.terms)
