"""Pinning memories, so that recalls show them whatever the task."""

from __future__ import annotations

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import State
from reasoningbank.screening.door import clean
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.record import number_of
from reasoningbank.status import Pin
from reasoningbank.storage import pins, trust


def pin(engine: Engine, memory_id: str, tag: str) -> Pin:
    """Pin a memory that is served."""
    with engine.write(create=False) as edit:
        n = number_of(edit, memory_id)
        if (state := trust.state_of(edit, n)) is not State.ACTIVE:
            first = "restore" if state is State.ARCHIVED else "approve"
            raise InvalidInputError(
                f"memory {memory_id!r} is {state.value}, so that it is not served: {first} it first"
            )
        pins.add(edit, n, tag)
        return Pin(edit.shown([n])[n], tag)


def unpin(engine: Engine, memory_id: str, tag: str | None) -> bool:
    """Remove the pin of a memory under a tag, or all of its pins; say whether there was one."""
    with engine.write(create=False) as edit:
        return pins.remove(edit, number_of(edit, memory_id), tag)


def every_pin(engine: Engine) -> list[Pin]:
    """Return every pin, also of memories that are out of service, in the order the memories were recorded."""
    with engine.read() as view:
        held = pins.every_pin(view)
        memories = view.shown(dict(held))
        return [Pin(memories[n], clean(tag, engine.rules)) for n, tag in held]
