"""Which memories are in service: approving what was quarantined, archiving, and undoing that."""

from __future__ import annotations

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Memory, State
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.record import number_of
from reasoningbank.storage import records, trust


def approve(engine: Engine, memory_id: str) -> Memory:
    """Serve a quarantined memory from now on; what was found in it stays on record."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        if trust.state_of(edit, n) is not State.QUARANTINED:
            raise InvalidInputError(f"memory {memory_id!r} is not quarantined; list(state='quarantined') shows them")
        records.set_state(edit, n, State.ACTIVE, engine.now())
        return edit.shown([n])[n]


def archive(engine: Engine, memory_id: str) -> Memory:
    """Take a memory out of service; `restore` undoes it."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        trust.archive(edit, [n], "by hand", engine.now())
        return edit.shown([n])[n]


def restore(engine: Engine, memory_id: str) -> Memory:
    """Put an archived memory back into the state it was in."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        if not trust.restore(edit, [n], engine.now()):
            raise InvalidInputError(f"memory {memory_id!r} is not archived; list(state='archived') shows them")
        return edit.shown([n])[n]
