"""What comes along with the hits of a recall: memories that they require, and which of them do not go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from reasoningbank.belief.belief import Belief, Standing, standing
from reasoningbank.links import Conflict, Required, Requires, required_by
from reasoningbank.memory import Memory
from reasoningbank.results import EXPIRED, Hit
from reasoningbank.services.cache.shown import rescrubbed, shown_link
from reasoningbank.services.search.above import of_level
from reasoningbank.services.view import View
from reasoningbank.storage import links


@dataclass(frozen=True, slots=True)
class Expanded:
    """Hits with what they require.

    Attributes:
        hits: each followed by what it requires.
        numbers: row numbers by id.
        required: ids of those that came along.
        withheld: how many required memories were not brought along, by reason.
    """

    hits: tuple[Hit, ...]
    numbers: dict[str, int]
    required: tuple[str, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)


def with_required(
    view: View, hits: Mapping[str, Hit], numbers: Mapping[str, int], *, floor: float, strict: bool
) -> Expanded:
    """Bring along what hits require, and what that requires.

    What a search would withhold stays withheld: rejected memories, unproven ones with `strict`, those that are not
    active or have expired, and a second one of an untrusted source. Hits and row numbers are by the memory's id, best
    first.
    """
    found = required_by(list(numbers.values()), partial(_requirements, view))
    rows = view.load([r.n for r in found]) if found else {}
    beliefs = view.beliefs(rows.values())
    rules = view.engine.rules
    memories = {n: rescrubbed(row.believed(beliefs[n].mean), row.scrub_version, rules) for n, row in rows.items()}
    owners = {n: memory_id for memory_id, n in numbers.items()}
    brought = _Brought(hits, floor, strict, view.engine.now())
    for required in found:
        if (n := required.n) in memories and required.by in owners:
            owners[n] = brought.add(required, owners[required.by], memories[n], beliefs[n])
    known = dict(numbers) | {memory.id: n for n, memory in memories.items() if memory.id in brought.required}
    return Expanded(tuple(brought.in_order()), known, tuple(brought.required), dict(brought.withheld))


def _requirements(view: View, numbers: Sequence[int]) -> Requires:
    """Return what each of these memories requires, in the bank that it is in."""
    every = view.each(
        lambda one, first: {
            n + first: [(target + first, strength) for target, strength in required]
            for n, required in links.requirements(one, of_level(numbers, first)).items()
        }
    )
    return {n: required for each in every for n, required in each.items()}


class _Brought:
    """Hits, and what came along with each."""

    def __init__(self, hits: Mapping[str, Hit], floor: float, strict: bool, now: datetime) -> None:
        self._hits, self._floor, self._strict, self._now = dict(hits), floor, strict, now
        self._following: dict[str, list[str]] = {}
        self._first = list(hits)
        self.required: list[str] = []
        self.withheld: Counter[str] = Counter()

    def add(self, required: Required, owner: str, memory: Memory, belief: Belief) -> str:
        """Bring a memory along, unless it has to be withheld; return the id that its own requirements follow."""
        stands = standing(belief, self._floor)
        if reason := self._reason(stands, memory):
            self.withheld[reason] += 1
            return owner
        self._hits[memory.id] = Hit(
            memory=memory,
            similarity=0.0,
            keyword=0.0,
            score=self._hits[owner].score * required.strength,
            confidence=belief.mean,
            deviation=belief.deviation,
            provisional=stands is not Standing.PROVEN,
            why={"required": required.strength},
        )
        self._following.setdefault(owner, []).append(memory.id)
        self.required.append(memory.id)
        return memory.id

    def _reason(self, stands: Standing, memory: Memory) -> str:
        if memory.has_expired(self._now):
            return EXPIRED
        if stands is Standing.REJECTED:
            return "rejected"
        if self._strict and stands is not Standing.PROVEN:
            return "provisional"
        return "untrusted source" if _source(memory) in {_source(hit.memory) for hit in self._hits.values()} else ""

    def in_order(self) -> list[Hit]:
        """Return every hit, each followed by what it requires."""
        ordered, waiting = [], self._first[::-1]
        while waiting:
            memory_id = waiting.pop()
            ordered.append(self._hits[memory_id])
            waiting += self._following.get(memory_id, ())[::-1]
        return ordered


def _source(memory: Memory) -> str:
    """Return the name of an untrusted source; one of its own for a memory that is trusted."""
    source = memory.source
    return f"trusted {memory.id}" if source.trusted else source.by or source.session or source.how


def conflicts(view: View, numbers: Sequence[int]) -> tuple[Conflict, ...]:
    """Return which of these memories (row numbers) cannot both be followed, the strongest conflict first."""
    if len(numbers) < 2:
        return ()
    opposed = view.each(lambda one, first: links.opposed(one, of_level(numbers, first)))
    found = (shown_link(link, view.engine.rules) for each in opposed for link in each)
    return tuple(Conflict(each.source, each.target, each.type, each.strength, each.evidence) for each in found)


def among(found: Sequence[Conflict], memory_ids: Collection[str]) -> tuple[Conflict, ...]:
    """Return the conflicts of which both memories are among these."""
    return tuple(conflict for conflict in found if conflict.one in memory_ids and conflict.other in memory_ids)
