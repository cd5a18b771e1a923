"""Recording, changing, deleting and reading memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reasoningbank.arguments import cursor, cursor_at
from reasoningbank.diagnostics import mentioned, written
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.filters import Filters
from reasoningbank.memory import SAID, Draft, Memory, State, own
from reasoningbank.results import Page, Recorded
from reasoningbank.screening.scrub import RULES_VERSION
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.storing import as_stored, store_all
from reasoningbank.services.search import left_out
from reasoningbank.services.view import View
from reasoningbank.storage import records, sameness
from reasoningbank.storage.records import Place
from reasoningbank.storage.stored import Stored
from reasoningbank.validation import validated

# About 50 ms of writing, so that other writers are not kept waiting.
BATCH = 200

LONGEST_PAGE = 1_000

# The texts that name the errors a lesson answers, in the order in which they are read.
NAMING = ("title", "description", "applies_when", "content")

# What an update leaves as it is unless it names it; changed by somebody else meanwhile, it is read again.
_MORE = ("occurred_at", "expires_at", "signatures")
KEPT = (*SAID, "outcome", "tags", "initial_confidence", "source", "metadata", *_MORE, "state", "revision")


def record(engine: Engine, draft: Draft, memory_id: str | None = None) -> Recorded:
    """Store one lesson, unless the same one is there already."""
    cleaned = clean(draft, memory_id)
    return engine.with_embedder(lambda embedder: _record(engine, *embed(embedder, [cleaned])))


def _record(engine: Engine, prepared: Prepared) -> Recorded:
    alike = near(engine, prepared, known_too=False)
    with engine.write() as edit:
        (recorded,) = store_all(edit, [prepared])
    if not recorded.created or recorded.possible_duplicate_of or not alike:
        return recorded
    return replace(recorded, possible_duplicate_of=alike[0].id)


def record_many(engine: Engine, items: Sequence[tuple[Draft, str | None]]) -> list[Recorded]:
    """Store lessons in their order, a batch a transaction; those that are near by meaning are not looked for."""
    cleaned = [clean(draft, memory_id) for draft, memory_id in items]
    batches = (cleaned[start : start + BATCH] for start in range(0, len(cleaned), BATCH))
    return [each for batch in batches for each in engine.with_embedder(partial(_store_batch, engine, batch))]


def _store_batch(engine: Engine, cleaned: Sequence[Prepared], embedder: Embedder) -> list[Recorded]:
    prepared = embed(embedder, cleaned)
    with engine.write() as edit:
        return store_all(edit, prepared)


def near(engine: Engine, prepared: Prepared, *, known_too: bool = True) -> list[Memory]:
    """Return active memories of the same outcome above the duplicate similarity, the nearest first.

    Without `known_too`, none when the same lesson is there in so many words, which is quick to tell.
    """
    if not prepared.vectors or prepared.embedder is None:
        return []
    with engine.read() as view:
        view.check_embedder(prepared.embedder)
        least = engine.settings.duplicate_similarity
        owners, cosines = engine.cache.vectors.nearest(view, prepared.vectors[0][1], 8, least=least)
        close = owners[cosines > least].tolist()
        if not close or (not known_too and sameness.in_service(view, prepared.identity)):
            return []
        rows, now = view.load(close), engine.now()
        memories = (rows[n].memory for n in close if n in rows)
        alike = (m for m in memories if m.outcome is prepared.draft.outcome and m.state is State.ACTIVE)
        return [memory for memory in alike if not memory.has_expired(now)]


def update(engine: Engine, memory_id: str, changes: dict[str, Any]) -> Memory:
    """Change some fields of a memory; what is not named stays."""
    while True:
        with engine.read() as view:
            n = number_of(view, memory_id)
            before = view.load([n])[n]
        shown = rescrubbed(before.memory, before.scrub_version)
        kept = {name: getattr(shown, name) for name in Draft.model_fields.keys() - {"confidence"}}
        if kept["signatures"] == tuple(map(written, mentioned(*(getattr(before.memory, name) for name in NAMING)))):
            kept["signatures"] = None  # they came of its text, and go on to
        draft = validated(Draft, kept | {"confidence": shown.initial_confidence} | changes)
        rewrite = partial(_rewrite, engine, before, clean(draft, memory_id))
        if (after := engine.with_embedder(rewrite)) is not None:
            return after


def _rewrite(engine: Engine, before: Stored, cleaned: Prepared, embedder: Embedder) -> Memory | None:
    """Store a changed memory; None when somebody else changed it since `before`."""
    (prepared,) = embed(embedder, [cleaned])
    says_something_else = any(getattr(prepared.draft, name) != getattr(before.memory, name) for name in SAID)
    # A person's approval or archiving holds for what the memory said then.
    judged_anew = says_something_else and before.memory.state is not State.ARCHIVED
    state = prepared.state if judged_anew else before.memory.state
    with engine.write(create=False) as edit:
        present = edit.load([before.n]).get(before.n)
        if present is None:
            raise MemoryNotFoundError(before.memory.id)
        if any(getattr(present.memory, name) != getattr(before.memory, name) for name in KEPT):
            return None
        twin = sameness.in_service(edit, prepared.identity, before.n)
        if twin is not None and state is State.ACTIVE:
            raise InvalidInputError(f"memory {twin!r} says this already: archive or delete one of the two")
        records.rewrite(
            edit,
            before.n,
            as_stored(prepared, state, prepared.findings),
            generation=edit.generation(embedder.identity),
            scrub_version=RULES_VERSION,
            says_something_else=says_something_else,
            now=engine.now(),
        )
        return edit.memories(edit.load([before.n]))[before.n]


def delete(engine: Engine, memory_ids: Sequence[str]) -> dict[str, bool]:
    """Delete memories; say for each id whether there was one."""
    with engine.write(create=False) as edit:
        numbers = records.numbers_of(edit, memory_ids)
        for n in numbers.values():
            records.delete(edit, n)
    return {memory_id: memory_id in numbers for memory_id in memory_ids}


def number_of(view: View, memory_id: str) -> int:
    """Return the row number of a memory; MemoryNotFoundError when there is none with this id in this project."""
    n = records.find(view, memory_id)
    if n is None:
        raise MemoryNotFoundError(memory_id)
    return n


def get(engine: Engine, memory_id: str) -> Memory:
    """Return a memory, whatever its state."""
    with engine.read() as view:
        n = number_of(view, memory_id)
        engine.cache.follow(view)
        return own(engine.cache.known(view, np.array([n]))["memory"][0])


def page(engine: Engine, filters: Filters, after: int, limit: int) -> Page:
    """Return up to `limit` memories behind `after`, in the order they were recorded."""
    with engine.read() as view:
        numbers = records.page(view, filters, after, limit + 1)
        following = cursor("memories", numbers[limit - 1]) if len(numbers) > limit else None
        return _page(view, filters, numbers[:limit], following, is_first=not after)


def newest_page(engine: Engine, filters: Filters, after: Place, limit: int) -> Page:
    """Return up to `limit` memories behind `after`, those of what happened last first."""
    with engine.read() as view:
        found = records.newest(view, filters, after, limit + 1)
        following = cursor_at(found[limit - 1]) if len(found) > limit else None
        return _page(view, filters, [n for n, _ in found[:limit]], following, is_first=after == records.LATEST)


def _page(view: View, filters: Filters, numbers: Sequence[int], following: str | None, *, is_first: bool) -> Page:
    withheld = left_out.by_filters(view, filters) if is_first and not numbers else {}
    return Page(tuple(view.shown(numbers).values()), following, withheld)


def count(engine: Engine, filters: Filters) -> int:
    """Return how many memories pass the filters; InvalidInputError where no memory has what they ask of metadata."""
    with engine.read() as view:
        many = records.count(view, filters)
        if not many:
            left_out.check_metadata(view, filters)
        return many
