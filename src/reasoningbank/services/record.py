"""The way in: check, scrub, look for planted instructions, embed, one transaction."""

from __future__ import annotations

import sqlite3
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.errors import InvalidInputError, LimitExceededError, MemoryNotFoundError
from reasoningbank.guard import inspect, is_suspicious, normalise_hidden
from reasoningbank.memory import ID_LIMIT, SAID, Draft, Memory, State, clean_text, is_blank
from reasoningbank.results import Recorded
from reasoningbank.scrub import RULES_VERSION, scrub, scrub_each, scrub_value
from reasoningbank.services.engine import Engine
from reasoningbank.services.lesson_vectors import lesson_vectors
from reasoningbank.services.shown import look_up, own, rescrubbed, served
from reasoningbank.storage import records, trust
from reasoningbank.storage.filters import Filters
from reasoningbank.storage.records import Stored
from reasoningbank.terms import keyword_text, terms
from reasoningbank.validation import validated

Float32 = npt.NDArray[np.float32]

# About 50 ms of writing, so that other writers are not kept waiting.
BATCH = 200

LONGEST_PAGE = 1_000

# What an update leaves as it is unless it names it; changed by somebody else meanwhile, it is read again.
KEPT = (*SAID, "outcome", "tags", "initial_confidence", "source", "metadata", "state", "revision")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A lesson that is ready to be stored: scrubbed, inspected and embedded.

    Attributes:
        vectors: role and unit vector; empty when it could not be embedded.
        embedder: whose vectors they are.
        problem: why there are none, in words.
    """

    draft: Draft
    memory_id: str
    redactions: dict[str, int]
    findings: tuple[str, ...]
    vectors: tuple[tuple[str, Float32], ...] = ()
    embedder: EmbedderIdentity | None = None
    problem: str = ""

    @property
    def state(self) -> State:
        """Quarantined when it looks like planted instructions, else active."""
        return State.QUARANTINED if self.findings else State.ACTIVE


def checked_id(memory_id: object) -> str:
    """Return a memory's id as it is stored.

    Raises:
        InvalidInputError: it is no text, blank, or longer than 200 characters.
    """
    if not isinstance(memory_id, str) or is_blank(memory_id):
        raise InvalidInputError(f"memory id {memory_id!r} is not an id: use one that search, recall or list returned")
    if len(memory_id) > ID_LIMIT:
        raise LimitExceededError("memory id", limit=ID_LIMIT, actual=len(memory_id))
    return clean_text(memory_id)


def checked_limit(limit: object) -> int:
    """Return how many memories a page is to have.

    Raises:
        InvalidInputError: it is not a whole number from 1 to 1,000.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LONGEST_PAGE:
        raise InvalidInputError(f"limit {limit!r} is not a whole number from 1 to {LONGEST_PAGE:,}")
    return limit


def clean(draft: Draft, memory_id: str | None) -> Prepared:
    """Remove secrets and hidden characters from every string of a lesson, and look for planted instructions."""
    said = {name: getattr(draft, name) for name in SAID}
    scrubbed = scrub_each([normalise_hidden(text) for text in (*said.values(), *draft.tags)])
    dropped = sum((Counter(text.counts) for text in scrubbed), Counter[str]())
    changed: dict[str, Any] = {
        name: text.text for (name, before), text in zip(said.items(), scrubbed, strict=False) if text.text != before
    }
    tags = tuple(text.text for text in scrubbed[len(said) :])
    if tags != draft.tags:
        changed["tags"] = tags
    for name, value in _values_of(draft):
        cleaned, found = scrub_value(value)
        dropped.update(found)
        if cleaned != value:
            changed[name] = cleaned
    # What was hidden is looked for in the text as it came: afterwards it is gone.
    findings = inspect(**said, tags=" ".join(draft.tags))
    return Prepared(
        # What lost a secret may be longer or shorter than before: checked again.
        draft=validated(Draft, draft.model_dump() | changed) if changed else draft,
        memory_id=str(uuid.uuid4()) if memory_id is None else checked_id(memory_id),
        redactions=dict(dropped),
        findings=tuple(scrub(str(finding)).text for finding in findings) if is_suspicious(findings) else (),
    )


def _values_of(draft: Draft) -> Iterator[tuple[str, Any]]:
    """Yield the fields that hold more than text."""
    if draft.metadata:
        yield "metadata", draft.metadata
    if draft.source.by or draft.source.session:
        yield "source", draft.source.model_dump()


def embed(embedder: Embedder, prepared: Sequence[Prepared]) -> list[Prepared]:
    """Give lessons their vectors, outside any lock or transaction; one that cannot be embedded costs no other."""
    made = lesson_vectors(embedder, [p.draft for p in prepared])
    return [
        replace(
            p,
            vectors=vectors.roles,
            embedder=embedder.identity,
            problem=vectors.problem and f"not embedded ({vectors.problem}); found by keyword until it is re-embedded",
        )
        for p, vectors in zip(prepared, made, strict=True)
    ]


def record(engine: Engine, draft: Draft, memory_id: str | None = None) -> Recorded:
    """Store one lesson, unless the same one is there already."""
    cleaned = clean(draft, memory_id)
    return engine.with_embedder(lambda embedder: _record(engine, *embed(embedder, [cleaned])))


def _record(engine: Engine, prepared: Prepared) -> Recorded:
    near = near_duplicate(engine, prepared)
    with engine.write() as (_, connection):
        (recorded,) = store_all(engine, connection, [prepared])
    return replace(recorded, possible_duplicate_of=near) if recorded.created else recorded


def record_many(engine: Engine, items: Sequence[tuple[Draft, str | None]]) -> list[Recorded]:
    """Store lessons in their order, a batch a transaction; near duplicates are not looked for."""
    cleaned = [clean(draft, memory_id) for draft, memory_id in items]
    recorded: list[Recorded] = []
    for start in range(0, len(cleaned), BATCH):
        recorded += engine.with_embedder(partial(_store_batch, engine, cleaned[start : start + BATCH]))
    return recorded


def _store_batch(engine: Engine, cleaned: Sequence[Prepared], embedder: Embedder) -> list[Recorded]:
    prepared = embed(embedder, cleaned)
    with engine.write() as (_, connection):
        return store_all(engine, connection, prepared)


def store_all(engine: Engine, connection: sqlite3.Connection, prepared: Sequence[Prepared]) -> list[Recorded]:
    """Store prepared lessons inside the caller's transaction, in their order."""
    stored = [store(engine, connection, p) for p in prepared]
    rows = records.load(connection, {n for n, _ in stored}, engine.project_name)
    memories = engine.memories(connection, rows)
    return [_recorded(p, memories[n], created) for p, (n, created) in zip(prepared, stored, strict=True)]


def _recorded(prepared: Prepared, memory: Memory, created: bool) -> Recorded:
    degraded = (prepared.problem,) if created and prepared.problem else ()
    return Recorded(memory=memory, created=created, redactions=prepared.redactions, degraded=degraded)


def store(
    engine: Engine, connection: sqlite3.Connection, prepared: Prepared, *, look_for_same: bool = True
) -> tuple[int, bool]:
    """Store a prepared lesson unless it is there already, by id or in other spelling.

    Returns:
        Its row number, or that of the one that was there; and whether it is new.
    """
    known = records.find(connection, prepared.memory_id)
    if known is None and look_for_same:
        known = records.same_lesson(connection, prepared.draft)
    if known is not None:
        return known, False
    prepared = _distrusted(connection, prepared)
    n = records.insert(
        connection,
        prepared.draft,
        _indexed(engine, connection, prepared),
        memory_id=prepared.memory_id,
        state=prepared.state,
        findings=prepared.findings,
        scrub_version=RULES_VERSION,
        now=engine.now(),
    )
    return n, True


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


def _indexed(engine: Engine, connection: sqlite3.Connection, prepared: Prepared) -> records.Indexed:
    assert prepared.embedder is not None  # noqa: S101 - only what went through `embed` is stored
    generation = engine.generation(connection, prepared.embedder, create=True)
    assert generation is not None  # noqa: S101 - create=True always returns one
    return records.Indexed(
        vectors=tuple((role, vector.tobytes()) for role, vector in prepared.vectors),
        generation=generation,
        terms=" ".join(terms(keyword_text(prepared.draft))),
    )


def near_duplicate(engine: Engine, prepared: Prepared) -> str | None:
    """Return the id of the nearest active memory of the same outcome above the duplicate similarity."""
    if not prepared.vectors or prepared.embedder is None:
        return None
    with engine.read() as connection:
        if connection is None or engine.generation(connection, prepared.embedder) is None:
            return None
        found = engine.index.nearest(connection, prepared.vectors[0][1], 8)
        near = [n for n, cosine in found if cosine > engine.settings.duplicate_similarity]
        rows = records.load(connection, near, engine.project_name)
        for n in near:
            memory = rows[n].memory if n in rows else None
            if memory and memory.outcome is prepared.draft.outcome and memory.state is State.ACTIVE:
                return memory.id
    return None


def update(engine: Engine, memory_id: str, changes: dict[str, Any]) -> Memory:
    """Change some fields of a memory; what is not named stays."""
    memory_id = checked_id(memory_id)
    while True:
        before = _unchanged(engine, memory_id)
        shown = rescrubbed(before.memory) if before.scrub_version < RULES_VERSION else before.memory
        kept = {name: getattr(shown, name) for name in Draft.model_fields.keys() - {"confidence"}}
        draft = validated(Draft, kept | {"confidence": shown.initial_confidence} | changes)
        rewrite = partial(_rewrite, engine, before, clean(draft, memory_id))
        if (after := engine.with_embedder(rewrite)) is not None:
            return after


def _unchanged(engine: Engine, memory_id: str) -> Stored:
    with engine.read() as connection:
        n = None if connection is None else records.find(connection, memory_id)
        if connection is None or n is None:
            raise MemoryNotFoundError(memory_id)
        return records.load(connection, [n], engine.project_name)[n]


def _rewrite(engine: Engine, before: Stored, cleaned: Prepared, embedder: Embedder) -> Memory | None:
    """Store a changed memory; None when somebody else changed it since `before`."""
    (prepared,) = embed(embedder, [cleaned])
    says_something_else = any(getattr(prepared.draft, name) != getattr(before.memory, name) for name in SAID)
    with engine.write_existing() as opened:
        if opened is None:
            raise MemoryNotFoundError(before.memory.id)
        connection = opened[1]
        present = records.load(connection, [before.n], engine.project_name).get(before.n)
        if present is None:
            raise MemoryNotFoundError(before.memory.id)
        if any(getattr(present.memory, name) != getattr(before.memory, name) for name in KEPT):
            return None
        records.rewrite(
            connection,
            before.n,
            prepared.draft,
            _indexed(engine, connection, prepared),
            state=_state_after(before.memory, prepared, says_something_else),
            findings=prepared.findings,
            scrub_version=RULES_VERSION,
            says_something_else=says_something_else,
            now=engine.now(),
        )
        rows = records.load(connection, [before.n], engine.project_name)
        return engine.memories(connection, rows)[before.n]


def _state_after(before: Memory, prepared: Prepared, says_something_else: bool) -> State:
    # A person's approval or archiving holds for what the memory said then.
    return prepared.state if says_something_else and before.state is not State.ARCHIVED else before.state


def delete(engine: Engine, memory_ids: Iterable[str]) -> dict[str, bool]:
    """Delete memories; say for each id, as it was given, whether there was one."""
    ids = {memory_id: checked_id(memory_id) for memory_id in memory_ids}
    with engine.write_existing() as opened:
        if opened is None:
            return dict.fromkeys(ids, False)
        deleted: dict[str, bool] = {}
        for given, memory_id in ids.items():
            n = records.find(opened[1], memory_id)
            deleted[given] = n is not None
            if n is not None:
                records.delete(opened[1], n)
        return deleted


def get(engine: Engine, memory_id: str) -> Memory:
    """Return a memory, whatever its state."""
    memory_id = checked_id(memory_id)
    with engine.read() as connection:
        n = None if connection is None else records.find(connection, memory_id)
        if connection is None or n is None:
            raise MemoryNotFoundError(memory_id)
        return own(look_up(engine, connection, [n])[n].memory)


def page(engine: Engine, filters: Filters, after: int, limit: int) -> tuple[list[Memory], int | None]:
    """Return up to `limit` memories behind `after`, and where the next page begins (None behind the last)."""
    with engine.read() as connection:
        if connection is None:
            return [], None
        numbers = records.page(connection, filters, after, limit + 1)
        memories = served(engine, connection, numbers[:limit])
        return list(memories.values()), numbers[limit - 1] if len(numbers) > limit else None


def count(engine: Engine, filters: Filters) -> int:
    """Return how many memories pass the filters."""
    with engine.read() as connection:
        return 0 if connection is None else records.count(connection, filters)
