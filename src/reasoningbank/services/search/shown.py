"""Memories as they may be shown: with their present confidence, through the present scrubbing rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial

from reasoningbank.links import Link
from reasoningbank.memory import Memory
from reasoningbank.screening.scrub import scrub
from reasoningbank.search.selection import judged_and_blamed
from reasoningbank.services.cache.known import Known
from reasoningbank.services.engine import Engine
from reasoningbank.storage import records


def served(engine: Engine, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Memory]:
    """Return memories as they may be shown, by row number, in the given order; numbers that are gone are left out."""
    return {n: known.memory for n, known in load_known(engine, connection, numbers).items()}


def look_up(engine: Engine, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Known]:
    """Return memories as they may be shown, with beliefs, from this process's shelf where they have not changed.

    Args:
        connection: inside a read transaction, never one that writes.
    """
    load = partial(load_known, engine, connection)
    return engine.shelf.look_up(connection, numbers, engine.model(connection), load)


def own(memory: Memory) -> Memory:
    """Return a memory from the shelf as a caller may have it: what they do to its metadata stays theirs."""
    return memory.model_copy(update={"metadata": deepcopy(memory.metadata)}) if memory.metadata else memory


def load_known(engine: Engine, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Known]:
    """Read memories as they may be shown, with beliefs.

    A record that went through older scrubbing rules goes through the present ones on its way out.
    """
    rows = records.load(connection, numbers, engine.project_name)
    beliefs = engine.beliefs(connection, rows.values())
    return {n: Known(rows[n], beliefs[n], *judged_and_blamed(rows[n].tallies)) for n in numbers if n in rows}


def scrubbed_link(link: Link) -> Link:
    """Return the link with its evidence through the present rules."""
    return replace(link, evidence=scrub(link.evidence).text)
