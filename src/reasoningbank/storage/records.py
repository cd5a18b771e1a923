"""Rows of memories, their vectors, their indexed terms and tallies: the only SQL about them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.diagnostics import Diagnostic
from reasoningbank.diagnostics import written as signature_text
from reasoningbank.filters import Filters
from reasoningbank.identity import identity
from reasoningbank.memory import Draft, State, fingerprint_text
from reasoningbank.signals import Tally, time_text
from reasoningbank.storage import merges, signatures
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.storage.evidence import tallies_of, withdraw
from reasoningbank.storage.filters import HAPPENED, clause, json_text
from reasoningbank.storage.fold import batches
from reasoningbank.storage.stored import MEMORY_COLUMNS, Judged, Stored, as_stored, readable
from reasoningbank.storage.stored_vectors import MEMORIES

_BATCH = 500
_COLUMNS = (*MEMORY_COLUMNS.split(", "), "fingerprint", "identity")

Place = tuple[str, int]
"""Of a memory among those that are newest first: when it happened, and its row number."""


def fingerprint(title: str, content: str) -> bytes:
    """Return the hash that two lessons share which are the same in a looser form."""
    return hashlib.blake2b(fingerprint_text(title, content).encode(), digest_size=16).digest()


# -- reading -----------------------------------------------------------------------------------------------------


def find(reading: Reading, memory_id: str) -> int | None:
    """Return the row number of a memory, or None."""
    row = reading.execute("SELECT n FROM memories WHERE id = ?", (memory_id,)).fetchone()
    return None if row is None else int(row[0])


def numbers_of(reading: Reading, ids: Sequence[str]) -> dict[str, int]:
    """Return the row numbers of the memories that there are of these ids, in the given order."""
    if not ids:
        return {}
    found = dict(reading.execute("SELECT id, n FROM memories WHERE id IN (:ids)", {"ids": list(ids)}))
    return {memory_id: found[memory_id] for memory_id in ids if memory_id in found}


def find_revision(reading: Reading, memory_id: str) -> tuple[int, int] | None:
    """Return the row number of a memory, and its revision, for which alone evidence counts; or None."""
    row = reading.execute("SELECT n, revision FROM memories WHERE id = ?", (memory_id,)).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def load(reading: Reading, numbers: Iterable[int], project: str) -> dict[int, Stored]:
    """Return the rows of these numbers, with their tallies; those that are gone or cannot be read are left out."""
    found: dict[int, Stored] = {}
    for batch in batches(list(numbers), _BATCH):
        asked = reading.execute(_TALLIES, {"numbers": list(batch), "merged": True})
        rows = reading.execute(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE n IN (:numbers)", {"numbers": batch})
        tallies = tallies_of(asked)
        for row in rows:
            # One that is damaged costs itself and no other; `unreadable` names it.
            if (stored := readable(row, tallies.get(row[0], ()), project)) is not None:
                found[row[0]] = stored
    return found


def judged(reading: Reading, numbers: Iterable[int]) -> dict[int, Judged]:
    """Return what the beliefs about memories rest on, without what they say; those that are gone are left out."""
    found: dict[int, Judged] = {}
    for batch in batches(list(numbers), _BATCH):
        asked = reading.execute(_TALLIES, {"numbers": list(batch), "merged": True})
        rows = reading.execute("SELECT n, initial_confidence FROM memories WHERE n IN (:numbers)", {"numbers": batch})
        tallies = tallies_of(asked)
        found.update((n, Judged(n, tallies.get(n, ()), initial)) for n, initial in rows)
    return found


# With those of what was merged into each, at any depth, or without. A memory's own are looked up by its number, lest a
# server go through all of a project's.
_BY = "kind, day, source, judge, superseded"
_TALLIES = (
    "WITH RECURSIVE below(root, n) AS ("
    "SELECT into_memory, memory FROM merged WHERE into_memory IN (:numbers) AND counts = 1 AND :merged = 1 "
    "UNION SELECT root, memory FROM merged JOIN below ON into_memory = below.n WHERE counts = 1 AND memory <> root), "
    f"pieces AS (SELECT memory AS root, {_BY}, positive, negative, last FROM tallies WHERE memory IN (:numbers) "
    f"UNION ALL SELECT root, {_BY}, positive, negative, last FROM below JOIN tallies ON memory = below.n) "
    f"SELECT root, {_BY}, sum(positive), sum(negative), max(last) FROM pieces WHERE source NOT IN (SELECT source "
    f"FROM forgotten) AND judge NOT IN (SELECT source FROM forgotten) GROUP BY root, {_BY} ORDER BY root, {_BY}"
)


def own_tallies(reading: Reading, numbers: Sequence[int]) -> dict[int, tuple[Tally, ...]]:
    """Return the tallies of memories without those of what was merged into them; at most some hundreds at once."""
    return tallies_of(reading.execute(_TALLIES, {"numbers": list(numbers), "merged": False}))


def page(reading: Reading, filters: Filters, after: int, limit: int) -> list[int]:
    """Return up to `limit` row numbers behind `after` that pass the filters, in the order they were recorded."""
    condition, values = clause(filters)
    matching = f"SELECT n FROM memories WHERE n > ? AND {condition} ORDER BY n LIMIT ?"
    return column(reading, matching, (after, *values, limit))


LATEST: Place = ("~", 0)


def newest(reading: Reading, filters: Filters, after: Place, limit: int) -> list[tuple[int, str]]:
    """Return up to `limit` row numbers behind a place, those of what happened last first, each with when that was."""
    condition, values = clause(filters)
    at, n = after
    return reading.execute(
        f"SELECT n, {HAPPENED} AS happened FROM memories WHERE ({HAPPENED} < ? OR ({HAPPENED} = ? AND n < ?)) "
        f"AND {condition} ORDER BY happened DESC, n DESC LIMIT ?",
        (at, at, n, *values, limit),
    ).fetchall()


def count(reading: Reading, filters: Filters) -> int:
    """Return how many memories pass the filters."""
    condition, values = clause(filters)
    return number(reading, f"SELECT count(*) FROM memories WHERE {condition}", values)


def states_and_vectors(reading: Reading, numbers: Sequence[int]) -> list[tuple[int, str, str | None, int]]:
    """Return (row number, state, when it expires, id of a vector) of these memories, by role of the vector.

    The id is 0 for one without any, the time None for one that never expires.
    """
    return reading.execute(
        "SELECT m.n, m.state, m.expires_at, coalesce(v.id, 0) FROM memories AS m "
        "LEFT JOIN vectors AS v ON v.memory = m.n AND v.generation = :generation "
        "WHERE m.n IN (:numbers) ORDER BY m.n, v.role",
        {"generation": reading.moment.searched, "numbers": list(numbers)},
    ).fetchall()


def passing(
    reading: Reading, filters: Filters, among: Sequence[int] | None = None, *, timed: bool = False
) -> list[tuple[int, int, str]]:
    """Return (row number, id of a vector, when it happened) of the memories, or of those among some, that pass filters.

    The id is 0 for one without any; the time is left empty unless `timed`.
    """
    condition, values = clause(filters)
    happened = HAPPENED if timed else "''"
    only = "" if among is None else f"n IN ({', '.join('?' * len(among))}) AND "
    return reading.execute(
        f"SELECT n, coalesce(vectors.id, 0), {happened} "
        f"FROM memories LEFT JOIN vectors ON memory = n AND generation = ? WHERE {only}{condition}",
        (reading.moment.searched, *(among or ()), *values),
    ).fetchall()


def not_embedded(reading: Reading, generation: int) -> list[int]:
    """Return the memories without a lesson vector of a generation, in the order they were recorded."""
    return column(reading, f"SELECT n FROM memories WHERE {_NOT_EMBEDDED} ORDER BY n", (generation,))


def count_not_embedded(reading: Reading) -> int:
    """Return how many memories have no lesson vector of the current generation."""
    return number(reading, f"SELECT count(*) FROM memories WHERE {_NOT_EMBEDDED}", (reading.moment.searched,))


_NOT_EMBEDDED = (
    "NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.memory = memories.n AND v.generation = ? AND v.role = 'lesson')"
)


# A number of the change feed is never given twice, also not to a memory that is deleted and recorded again. A power
# loss can turn the feed back, though, while the log keeps its lines: chance tells what is said then from what was.
def new_revision(change: int) -> int:
    """Return the revision of a memory that is recorded, or says something else, after this change of the feed."""
    return change << 16 | secrets.randbits(16)


# -- writing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory as it is to be stored.

    Attributes:
        fingerprint: the hash of what it says in a looser form.
        vectors: role and float32 bytes; empty when it could not be embedded.
        terms: the analysed text, space-separated.
        findings: signs of planted instructions.
        signatures: the errors it answers.
    """

    id: str
    draft: Draft
    fingerprint: bytes
    vectors: tuple[tuple[str, bytes], ...]
    terms: str
    state: State = State.ACTIVE
    findings: tuple[str, ...] = ()
    signatures: tuple[Diagnostic, ...] = ()

    @property
    def hashes(self) -> tuple[bytes, bytes]:
        """The fingerprint, and the hash of what it says exactly."""
        return self.fingerprint, identity_of(self.draft)


def identity_of(draft: Draft) -> bytes:
    """Return the hash of what a lesson says exactly."""
    return identity(draft.title, draft.content, draft.description, draft.applies_when, draft.outcome.value)


def written(draft: Draft, state: State) -> tuple[Any, ...]:
    """Return what a lesson says and where it comes from, in the order of MEMORY_COLUMNS."""
    source = draft.source
    said = (draft.title, draft.content, draft.description, draft.applies_when, draft.outcome.value)
    standing = (json_text(draft.tags), state.value, draft.initial_confidence)
    whence = (source.how, source.by, source.session, int(source.trusted), json_text(draft.metadata))
    return (*said, *standing, *whence)


def _when(draft: Draft) -> tuple[str | None, str | None]:
    occurred, expires = draft.occurred_at, draft.expires_at
    return None if occurred is None else time_text(occurred), None if expires is None else time_text(expires)


_DERIVED = ("fingerprint", "identity", "scrub_version", "findings", "updated_at", "occurred_at", "expires_at")
_REWRITTEN = (*_COLUMNS[2:15], *_DERIVED)
_REWRITE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in _REWRITTEN)} WHERE n = ?"


def row_of(n: int, memory: NewMemory, scrub_version: int, now: datetime, *, revision: int) -> tuple[Any, ...]:
    """Return a new memory as its row, in the order of MEMORY_COLUMNS, with its hashes."""
    at, findings = time_text(now), json_text(memory.findings)
    values = written(memory.draft, memory.state)
    answers = json_text([signature_text(one) for one in memory.signatures])
    told = (revision, scrub_version, findings, at, at, answers, *_when(memory.draft), *memory.hashes)
    return (n, memory.id, *values, *told)


def insert(
    writing: Writing, new: Mapping[int, NewMemory], *, generation: int, project: str, scrub_version: int, now: datetime
) -> dict[int, Stored]:
    """Store new memories under their row numbers, and return them as they are loaded from now on."""
    rows = [
        row_of(n, memory, scrub_version, now, revision=new_revision(writing.newest_change)) for n, memory in new.items()
    ]
    writing.insert("memories", _COLUMNS, rows)
    signatures.add_keys(writing, {n: memory.signatures for n, memory in new.items() if memory.signatures})
    index(writing, generation, new)
    return {row[0]: as_stored(row, (), project) for row in rows}


def rewrite(
    writing: Writing,
    n: int,
    new: NewMemory,
    *,
    generation: int,
    scrub_version: int,
    says_something_else: bool,
    now: datetime,
) -> None:
    """Change a memory; when it says something else, its evidence starts anew, since trust does not transfer."""
    derived = (*new.hashes, scrub_version, json_text(new.findings), time_text(now), *_when(new.draft))
    writing.execute(_REWRITE, (*written(new.draft, new.state), *derived, n))
    signatures.put(writing, n, new.signatures)
    remove_from_index(writing, n)
    index(writing, generation, {n: new})
    if says_something_else:
        withdraw(writing, n)
        merges.stop_counting(writing, n)
        merges.tell_results(writing, [n])
        writing.execute("UPDATE memories SET revision = ? WHERE n = ?", (new_revision(writing.newest_change), n))


def renew(writing: Writing, n: int, expires_at: datetime | None, now: datetime) -> bool:
    """Let a memory that has expired be served again until another time; False when it has not expired."""
    at = time_text(now)
    until = None if expires_at is None else time_text(expires_at)
    renewed = "UPDATE memories SET expires_at = ?, updated_at = ? WHERE n = ? AND expires_at <= ?"
    done = writing.execute(renewed, (until, at, n, at)).rowcount > 0
    if done:
        writing.tell("put", n)
    return done


def set_state(writing: Writing, n: int, state: State, now: datetime) -> None:
    """Archive, restore, quarantine or approve a memory; its vectors stay, and the feed tells the others."""
    writing.execute("UPDATE memories SET state = ?, updated_at = ? WHERE n = ?", (state.value, time_text(now), n))
    writing.tell("put", n)


def index(writing: Writing, generation: int, new: Mapping[int, NewMemory]) -> None:
    """Store the vectors and terms of memories, and tell them to the feed."""
    add_vectors(writing, generation, [(n, role, vector) for n, m in new.items() for role, vector in m.vectors])
    for n, memory in new.items():
        if not memory.vectors:
            writing.tell("put", n)
    writing.insert("terms", ("rowid", "text"), [(n, memory.terms) for n, memory in new.items()])


def add_vectors(
    writing: Writing, generation: int, vectors: Sequence[tuple[int, str, bytes]], *, told: bool = True
) -> None:
    """Store vectors, each of a memory (by row number) in a role, and tell them to the feed."""
    first = writing.number("vectors", len(vectors)) if vectors else 0
    rows = [(vector_id, n, role, generation, vector) for vector_id, (n, role, vector) in enumerate(vectors, first)]
    writing.insert("vectors", ("id", "memory", "role", "generation", "vector"), rows)
    for vector_id, n, *_ in rows if told else ():
        writing.tell("put", n, vector_id)


def put_vectors(writing: Writing, generation: int, n: int, vectors: Sequence[tuple[str, bytes]]) -> None:
    """Give a memory its vectors of a generation that is being filled: nobody searches it, so the feed is not told."""
    writing.execute("DELETE FROM vectors WHERE memory = ? AND generation = ?", (n, generation))
    add_vectors(writing, generation, [(n, role, vector) for role, vector in vectors], told=False)


def remove_from_index(writing: Writing, n: int) -> None:
    """Remove a memory's vectors and terms, and tell it to the feed."""
    vectors = column(writing, "SELECT id FROM vectors WHERE memory = ?", (n,))
    if vectors:
        MEMORIES.drop_snapshot(writing)
    for vector in vectors:
        writing.tell("delete", n, vector)
    writing.execute("DELETE FROM vectors WHERE memory = ?", (n,))
    writing.execute("DELETE FROM terms WHERE rowid = ?", (n,))


def delete(writing: Writing, n: int) -> None:
    """Delete a memory with its vectors, terms and evidence; its lines in the log become orphans."""
    remove_from_index(writing, n)
    writing.tell("delete", n)
    withdraw(writing, n)
    merges.forget(writing, n)
    writing.execute("DELETE FROM archived WHERE memory = ?", (n,))
    writing.execute("DELETE FROM memories WHERE n = ?", (n,))
