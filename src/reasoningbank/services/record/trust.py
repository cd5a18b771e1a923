"""Whom to trust: approving what was quarantined, forgetting a source, and undoing that."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.memory import Memory, State, clean_text, is_blank
from reasoningbank.results import Forgotten
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import checked_id
from reasoningbank.services.search.shown import served
from reasoningbank.storage import records, trust


@contextmanager
def _found(engine: Engine, memory_id: str) -> Iterator[tuple[sqlite3.Connection, int]]:
    memory_id = checked_id(memory_id)
    with engine.write_existing() as opened:
        n = None if opened is None else records.find(opened[1], memory_id)
        if opened is None or n is None:
            raise MemoryNotFoundError(memory_id)
        yield opened[1], n


def _state(connection: sqlite3.Connection, n: int) -> State:
    return State(connection.execute("SELECT state FROM memories WHERE n = ?", (n,)).fetchone()[0])


def approve(engine: Engine, memory_id: str) -> Memory:
    """Serve a quarantined memory from now on; what was found in it stays on record."""
    with _found(engine, memory_id) as (connection, n):
        if _state(connection, n) is not State.QUARANTINED:
            raise InvalidInputError(f"memory {memory_id!r} is not quarantined; list(state='quarantined') shows them")
        records.set_state(connection, n, State.ACTIVE, engine.now())
        return served(engine, connection, [n])[n]


def archive(engine: Engine, memory_id: str) -> Memory:
    """Take a memory out of service; `restore` undoes it."""
    with _found(engine, memory_id) as (connection, n):
        trust.archive(connection, [n], "by hand", engine.now())
        return served(engine, connection, [n])[n]


def restore(engine: Engine, memory_id: str) -> Memory:
    """Put an archived memory back into the state it was in."""
    with _found(engine, memory_id) as (connection, n):
        if not trust.restore(connection, [n], engine.now()):
            raise InvalidInputError(f"memory {memory_id!r} is not archived; list(state='archived') shows them")
        return served(engine, connection, [n])[n]


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
    with engine.write_existing() as opened:
        if opened is None:
            return Forgotten(source, (), 0)
        project, connection = opened
        project.catch_up(connection)
        now, why = engine.now(), f"forgotten: {source}"
        judged = trust.set_forgotten(connection, source, forgotten=forgotten, now=now)
        if forgotten:
            numbers = trust.archive(connection, trust.of_source(connection, source), why, now)
        else:
            numbers = trust.restore(connection, trust.archived_because(connection, why), now)
        rows = records.load(connection, numbers, engine.project_name)
        return Forgotten(source, tuple(rows[n].memory.id for n in numbers), judged)
