"""The way in: check, scrub, look for planted instructions, embed, one transaction."""

from __future__ import annotations

import sqlite3
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from reasoningbank.errors import InvalidInputError, LimitExceededError, MemoryNotFoundError
from reasoningbank.memory import ID_LIMIT, Draft, Memory, State, clean_text, is_blank
from reasoningbank.results import Recorded
from reasoningbank.scrub import RULES_VERSION, scrub, scrub_value
from reasoningbank.services.engine import Engine
from reasoningbank.storage import records
from reasoningbank.storage.filters import Filters
from reasoningbank.terms import applies_text, keyword_text, lesson_text, terms
from reasoningbank.validation import validated

Float32 = npt.NDArray[np.float32]

# About 50 ms of writing, so that other writers are not kept waiting.
BATCH = 200

LONGEST_PAGE = 1_000

# What a memory says: when one of these changes, its evidence starts anew.
SAID = ("title", "content", "description", "applies_when")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A lesson that is ready to be stored: scrubbed, inspected and embedded.

    Attributes:
        vectors: role and unit vector; empty when it could not be embedded.
        problem: why not, in words.
    """

    draft: Draft
    memory_id: str
    redactions: dict[str, int]
    findings: tuple[str, ...]
    vectors: tuple[tuple[str, Float32], ...] = ()
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


def prepare(engine: Engine, items: Sequence[tuple[Draft, str | None]]) -> list[Prepared]:
    """Scrub, inspect and embed lessons, outside any lock or transaction.

    Args:
        items: drafts, each with the id it is to have, or None for a new one.
    """
    return embed(engine, [clean(draft, memory_id) for draft, memory_id in items])


def clean(draft: Draft, memory_id: str | None) -> Prepared:
    """Remove secrets from every string of a lesson."""
    fields = draft.model_dump()
    counts: Counter[str] = Counter()
    for name in SAID:
        scrubbed = scrub(fields[name])
        fields[name] = scrubbed.text
        counts.update(scrubbed.counts)
    for name in ("tags", "metadata", "source"):
        value = list(fields[name]) if name == "tags" else fields[name]
        fields[name], found = scrub_value(value)
        counts.update(found)
    cleaned = validated(Draft, fields)
    return Prepared(
        draft=cleaned,
        memory_id=str(uuid.uuid4()) if memory_id is None else checked_id(memory_id),
        redactions=dict(counts),
        findings=(),
    )


def embed(engine: Engine, prepared: Sequence[Prepared]) -> list[Prepared]:
    """Give lessons their vectors; one that cannot be embedded costs no other."""
    texts = [lesson_text(p.draft) for p in prepared]
    situated = [i for i, p in enumerate(prepared) if p.draft.applies_when]
    texts += [applies_text(prepared[i].draft) for i in situated]
    vectors, failures = engine.embed_texts(texts)
    second = {i: len(prepared) + row for row, i in enumerate(situated)}
    done = []
    for i, p in enumerate(prepared):
        if i in failures:
            done.append(replace(p, problem=f"not embedded ({failures[i]}); found by keyword until it is re-embedded"))
            continue
        roles = [("lesson", vectors[i])]
        if i in second and second[i] not in failures:
            roles.append(("applies_when", vectors[second[i]]))
        done.append(replace(p, vectors=tuple(roles)))
    return done


def record(engine: Engine, draft: Draft, memory_id: str | None = None) -> Recorded:
    """Store one lesson, unless the same one is there already."""
    (prepared,) = prepare(engine, [(draft, memory_id)])
    near = _near_duplicate(engine, prepared)
    with engine.write() as (_, connection):
        n, created = store(engine, connection, prepared)
        memory = engine.memories(connection, records.load(connection, [n], engine.project_name))[n]
    return _recorded(prepared, memory, created, near)


def record_many(engine: Engine, items: Sequence[tuple[Draft, str | None]]) -> list[Recorded]:
    """Store lessons in their order, a batch a transaction; near duplicates are not looked for."""
    cleaned = [clean(draft, memory_id) for draft, memory_id in items]
    recorded: list[Recorded] = []
    for start in range(0, len(cleaned), BATCH):
        recorded += _store_batch(engine, embed(engine, cleaned[start : start + BATCH]))
    return recorded


def _store_batch(engine: Engine, prepared: Sequence[Prepared]) -> list[Recorded]:
    with engine.write() as (_, connection):
        stored = [store(engine, connection, p) for p in prepared]
        rows = records.load(connection, {n for n, _ in stored}, engine.project_name)
        memories = engine.memories(connection, rows)
    return [_recorded(p, memories[n], created, None) for p, (n, created) in zip(prepared, stored, strict=True)]


def _recorded(prepared: Prepared, memory: Memory, created: bool, near: str | None) -> Recorded:
    return Recorded(
        memory=memory,
        created=created,
        possible_duplicate_of=near if created else None,
        redactions=prepared.redactions,
        degraded=(prepared.problem,) if created and prepared.problem else (),
    )


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


def _indexed(engine: Engine, connection: sqlite3.Connection, prepared: Prepared) -> records.Indexed:
    generation = engine.generation(connection, create=True)
    assert generation is not None  # noqa: S101 - create=True always returns one
    return records.Indexed(
        vectors=tuple((role, vector.tobytes()) for role, vector in prepared.vectors),
        generation=generation,
        terms=" ".join(terms(keyword_text(prepared.draft))),
    )


def _near_duplicate(engine: Engine, prepared: Prepared) -> str | None:
    """Return the id of the nearest active memory of the same outcome above the duplicate similarity."""
    if not prepared.vectors:
        return None
    with engine.read() as connection:
        if connection is None or engine.generation(connection) is None:
            return None
        found = engine.nearest(connection, prepared.vectors[0][1], 8)
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
    before = get(engine, memory_id)
    fields = Draft.model_fields.keys() - {"confidence"}
    draft = validated(
        Draft, {name: getattr(before, name) for name in fields} | {"confidence": before.initial_confidence} | changes
    )
    (prepared,) = prepare(engine, [(draft, memory_id)])
    says_something_else = any(getattr(prepared.draft, name) != getattr(before, name) for name in SAID)
    with engine.write_existing() as opened:
        n = None if opened is None else records.find(opened[1], memory_id)
        if opened is None or n is None:
            raise MemoryNotFoundError(memory_id)
        connection = opened[1]
        records.rewrite(
            connection,
            n,
            prepared.draft,
            _indexed(engine, connection, prepared),
            state=_state_after(before, prepared, says_something_else),
            findings=prepared.findings,
            scrub_version=RULES_VERSION,
            says_something_else=says_something_else,
            now=engine.now(),
        )
        return engine.memories(connection, records.load(connection, [n], engine.project_name))[n]


def _state_after(before: Memory, prepared: Prepared, says_something_else: bool) -> State:
    # A person's approval or archiving holds for what the memory said then.
    return prepared.state if says_something_else and before.state is not State.ARCHIVED else before.state


def delete(engine: Engine, memory_ids: Iterable[str]) -> dict[str, bool]:
    """Delete memories; say for each id whether there was one."""
    ids = [checked_id(memory_id) for memory_id in memory_ids]
    with engine.write_existing() as opened:
        if opened is None:
            return dict.fromkeys(ids, False)
        deleted: dict[str, bool] = {}
        for memory_id in ids:
            n = records.find(opened[1], memory_id)
            deleted[memory_id] = n is not None or deleted.get(memory_id, False)
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
        return served(engine, connection, [n])[n]


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


def served(engine: Engine, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Memory]:
    """Return memories as they may be shown, by row number, in the given order; numbers that are gone are left out.

    A record that went through older scrubbing rules goes through the present ones on its way out.
    """
    rows = records.load(connection, numbers, engine.project_name)
    memories = engine.memories(connection, {n: rows[n] for n in numbers if n in rows})
    return {n: rescrubbed(m) if rows[n].scrub_version < RULES_VERSION else m for n, m in memories.items()}


def rescrubbed(memory: Memory) -> Memory:
    """Return the memory with every string through the present rules."""
    texts = {name: scrub(getattr(memory, name)).text for name in SAID}
    tags, _ = scrub_value(list(memory.tags))
    metadata, _ = scrub_value(memory.metadata)
    return memory.model_copy(update={**texts, "tags": tuple(tags), "metadata": metadata})
