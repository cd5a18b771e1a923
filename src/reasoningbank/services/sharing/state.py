"""What a handle sees of its shared banks, and which of them a memory is in."""

from __future__ import annotations

from contextlib import suppress

from reasoningbank.errors import MemoryNotFoundError, ReasoningBankError
from reasoningbank.memory import Memory
from reasoningbank.services.record import record
from reasoningbank.services.sharing.engine import MemberEngine
from reasoningbank.services.sharing.levels import Levels
from reasoningbank.services.sharing.promote import linked as linked_in
from reasoningbank.sharing.results import Linked
from reasoningbank.status import SharedStatus
from reasoningbank.storage import records, sharing
from reasoningbank.storage.contract import by_state


def status(levels: Levels) -> list[SharedStatus]:
    """Say of each shared bank what this handle may do there, and what is in it; of one that is closed why."""
    with levels.own.read() as own:
        due = dict(sharing.count_due(own))
    found = []
    for name, engine in levels.banks.items():
        try:
            with engine.read() as view:
                may, memories = engine.right(view), by_state(view, "memories")
        except ReasoningBankError as error:
            found.append(SharedStatus(name, problem=str(error), due=due.get(name, 0)))
        else:
            found.append(SharedStatus(name, may, memories, due=due.get(name, 0)))
    return found


def holding(levels: Levels, memory_id: str) -> MemberEngine:
    """Return the shared bank that a memory is in; MemoryNotFoundError when it is in none that is open."""
    for engine in levels.banks.values():
        try:
            with engine.read() as view:
                if records.find(view, memory_id) is not None:
                    return engine
        except ReasoningBankError:
            # Closed or broken: for this handle it is not there.
            continue
    raise MemoryNotFoundError(memory_id)


def get(levels: Levels, memory_id: str) -> Memory:
    """Return a memory of the project or of a shared bank."""
    try:
        return record.get(levels.own, memory_id)
    except MemoryNotFoundError:
        return record.get(holding(levels, memory_id), memory_id)


def resolve(levels: Levels, beginning: str) -> str:
    """Return the one id of a memory of any level that begins so; what was given when there is none."""
    found = record.beginning_so(levels.own, beginning, "memory")
    for engine in levels.banks.values():
        with suppress(ReasoningBankError):
            found += record.beginning_so(engine, beginning, "memory")
    return record.the_one(beginning, found)


def linked(levels: Levels) -> list[Linked]:
    """Return the shared lessons that came from the project, of every bank that is open."""
    found = []
    for engine in levels.banks.values():
        try:
            found += linked_in(engine)
        except ReasoningBankError:
            continue
    return found
