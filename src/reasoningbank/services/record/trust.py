"""Whom to trust: approving what was quarantined, forgetting a source, and undoing that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Memory, State, clean_text, is_blank
from reasoningbank.results import Forgotten
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import checked_id
from reasoningbank.services.record.record import number_of
from reasoningbank.services.view import Edit
from reasoningbank.storage import records, trust


@contextmanager
def _found(engine: Engine, memory_id: str) -> Iterator[tuple[Edit, int]]:
    memory_id = checked_id(memory_id)
    with engine.write(create=False) as edit:
        yield edit, number_of(edit, memory_id)


def approve(engine: Engine, memory_id: str) -> Memory:
    """Serve a quarantined memory from now on; what was found in it stays on record."""
    with _found(engine, memory_id) as (edit, n):
        if trust.state_of(edit, n) is not State.QUARANTINED:
            raise InvalidInputError(f"memory {memory_id!r} is not quarantined; list(state='quarantined') shows them")
        records.set_state(edit, n, State.ACTIVE, engine.now())
        return edit.shown([n])[n]


def archive(engine: Engine, memory_id: str) -> Memory:
    """Take a memory out of service; `restore` undoes it."""
    with _found(engine, memory_id) as (edit, n):
        trust.archive(edit, [n], "by hand", engine.now())
        return edit.shown([n])[n]


def restore(engine: Engine, memory_id: str) -> Memory:
    """Put an archived memory back into the state it was in."""
    with _found(engine, memory_id) as (edit, n):
        if not trust.restore(edit, [n], engine.now()):
            raise InvalidInputError(f"memory {memory_id!r} is not archived; list(state='archived') shows them")
        return edit.shown([n])[n]


def checked_source(source: object) -> str:
    """Return a source's name.

    Raises:
        InvalidInputError: it is no text, or blank.
    """
    if not isinstance(source, str) or is_blank(source):
        raise InvalidInputError(f"source {source!r} is no name: give the `by` or the session that memories came from")
    return clean_text(source)


def forget(engine: Engine, source: str, *, forgotten: bool) -> Forgotten:
    """Archive everything that a source brought and let its signals count for nothing; or undo both."""
    source = checked_source(source)
    with engine.write(create=False) as edit:
        edit.catch_up()
        now, why = engine.now(), f"forgotten: {source}"
        judged = trust.set_forgotten(edit, source, forgotten=forgotten, now=now)
        if forgotten:
            numbers = trust.archive(edit, trust.of_source(edit, source), why, now)
        else:
            numbers = trust.restore(edit, trust.archived_because(edit, why), now)
        rows = edit.load(numbers)
        return Forgotten(source, tuple(rows[n].id for n in numbers), judged)
