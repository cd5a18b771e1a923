"""Recording, changing, deleting and reading memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from reasoningbank.arguments import cursor, cursor_at
from reasoningbank.belief.belief import SURE_DEVIATIONS, Standing
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.filters import Filters
from reasoningbank.memory import Draft, Memory, State, own
from reasoningbank.results import Page, Recorded
from reasoningbank.services.cache.columns import Table
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.storing import store_all
from reasoningbank.services.search import left_out
from reasoningbank.services.view import View
from reasoningbank.storage import prefixes, records, revisions, sameness
from reasoningbank.storage.records import Place

# About 50 ms of writing, so that other writers are not kept waiting.
BATCH = 200

LONGEST_PAGE = 1_000
# Ids that an error names.
SHOWN = 5


def record(engine: Engine, draft: Draft, memory_id: str | None = None) -> Recorded:
    """Store one lesson, unless the same one is there already."""
    cleaned = clean(draft, memory_id, engine.rules)
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
    cleaned = [clean(draft, memory_id, engine.rules) for draft, memory_id in items]
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


def delete(engine: Engine, memory_ids: Sequence[str], *, mark: bool) -> dict[str, bool]:
    """Delete memories; say for each id whether there was one. With `mark`, they are known when they come again."""
    with engine.write(create=False) as edit:
        numbers = records.numbers_of(edit, memory_ids)
        for n in numbers.values():
            if mark:
                said = [sameness.identity_of(edit, n), *(row.identity for row in revisions.of_memory(edit, n))]
                revisions.mark(edit, said, engine.now())
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
        memory = engine.cache.known(view, np.array([n]))["memory"][0]
        return own(view.row(n).memory if memory is None else memory)


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
    return page_of(view, numbers, following, withheld)


def page_of(
    view: View, numbers: Sequence[int], following: str | None, withheld: Mapping[str, int] | None = None
) -> Page:
    """Return the page of these memories, in their order, with where each of them stands."""
    view.engine.cache.follow(view)
    shown = view.shown(numbers)
    stand = standings(view.engine.cache.standing(view, np.array([*shown], dtype=np.int64)), view.engine.settings.floor)
    by_id = {memory.id: str(stands) for memory, stands in zip(shown.values(), stand, strict=True)}
    return Page(tuple(shown.values()), following, dict(withheld or {}), by_id)


def standings(table: Table, floor: float) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return where each memory stands at the floor, of the STANDING columns, as `belief.standing` tells of one."""
    found = np.full(len(table), Standing.PROVISIONAL, dtype=object)
    found[table["mean"] + SURE_DEVIATIONS * table["deviation"] < floor] = Standing.REJECTED
    found[table["mean"] >= floor] = Standing.PROVEN
    return found


def count(engine: Engine, filters: Filters) -> int:
    """Return how many memories pass the filters; InvalidInputError where no memory has what they ask of metadata."""
    with engine.read() as view:
        many = records.count(view, filters)
        if not many:
            left_out.check_metadata(view, filters)
        return many


def resolve(engine: Engine, beginning: str, kind: str) -> str:
    """Return the one id that begins so; what was given when there is none."""
    return the_one(beginning, beginning_so(engine, beginning, kind))


def beginning_so(engine: Engine, beginning: str, kind: str) -> list[str]:
    """Return the ids that begin so, as many as `the_one` names and one more."""
    with engine.read() as view:
        return prefixes.ids_beginning(view, kind, beginning, SHOWN + 1)


def the_one(beginning: str, found: Sequence[str]) -> str:
    """Return the one id of those that begin so; what was given when there is none, an error when there are several."""
    if len(found) > 1:
        names = ", ".join(found[:SHOWN]) + (", …" if len(found) > SHOWN else "")
        raise InvalidInputError(f"{beginning!r} is the beginning of several: {names}; give more of it")
    return found[0] if found else beginning
