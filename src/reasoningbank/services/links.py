"""Links: set, removed and shown by hand; suggested from what is used together and what is alike."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from reasoningbank.errors import InvalidInputError
from reasoningbank.links import (
    NEAR,
    SHARED_RUNS,
    SUPERSEDES,
    Link,
    Linked,
    SuggestedLink,
    by_co_use,
    by_similarity,
    checked_evidence,
    checked_strength,
    checked_type,
)
from reasoningbank.screening.door import clean
from reasoningbank.services.cache.shown import shown_link
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.history import retire_for
from reasoningbank.services.record.record import number_of
from reasoningbank.storage import links
from reasoningbank.storage.links import LessonRow
from reasoningbank.vectors.base import Float32
from reasoningbank.verdict import Verdict

# So many similarities are held at once, 64 MB of them, however many memories there are.
BLOCK = 16_000_000


def link(
    engine: Engine, source_id: str, target_id: str, type_: str, *, strength: float, evidence: str, by: str | None
) -> Linked:
    """Set a link between two memories of this project; set again, it is changed."""
    name, warning = checked_type(type_)
    strength, evidence = checked_strength(strength), clean(checked_evidence(evidence), engine.rules)
    if source_id == target_id:
        raise InvalidInputError(f"memory {source_id!r} cannot be linked with itself: name two memories")
    with engine.write(create=False) as edit:
        ends = number_of(edit, source_id), number_of(edit, target_id)
        if name == SUPERSEDES:
            retire_for(edit, ends[1], ends[0], reason=evidence, by=clean(by or "", engine.rules))
            warning = f"memory {target_id!r} is out of service now; restore puts it back"
        created = links.put(
            edit, ends, name, strength=strength, evidence=evidence, by=clean(by or "", engine.rules), now=engine.now()
        )
        return Linked(links.between(edit, ends, name), created, warning)


def unlink(engine: Engine, source_id: str, target_id: str, type_: str | None) -> int:
    """Remove the links from one memory to another; return how many there were."""
    name = None if type_ is None else checked_type(type_)[0]
    with engine.write(create=False) as edit:
        return links.remove(edit, (number_of(edit, source_id), number_of(edit, target_id)), name)


def links_of(engine: Engine, memory_id: str) -> list[Link]:
    """Return the links of a memory, from it and to it."""
    with engine.read() as view:
        return [shown_link(found, engine.rules) for found in links.of_memory(view, number_of(view, memory_id))]


def suggest_links(engine: Engine, limit: int) -> list[SuggestedLink]:
    """Return links that co-use and similarity speak for, the strongest first; pairs that are linked are left out."""
    with engine.read() as view:
        linked = links.linked_pairs(view)
        shared = links.used_together(view, SHARED_RUNS)
        names = links.ids_of(view, [n for one, other, _ in shared for n in (one, other)])
        lessons = links.lesson_rows(view)
    best: dict[tuple[int, int], SuggestedLink] = {}
    for one, other, runs in shared:
        if (one, other) not in linked and (found := by_co_use(names[one], names[other], runs)):
            best[one, other] = found
    alike = (pair for pair in _alike(lessons) if pair[0] not in linked)
    for pair, found in heapq.nlargest(limit, alike, key=lambda pair: pair[1].strength):
        if pair not in best or found.strength > best[pair].strength:
            best[pair] = found
    ordered = sorted(best.items(), key=lambda pair: (-pair[1].strength, pair[0]))
    return [suggestion for _, suggestion in ordered[:limit]]


def _alike(lessons: list[LessonRow]) -> Iterator[tuple[tuple[int, int], SuggestedLink]]:
    """Yield links that similarity speaks for, from the later memory to the older, with the pair of their numbers."""
    for i, j, cosine in near_pairs(np.array([np.frombuffer(row[3], dtype=np.float32) for row in lessons])):
        older, later = lessons[i], lessons[j]
        if found := by_similarity(later[1], older[1], (Verdict(later[2]), Verdict(older[2])), cosine):
            yield (older[0], later[0]), found


def near_pairs(vectors: Float32, above: float = NEAR) -> Iterator[tuple[int, int, float]]:
    """Yield (row, later row, cosine) of every pair of unit rows whose cosine is above `above`, strictly."""
    rows = max(1, BLOCK // max(1, len(vectors)))
    for start in range(0, len(vectors), rows):
        cosines = vectors[start : start + rows] @ vectors[start:].T
        for i, j in np.argwhere(np.triu(cosines > above, k=1)).tolist():
            yield start + i, start + j, float(cosines[i, j])
