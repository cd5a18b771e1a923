"""Which lessons are worth sharing: those that several projects found out, and those that name nothing of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reasoningbank.belief.pooled import for_others
from reasoningbank.filters import Filters
from reasoningbank.memory import Memory, State
from reasoningbank.services.engine import Engine
from reasoningbank.services.links import near_pairs
from reasoningbank.services.sharing.promote import check
from reasoningbank.services.upkeep.consolidate import as_lesson
from reasoningbank.services.view import View
from reasoningbank.sharing.results import Suggestion
from reasoningbank.signals import SignalKind, Tally
from reasoningbank.storage import records, sharing
from reasoningbank.upkeep.consolidation import contradict
from reasoningbank.vectors.base import Float32

FEWEST_PROJECTS = 3
FEWEST_SUCCESSES = 5.0
"""What one project must have seen of a lesson that nobody else has."""
SURE = 0.5
"""And be nine in ten sure of: that it helps more often than this. Among many lessons some have luck."""

PAGE = 500


@dataclass(frozen=True, slots=True)
class _Lesson:
    project: str
    memory: Memory
    vector: Float32
    proven: bool
    low: float
    tallies: tuple[Tally, ...]
    successes: float
    failures: float


def suggest(projects: Sequence[Engine], bank: Engine, names: Sequence[str] = ()) -> list[Suggestion]:
    """Return what is proven in three projects or more, or beyond luck in one and says nothing that only this one has.

    What as many projects found to fail, or more, is not suggested; what they saw counts in any case.
    Near-duplicates of several projects are one suggestion, with the evidence of all. What the shared bank has in any
    state, or had, is not suggested again.
    """
    with bank.read() as view:
        known = [*_lessons(view, bank.project_name)]
        linked = {(o.source, o.origin) for n in _numbers(view) for o in sharing.origins(view, n)}
    found = []
    for engine in projects:
        with engine.read() as view:
            found += [each for each in _lessons(view, engine.project_name) if each.successes or each.failures]
    every = [*known, *(each for each in found if (each.project, each.memory.id) not in linked)]
    if not every:
        return []
    least = bank.settings.duplicate_similarity
    group = [*range(len(every))]
    for i, j, _ in near_pairs(np.array([each.vector for each in every]), least):
        if _say_the_same(every[i].memory, every[j].memory):
            kept, gone = sorted((_root(group, i), _root(group, j)))
            group[gone] = kept
    clusters: dict[int, list[_Lesson]] = {}
    for place, each in enumerate(every):
        clusters.setdefault(_root(group, place), []).append(each)
    # What the shared bank has is first of its group.
    fresh = [cluster for root, cluster in clusters.items() if root >= len(known)]
    made = (_suggestion(bank.project_name, cluster, names) for cluster in fresh)
    return sorted(filter(None, made), key=lambda s: (-len({p for p, _ in s.origins}), -s.confidence, s.origins))


def _suggestion(bank: str, cluster: Sequence[_Lesson], names: Sequence[str]) -> Suggestion | None:
    ordered = sorted(cluster, key=lambda each: (not each.proven, -each.memory.confidence, each.project, each.memory.id))
    proven, first = [each for each in ordered if each.proven], ordered[0]
    projects, initial = {each.project for each in proven}, min(each.memory.initial_confidence for each in ordered)
    failed = {each.project for each in ordered if not each.proven and each.failures > each.successes}
    if len(failed) >= len(projects):
        return None
    if len(projects) >= FEWEST_PROJECTS:
        reason = f"proven in {len(projects)} projects"
    elif sum(e.successes for e in proven if e.low >= SURE) >= FEWEST_SUCCESSES and not check(first.memory, {}, names):
        reason = f"proven in {first.project}, and names nothing that only this project has"
    else:
        return None
    return Suggestion(
        bank=bank,
        origins=tuple((each.project, each.memory.id) for each in ordered),
        title=first.memory.title,
        confidence=for_others([(each.project, each.tallies) for each in ordered], initial),
        successes=sum(each.successes for each in ordered),
        failures=sum(each.failures for each in ordered),
        reason=reason,
    )


def _root(group: Sequence[int], place: int) -> int:
    while group[place] != place:
        place = group[place]
    return place


def _say_the_same(one: Memory, other: Memory) -> bool:
    return one.outcome is other.outcome and not contradict(as_lesson(one), as_lesson(other))


def _numbers(view: View) -> Iterator[int]:
    after = 0
    while numbers := records.page(view, Filters(states=tuple(State)), after, PAGE):
        yield from numbers
        after = numbers[-1]


def _lessons(view: View, project: str) -> Iterator[_Lesson]:
    """Yield the lessons of a bank that have a vector, with what is known of them."""
    engine = view.engine
    engine.cache.follow(view)
    generation = view.moment.generation
    if generation is None:
        return
    numbers, floor = [*_numbers(view)], engine.settings.floor
    for start in range(0, len(numbers), PAGE):
        batch = np.array(numbers[start : start + PAGE], dtype=np.int64)
        ids = engine.cache.candidates(view, batch)["first"]
        vectors = engine.cache.vectors.vectors(view, ids, generation.dim)
        rows = view.load(batch.tolist())
        memories, beliefs = view.shown(rows), view.beliefs(rows.values())
        for n, has, vector in zip(batch.tolist(), ids.tolist(), vectors, strict=True):
            if n in rows and has:
                told = [t for t in rows[n].tallies if t.kind is not SignalKind.USAGE]
                serving = memories[n].state is State.ACTIVE and not memories[n].has_expired(engine.now())
                proven = bool(told) and serving and memories[n].confidence >= floor
                good, bad = sum(t.positive for t in told), sum(t.negative for t in told)
                yield _Lesson(project, memories[n], vector, proven, beliefs[n].low, rows[n].tallies, good, bad)
