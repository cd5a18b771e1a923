"""Rows of memories, their vectors, their indexed terms and tallies: the only SQL about them."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from reasoningbank.memory import Draft, State, fingerprint_text
from reasoningbank.signals import SignalKind, Tally, parse_time, time_text
from reasoningbank.storage import merges, snapshots
from reasoningbank.storage.filters import Filters, json_text
from reasoningbank.storage.fold import UNIT, withdraw_memory
from reasoningbank.storage.stored import MEMORY_COLUMNS, Stored, as_stored
from reasoningbank.storage.stored_vectors import MEMORIES

_BATCH = 500


def fingerprint(title: str, content: str) -> bytes:
    """Return the hash that two trivially different lessons share."""
    return hashlib.blake2b(fingerprint_text(title, content).encode(), digest_size=16).digest()


# -- reading -----------------------------------------------------------------------------------------------------


def find(connection: sqlite3.Connection, memory_id: str) -> int | None:
    """Return the row number of a memory, or None."""
    row = connection.execute("SELECT n FROM memories WHERE id = ?", (memory_id,)).fetchone()
    return None if row is None else int(row[0])


def numbers_of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Return the row numbers of the memories that there are of these ids, in the given order."""
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT id, n FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
    )
    found = dict(rows.fetchall())
    return {memory_id: found[memory_id] for memory_id in ids if memory_id in found}


def find_revision(connection: sqlite3.Connection, memory_id: str) -> tuple[int, int] | None:
    """Return the row number of a memory, and its revision, for which alone evidence counts; or None."""
    row = connection.execute("SELECT n, revision FROM memories WHERE id = ?", (memory_id,)).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def load(connection: sqlite3.Connection, numbers: Iterable[int], project: str) -> dict[int, Stored]:
    """Return the rows of these numbers, with their tallies; numbers that are gone are left out."""
    found: dict[int, Stored] = {}
    for batch in _batches(list(numbers)):
        marks = ", ".join("?" * len(batch))
        tallies = _tallies(connection, batch)
        for row in connection.execute(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE n IN ({marks})", batch):
            found[row[0]] = as_stored(row, tallies.get(row[0], ()), project)
    return found


def _batches(numbers: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(numbers), _BATCH):
        yield numbers[start : start + _BATCH]


def _tallies(connection: sqlite3.Connection, batch: Sequence[int]) -> dict[int, tuple[Tally, ...]]:
    """Return each memory's tallies, with those of the memories that were merged into it."""
    owners = merges.evidence_owners(connection, batch)
    asked = list(dict.fromkeys([*batch, *owners]))
    wanted = set(batch)
    marks = ", ".join("?" * len(asked))
    rows = connection.execute(
        "SELECT memory, kind, day, source, judge, superseded, sum(positive), sum(negative), max(last) FROM tallies "
        f"WHERE memory IN ({marks}) AND source NOT IN (SELECT source FROM forgotten) "
        "AND judge NOT IN (SELECT source FROM forgotten) "
        "GROUP BY memory, kind, day, source, judge, superseded",
        asked,
    )
    found: dict[int, list[Tally]] = {}
    for n, kind, day, source, judge, superseded, positive, negative, last in rows:
        tally = Tally(
            SignalKind(kind), day, source, judge, positive / UNIT, negative / UNIT, parse_time(last), bool(superseded)
        )
        for owner in (*((n,) if n in wanted else ()), *owners.get(n, ())):
            found.setdefault(owner, []).append(tally)
    return {n: tuple(tallies) for n, tallies in found.items()}


def page(connection: sqlite3.Connection, filters: Filters, after: int, limit: int) -> list[int]:
    """Return up to `limit` row numbers behind `after` that pass the filters, in the order they were recorded."""
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT n FROM memories WHERE n > ? AND {condition} ORDER BY n LIMIT ?", (after, *values, limit)
    )
    return [row[0] for row in rows]


def count(connection: sqlite3.Connection, filters: Filters) -> int:
    """Return how many memories pass the filters."""
    condition, values = filters.clause()
    total: int = connection.execute(f"SELECT count(*) FROM memories WHERE {condition}", values).fetchone()[0]
    return total


# A number of the change feed is never given twice, also not to a memory that is deleted and recorded again. A power
# loss can turn the feed back, though, while the log keeps its lines: chance tells what is said then from what was.
def new_revision(change: int) -> int:
    """Return the revision of a memory that is recorded, or says something else, after this change of the feed."""
    return change << 16 | secrets.randbits(16)


# -- writing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a memory is found by.

    Attributes:
        vectors: role and float32 bytes; empty when it could not be embedded.
        generation: of the vectors.
        terms: the analysed text, space-separated.
    """

    vectors: tuple[tuple[str, bytes], ...]
    generation: int
    terms: str


def said(draft: Draft) -> tuple[str, str, str, str]:
    """Return what a lesson says, in the order of the columns."""
    return (draft.title, draft.content, draft.description, draft.applies_when)


def whence(draft: Draft) -> tuple[str, str | None, str | None, bool]:
    """Return where a lesson comes from, in the order of the columns."""
    return (draft.source.how, draft.source.by, draft.source.session, draft.source.trusted)


def rewrite(
    connection: sqlite3.Connection,
    n: int,
    draft: Draft,
    indexed: Indexed,
    *,
    state: State,
    findings: Sequence[str],
    scrub_version: int,
    says_something_else: bool,
    now: datetime,
) -> None:
    """Change a memory; when it says something else, its evidence starts anew, since trust does not transfer."""
    connection.execute(
        "UPDATE memories SET title = ?, content = ?, description = ?, applies_when = ?, outcome = ?, tags = ?, "
        "state = ?, initial_confidence = ?, source_how = ?, source_by = ?, source_session = ?, trusted = ?, "
        "metadata = ?, fingerprint = ?, scrub_version = ?, findings = ?, "
        "updated_at = ? WHERE n = ?",
        (
            *said(draft),
            draft.outcome.value,
            json_text(draft.tags),
            state.value,
            draft.initial_confidence,
            *whence(draft),
            json_text(draft.metadata),
            fingerprint(draft.title, draft.content),
            scrub_version,
            json_text(list(findings)),
            time_text(now),
            n,
        ),
    )
    remove_from_index(connection, n)
    index(connection, n, indexed)
    if says_something_else:
        withdraw_memory(connection, n)
        merges.stop_counting(connection, n)
        merges.tell_results(connection, [n])
        change = connection.execute("SELECT max(seq) FROM changes").fetchone()[0]
        connection.execute("UPDATE memories SET revision = ? WHERE n = ?", (new_revision(change), n))


def set_state(connection: sqlite3.Connection, n: int, state: State, now: datetime) -> None:
    """Archive, restore, quarantine or approve a memory; its vectors stay, and the feed tells the others."""
    connection.execute("UPDATE memories SET state = ?, updated_at = ? WHERE n = ?", (state.value, time_text(now), n))
    connection.execute("INSERT INTO changes(op, memory) VALUES ('put', ?)", (n,))


def index(connection: sqlite3.Connection, n: int, indexed: Indexed) -> None:
    """Store a memory's vectors and terms, and tell it to the feed."""
    if not indexed.vectors:
        connection.execute("INSERT INTO changes(op, memory) VALUES ('put', ?)", (n,))
    for role, vector in indexed.vectors:
        add_vector(connection, n, role, indexed.generation, vector)
    connection.execute("INSERT INTO terms(rowid, text) VALUES (?, ?)", (n, indexed.terms))


def add_vector(connection: sqlite3.Connection, n: int, role: str, generation: int, vector: bytes) -> None:
    """Store one vector, and tell it to the feed."""
    cursor = connection.execute(
        "INSERT INTO vectors(memory, role, generation, vector) VALUES (?, ?, ?, ?)", (n, role, generation, vector)
    )
    connection.execute("INSERT INTO changes(op, memory, vector) VALUES ('put', ?, ?)", (n, cursor.lastrowid))


def remove_from_index(connection: sqlite3.Connection, n: int) -> None:
    """Remove a memory's vectors and terms, and tell it to the feed."""
    vectors = connection.execute("SELECT id FROM vectors WHERE memory = ?", (n,)).fetchall()
    if vectors:
        snapshots.drop(connection, MEMORIES.table)
    for (vector,) in vectors:
        connection.execute("INSERT INTO changes(op, memory, vector) VALUES ('delete', ?, ?)", (n, vector))
    connection.execute("DELETE FROM vectors WHERE memory = ?", (n,))
    connection.execute("DELETE FROM terms WHERE rowid = ?", (n,))


def delete(connection: sqlite3.Connection, n: int) -> None:
    """Delete a memory with its vectors, terms and evidence; its lines in the log become orphans."""
    remove_from_index(connection, n)
    connection.execute("INSERT INTO changes(op, memory) VALUES ('delete', ?)", (n,))
    withdraw_memory(connection, n)
    merges.forget(connection, n)
    connection.execute("DELETE FROM memories WHERE n = ?", (n,))
