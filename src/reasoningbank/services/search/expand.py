"""What comes along with the hits of a recall: memories that they require, and which of them do not go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from reasoningbank.belief.belief import Standing, standing
from reasoningbank.links import Conflict, Required, required_by
from reasoningbank.memory import Memory
from reasoningbank.results import Hit
from reasoningbank.services.cache.known import Known
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.shown import look_up, own, scrubbed_link
from reasoningbank.storage import links, records


@dataclass(frozen=True, slots=True)
class Expanded:
    """Hits with what they require.

    Attributes:
        hits: each followed by what it requires.
        required: ids of those that came along.
        withheld: how many required memories were not brought along, by reason.
    """

    hits: tuple[Hit, ...]
    required: tuple[str, ...] = ()
    withheld: dict[str, int] = field(default_factory=dict)


def with_required(engine: Engine, hits: Sequence[Hit], *, floor: float, strict: bool) -> Expanded:
    """Bring along what hits require, and what that requires.

    What a search would withhold stays withheld: rejected memories, unproven ones with `strict`, those that are not
    active, and a second one of an untrusted source.
    """
    with engine.read() as connection:
        numbers = records.numbers_of(connection, [hit.memory.id for hit in hits]) if connection is not None else {}
        if connection is None or not numbers:
            return Expanded(tuple(hits))
        found = required_by(list(numbers.values()), partial(links.requirements, connection))
        known = look_up(engine, connection, [r.n for r in found])
    owners = {n: memory_id for memory_id, n in numbers.items()}
    brought = _Brought({hit.memory.id: hit for hit in hits}, floor, strict)
    for required in found:
        if required.n in known and required.by in owners:
            owners[required.n] = brought.add(required, owners[required.by], known[required.n])
    return Expanded(tuple(brought.in_order()), tuple(brought.required), dict(brought.withheld))


class _Brought:
    """Hits, and what came along with each."""

    def __init__(self, hits: Mapping[str, Hit], floor: float, strict: bool) -> None:
        self._hits, self._floor, self._strict = dict(hits), floor, strict
        self._following: dict[str, list[str]] = {}
        self._first = list(hits)
        self.required: list[str] = []
        self.withheld: Counter[str] = Counter()

    def add(self, required: Required, owner: str, known: Known) -> str:
        """Bring a memory along, unless it has to be withheld; return the id that its own requirements follow."""
        stands = standing(known.belief, self._floor)
        if reason := self._reason(stands, known.memory):
            self.withheld[reason] += 1
            return owner
        memory_id = known.memory.id
        self._hits[memory_id] = Hit(
            memory=own(known.memory),
            similarity=0.0,
            keyword=0.0,
            score=self._hits[owner].score * required.strength,
            confidence=known.belief.mean,
            deviation=known.belief.deviation,
            provisional=stands is not Standing.PROVEN,
            why={"required": required.strength},
        )
        self._following.setdefault(owner, []).append(memory_id)
        self.required.append(memory_id)
        return memory_id

    def _reason(self, stands: Standing, memory: Memory) -> str:
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


def conflicts(engine: Engine, memory_ids: Sequence[str]) -> tuple[Conflict, ...]:
    """Return which of these memories cannot both be followed, the strongest conflict first."""
    with engine.read() as connection:
        if connection is None or len(memory_ids) < 2:
            return ()
        found = links.opposed(connection, list(records.numbers_of(connection, memory_ids).values()))
    shown = map(scrubbed_link, found)
    return tuple(Conflict(each.source, each.target, each.type, each.strength, each.evidence) for each in shown)


def among(found: Sequence[Conflict], memory_ids: Collection[str]) -> tuple[Conflict, ...]:
    """Return the conflicts of which both memories are among these."""
    return tuple(conflict for conflict in found if conflict.one in memory_ids and conflict.other in memory_ids)
