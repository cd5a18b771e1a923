"""New memories: whether they are there already, and their rows; a few statements, however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reasoningbank.memory import Draft, State
from reasoningbank.signals import time_text
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.filters import json_text
from reasoningbank.storage.records import add_vectors, new_revision, written
from reasoningbank.storage.stored import MEMORY_COLUMNS, Stored, as_stored

_COLUMNS = (*MEMORY_COLUMNS.split(", "), "fingerprint")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is to be stored.

    Attributes:
        fingerprint: the hash of what it says.
        vectors: role and float32 bytes; empty when it could not be embedded.
        terms: the analysed text, space-separated.
        findings: signs of planted instructions.
    """

    id: str
    draft: Draft
    fingerprint: bytes
    vectors: tuple[tuple[str, bytes], ...]
    terms: str
    state: State = State.ACTIVE
    findings: tuple[str, ...] = ()


def same_lessons(reading: Reading, fingerprints: Sequence[bytes]) -> dict[tuple[bytes, str], int]:
    """Return the oldest memory that says each of these and is not archived, by fingerprint and outcome."""
    if not fingerprints:
        return {}
    marks = ", ".join("?" * len(fingerprints))
    rows = reading.execute(
        f"SELECT fingerprint, outcome, min(n) FROM memories WHERE fingerprint IN ({marks}) AND state <> 'archived' "
        "GROUP BY fingerprint, outcome",
        fingerprints,
    )
    return {(fingerprint, outcome): n for fingerprint, outcome, n in rows}


def insert(
    writing: Writing,
    new: Mapping[int, NewMemory],
    *,
    generation: int,
    project: str,
    scrub_version: int,
    now: datetime,
) -> dict[int, Stored]:
    """Store new memories under their row numbers, and return them as they are loaded from now on."""
    at = time_text(now)
    rows = []
    for n, memory in new.items():
        revision, findings = new_revision(writing.newest_change), json_text(memory.findings)
        values = written(memory.draft, memory.state)
        rows.append((n, memory.id, *values, revision, scrub_version, findings, at, at, memory.fingerprint))
    writing.insert("memories", _COLUMNS, rows)
    add_vectors(writing, generation, [(n, role, vector) for n, m in new.items() for role, vector in m.vectors])
    for n, memory in new.items():
        if not memory.vectors:
            writing.tell("put", n)
    writing.insert("terms", ("rowid", "text"), [(n, memory.terms) for n, memory in new.items()])
    return {row[0]: as_stored(row, (), project) for row in rows}
