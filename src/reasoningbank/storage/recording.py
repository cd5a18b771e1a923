"""New memories: whether they are there already, and their rows; a few statements, however many there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.memory import Draft, Outcome, State
from reasoningbank.signals import time_text
from reasoningbank.storage.filters import json_text
from reasoningbank.storage.records import Indexed, new_revision, said, whence
from reasoningbank.storage.stored import MEMORY_COLUMNS, Stored, as_stored

_COLUMNS = f"{MEMORY_COLUMNS}, fingerprint"
_INSERT = f"INSERT INTO memories({_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS.split(', ')))})"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is to be stored.

    Attributes:
        fingerprint: the hash of what it says.
        indexed: what it is found by.
        findings: signs of planted instructions.
    """

    id: str
    draft: Draft
    fingerprint: bytes
    indexed: Indexed
    state: State = State.ACTIVE
    findings: tuple[str, ...] = ()


def same_lessons(connection: sqlite3.Connection, fingerprints: Sequence[bytes]) -> dict[tuple[bytes, str], int]:
    """Return the oldest memory that says each of these and is not archived, by fingerprint and outcome."""
    marks = ", ".join("?" * len(fingerprints))
    rows = connection.execute(
        f"SELECT fingerprint, outcome, min(n) FROM memories WHERE fingerprint IN ({marks}) AND state <> 'archived' "
        "GROUP BY fingerprint, outcome",
        fingerprints,
    )
    return {(fingerprint, outcome): n for fingerprint, outcome, n in rows}


def same_lesson(connection: sqlite3.Connection, fingerprint: bytes, outcome: Outcome) -> bool:
    """Tell whether a memory says the same and is not archived."""
    return (fingerprint, outcome.value) in same_lessons(connection, [fingerprint])


@dataclass(frozen=True, slots=True)
class Counters:
    """The numbers given last; the next row takes the next. To know them beforehand saves asking for each."""

    memories: int = 0
    vectors: int = 0
    changes: int = 0

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Counters:
        """Return them as they are inside a write transaction."""
        rows = connection.execute(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('memories', 'vectors', 'changes')"
        )
        return cls(**dict(rows.fetchall()))


def insert(
    connection: sqlite3.Connection,
    new: Sequence[NewMemory],
    counters: Counters,
    *,
    project: str,
    scrub_version: int,
    now: datetime,
) -> list[Stored]:
    """Store new memories in their order, and return them as they are loaded from now on."""
    first, at = counters.memories + 1, time_text(now)
    rows = [_row(n, memory, new_revision(counters.changes), scrub_version, at) for n, memory in enumerate(new, first)]
    connection.executemany(_INSERT, rows)
    vectors = list(_vectors(new, first, counters.vectors + 1))
    connection.executemany("INSERT INTO vectors(id, memory, role, generation, vector) VALUES (?, ?, ?, ?, ?)", vectors)
    changed: list[tuple[int, int | None]] = [(n, number) for number, n, *_ in vectors]
    changed += [(n, None) for n, memory in enumerate(new, first) if not memory.indexed.vectors]
    connection.executemany("INSERT INTO changes(op, memory, vector) VALUES ('put', ?, ?)", changed)
    connection.executemany(
        "INSERT INTO terms(rowid, text) VALUES (?, ?)",
        [(n, memory.indexed.terms) for n, memory in enumerate(new, first)],
    )
    return [as_stored(row, (), project) for row in rows]


def _row(n: int, new: NewMemory, revision: int, scrub_version: int, at: str) -> tuple[Any, ...]:
    draft = new.draft
    return (
        n,
        new.id,
        *said(draft),
        draft.outcome.value,
        json_text(draft.tags),
        new.state.value,
        draft.initial_confidence,
        *whence(draft),
        json_text(draft.metadata),
        revision,
        scrub_version,
        json_text(new.findings),
        at,
        at,
        new.fingerprint,
    )


def _vectors(new: Sequence[NewMemory], first: int, number: int) -> Iterator[tuple[int, int, str, int, bytes]]:
    """Yield (id, memory, role, generation, vector)."""
    for n, memory in enumerate(new, first):
        for role, vector in memory.indexed.vectors:
            yield number, n, role, memory.indexed.generation, vector
            number += 1
