"""Consolidation of a bank: propose merges, carry them out one transaction each, and undo one."""

from __future__ import annotations

import heapq
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations

import numpy as np

from reasoningbank.distill.distiller import merge
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import DistillationError, InvalidInputError, MemoryNotFoundError
from reasoningbank.llm.base import Chat
from reasoningbank.memory import TAGS_LIMIT, Draft, Memory, State
from reasoningbank.results import Change, Consolidated, Unmerged
from reasoningbank.search.terms import lesson_text
from reasoningbank.services import links
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import clean, embed
from reasoningbank.services.record.record import number_of
from reasoningbank.services.record.storing import store
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import links as link_rows
from reasoningbank.storage import merges, meta, pins, records, sameness, trust
from reasoningbank.storage.links import LessonRow
from reasoningbank.upkeep.consolidation import Lesson, Pair, Proposals, may_merge, merged_confidence, proposals
from reasoningbank.upkeep.likeness import wording
from reasoningbank.validation import validated

LAST = "consolidated_at"
EVERY = timedelta(days=1)
# A bank in which everything resembles everything is not made of duplicates: the nearest pairs are looked at.
MOST_PAIRS = 200_000
UNDONE = "its merge was undone"
MERGED_FROM = "merged_from"
# Who sets the links between memories that speak against each other.
BY = "consolidation"


def consolidate(
    engine: Engine,
    now: datetime,
    *,
    threshold: float,
    dry_run: bool,
    max_clusters: int | None,
    chat: Chat | None,
    force: bool,
) -> Consolidated:
    """Propose merges and links; without `dry_run` carry the merges out, at most once a day unless forced."""
    if not dry_run and not take_turn(engine, LAST, now, force=force):
        return Consolidated(due=False)
    found = propose(engine, threshold, max_clusters)
    if dry_run:
        return Consolidated((*found.merges, *found.links), found.asked)
    done, skipped = [], []
    for change in found.merges:
        try:
            result = engine.with_embedder(partial(_merge, engine, change, chat))
        except (DistillationError, InvalidInputError) as error:
            skipped.append(replace(change, reason=str(error)))
            continue
        if result is None:
            skipped.append(replace(change, reason="its memories were changed meanwhile"))
        else:
            done.append(replace(change, result=result))
    for change in found.links:
        done += _link(engine, change)
    return Consolidated(tuple(done), found.asked, tuple(skipped))


def take_turn(engine: Engine, name: str, now: datetime, *, force: bool = False) -> bool:
    """Take this day's turn; False when somebody had it. Of several processes at once one gets it.

    The time of the last turn is kept in the project's database under `name`; `force` takes it whenever that was.
    """
    if engine.project() is None:
        return False
    with engine.write() as edit:
        last = meta.read(edit).get(name)
        # A time to come was written by a clock that was wrong: it takes no turn away.
        if not force and last is not None and abs(now - parse_time(last)) < EVERY:
            return False
        meta.put(edit, name, time_text(now))
        return True


# -- proposing -----------------------------------------------------------------------------------------------------


def propose(engine: Engine, threshold: float, max_clusters: int | None = None) -> Proposals:
    """Return what could be merged or linked among the active memories. Changes nothing."""
    with engine.read() as view:
        pinned = dict(pins.every_pin(view))
        rows = [row for row in link_rows.lesson_rows(view) if row[0] not in pinned]
        pairs = _near(rows, threshold)
        named = sorted({i for first, second, _ in pairs for i in (first, second)})
        memories = view.shown([rows[i][0] for i in named])
        undone = [metadata.get(MERGED_FROM, []) for metadata in trust.metadata_of_archived(view, UNDONE)]
    # Pairs whose merge somebody undid are not proposed again.
    apart = {frozenset(pair) for ids in undone for pair in combinations(ids, 2)}
    lessons = [as_lesson(memories[rows[i][0]]) for i in named]
    place = {i: at for at, i in enumerate(named)}
    near = (Pair(place[first], place[second], cosine) for first, second, cosine in pairs)
    fresh = [pair for pair in near if frozenset((lessons[pair.first].id, lessons[pair.second].id)) not in apart]
    return proposals(lessons, fresh, max_clusters)


def _near(rows: Sequence[LessonRow], threshold: float) -> list[tuple[int, int, float]]:
    """Return two rows and their cosine where it is above the threshold, the nearest first, in a fixed order."""
    vectors = np.array([np.frombuffer(vector, dtype=np.float32) for *_, vector in rows])
    found = ((i, j, min(round(cosine, 6), 1.0)) for i, j, cosine in links.near_pairs(vectors, threshold))
    return heapq.nsmallest(MOST_PAIRS, found, key=lambda pair: (-pair[2], pair[:2]))


def as_lesson(memory: Memory) -> Lesson:
    """Return what consolidation knows of a memory."""
    text = lesson_text(memory)
    return Lesson(
        id=memory.id,
        outcome=memory.outcome,
        source=memory.source,
        wording=wording(text),
        applies=wording(memory.applies_when) if memory.applies_when else None,
        confidence=memory.confidence,
        uses=memory.usage_count,
        made=memory.created_at,
        text=text,
        when=memory.applies_when or "",
    )


# -- merging -------------------------------------------------------------------------------------------------------


def merge_these(engine: Engine, memory_ids: Sequence[str], chat: Chat | None) -> Memory:
    """Merge memories because somebody says so, whatever their words; the text of the first stands."""
    with engine.read() as view:
        numbers = records.numbers_of(view, memory_ids)
        if missing := [one for one in memory_ids if one not in numbers]:
            raise MemoryNotFoundError(missing[0])
        found = _sources(view, memory_ids)
    if found is None:
        raise InvalidInputError("a memory to merge is not in service: restore or approve it first")
    lessons = [as_lesson(memory) for memory in found.values()]
    if not all(may_merge(lessons[0], lesson) for lesson in lessons):
        raise InvalidInputError(
            "only memories of one outcome are merged, and untrusted ones only with others of the same source"
        )
    change = Change("merge", tuple(memory_ids), "somebody said so")
    result = engine.with_embedder(partial(_merge, engine, change, chat))
    if result is None:
        raise InvalidInputError("a memory to merge was changed meanwhile: look at it, and merge again")
    with engine.read() as view:
        (merged,) = view.shown([*records.numbers_of(view, [result]).values()]).values()
    return merged


def _merge(engine: Engine, change: Change, chat: Chat | None, embedder: Embedder) -> str | None:
    """Carry one merge out, and return the new memory's id; None when a source is not as it was proposed."""
    with engine.read() as view:
        sources = _sources(view, change.memories)
    if sources is None:
        return None
    draft = _draft(engine, list(sources.values()), chat)
    prepared = clean(draft, f"merged-{uuid.uuid4()}", engine.rules)
    if prepared.state is State.QUARANTINED:
        raise DistillationError(f"the merged lesson would be quarantined: {'; '.join(prepared.findings)}")
    (prepared,) = embed(embedder, [prepared])
    with engine.write(create=False) as edit:
        now, present = engine.now(), _sources(edit, change.memories)
        if present is None or any(present[n].revision != sources[n].revision for n in sources if n in present):
            return None
        trust.archive(edit, list(present), _merged_into(prepared.memory_id), now)
        if (other := sameness.in_service(edit, prepared.identity)) is not None:
            raise DistillationError(f"memory {other!r} says what the merged lesson would say")
        n = store(edit, [prepared], look_for_same=False)[0].n
        merges.put(edit, list(present), n, now)
        _carry_links(edit, list(present), n, now)
        return prepared.memory_id


def _link(engine: Engine, change: Change) -> list[Change]:
    """Set the link that a change proposes; nothing when its memories are gone, or were linked before."""
    one, other = change.memories
    try:
        linked = links.link(
            engine, one, other, change.link, strength=change.similarity or 1.0, evidence=change.reason, by=BY
        )
    except MemoryNotFoundError:
        return []
    return [change] if linked.created else []


def _carry_links(edit: Edit, sources: Sequence[int], result: int, now: datetime) -> None:
    """Link the merged memory with what its sources are linked with; their own links stay as they are."""
    rows = link_rows.ends_of(edit, sources)
    for source, target, kind, strength, evidence, by in rows:
        ends = (result if source in sources else source, result if target in sources else target)
        if ends[0] != ends[1]:
            link_rows.put(edit, ends, kind, strength=strength, evidence=evidence, by=by, now=now)


def _sources(view: View, ids: Sequence[str]) -> dict[int, Memory] | None:
    """Return the memories of these ids by row number, in that order; None unless all of them are there and active."""
    found = view.shown(list(records.numbers_of(view, ids).values()))
    whole = len(found) == len(ids) and all(memory.state is State.ACTIVE for memory in found.values())
    return found if whole else None


def _draft(engine: Engine, sources: Sequence[Memory], chat: Chat | None) -> Draft:
    """Return what the sources become: a model's words, or those of the first, the best of them."""
    best = sources[0]
    said = best if chat is None else merge(chat, sources)
    tags = tuple(dict.fromkeys(tag for memory in sources for tag in memory.tags))
    # The evidence of all comes along: what it starts from is what the best of them started from.
    starting = best.initial_confidence
    if engine.settings.confidence_model == "spec":
        starting = merged_confidence([(memory.confidence, memory.usage_count) for memory in sources])
    return validated(
        Draft,
        {
            "title": said.title,
            "content": said.content,
            "description": said.description,
            "applies_when": said.applies_when or best.applies_when,
            "outcome": best.outcome,
            "tags": tags[:TAGS_LIMIT],
            "confidence": starting,
            "source": said.source,
            "metadata": {**best.metadata, MERGED_FROM: [memory.id for memory in sources]},
        },
    )


# -- undoing -------------------------------------------------------------------------------------------------------


def undo_merge(engine: Engine, memory_id: str) -> Unmerged:
    """Restore what a memory was merged from, each with its own evidence, and archive the memory."""
    with engine.write(create=False) as edit:
        n, now = number_of(edit, memory_id), engine.now()
        # In a bank that was read from an export, only why they are archived says what they were merged into.
        sources = merges.sources_of(edit, n) or trust.archived_because(edit, _merged_into(memory_id))
        if not sources:
            raise InvalidInputError(f"memory {memory_id!r} was not merged from others; its metadata would name them")
        # First: it may say what a source says.
        trust.archive(edit, [n], UNDONE, now)
        done = trust.restore(edit, sources, now)
        shown = edit.shown([*done, *(source for source in sources if source not in done)])
        back, left = (tuple(shown[m].id for m in sources if (m in done) is there) for there in (True, False))
        return Unmerged(memory_id, back, left)


def _merged_into(memory_id: str) -> str:
    return f"{trust.MERGED}{memory_id}"
