"""Rows of the evidence that banks told one another, and what is derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reasoningbank.storage.contract import Reading, Writing, number
from reasoningbank.storage.evidence import ADDED, TALLIES
from reasoningbank.storage.replica import OTHER, PREFIX

# Segments are numbered from 1, and 0 is for what an import brought.
TOLD_ELSEWHERE = -1

# Of evidence `e`: its bank did not say it anew as what it went on as, which sorts between it and its key with a slash.
_SAID_LAST = (
    "AND NOT EXISTS (SELECT 1 FROM replica_origins AS n CROSS JOIN replica_evidence AS l "
    "WHERE n.origin > e.origin AND n.origin < substr(e.origin, 1, 64) || '/' "
    "AND l.memory = e.memory AND l.said = e.said AND l.origin = n.origin AND l.id = e.id) "
)
_IS_OWN = f"substr(source, 1, {len(PREFIX)}) <> '{PREFIX}'"


class Piece(NamedTuple):
    """A signal, or a sum of what was rolled up; its strengths are whole millionths, its texts what SQL has."""

    id: str
    kind: str
    day: int
    judge: str
    superseded: int
    positive: int
    negative: int
    last: str
    validates: str


_PIECE = ", ".join(Piece._fields)
_PUT_PIECE = "ON CONFLICT (memory, said, origin, id) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in Piece._fields[1:]
)


def put_pieces(writing: Writing, memory_id: str, said: bytes, origin: str, pieces: Iterable[Piece]) -> None:
    """Keep evidence of an origin about what a memory says; each piece in place of the one of its id."""
    rows = [(memory_id, said, origin, *piece) for piece in pieces]
    writing.insert("replica_evidence", ("memory", "said", "origin", *Piece._fields), rows, _PUT_PIECE)


def drop_pieces(writing: Writing, origin: str) -> None:
    """Forget the evidence of an origin."""
    writing.execute("DELETE FROM replica_evidence WHERE origin = ?", (origin,))


def pieces(reading: Reading, memory_id: str, said: bytes, origins: Sequence[str]) -> dict[str, Piece]:
    """Return the evidence of one bank about what a memory says, by id: of all that it ever spoke as, the last says."""
    rows = reading.execute(
        f"SELECT {_PIECE} FROM replica_evidence WHERE memory = :memory AND said = :said AND origin IN (:origins) "
        "ORDER BY origin",
        {"memory": memory_id, "said": said, "origins": list(origins)},
    )
    return {row[0]: Piece(*row) for row in rows}


def judged_by_origin(reading: Reading, origin: str) -> int:
    """Return how much an origin told of how memories did, in millionths of a signal."""
    said = "SELECT coalesce(sum(positive + negative), 0) FROM replica_evidence WHERE origin = ? AND kind <> 'usage'"
    return number(reading, said, (origin,))


def own_signals(reading: Reading, n: int) -> list[tuple[str, str, int, str, int, int, int, str, str]]:
    """Return (ref, kind, day, judge, superseded, positive, negative, at, validates) of this bank's own signals."""
    return reading.execute(
        "SELECT ref, kind, day, judge, superseded, CASE WHEN polarity > 0 THEN weight ELSE 0 END, "
        "CASE WHEN polarity < 0 THEN weight ELSE 0 END, at, validates FROM evidence "
        f"WHERE memory = ? AND {_IS_OWN} ORDER BY ref, kind",
        (n,),
    ).fetchall()


Sums = dict[tuple[str, int, str, int], tuple[int, int, str]]
"""What evidence adds up to: (positive, negative, time of the last) by (kind, day, judge, superseded)."""


def own_sums(reading: Reading, n: int) -> Sums:
    """Return what this bank's own evidence about a memory adds up to."""
    rows = reading.execute(
        f"SELECT kind, day, judge, superseded, sum(positive), sum(negative), max(last) FROM tallies "
        f"WHERE memory = ? AND {_IS_OWN} GROUP BY kind, day, judge, superseded",
        (n,),
    )
    return {tuple(row[:4]): (int(row[4]), int(row[5]), row[6]) for row in rows}


def replace_replicated(writing: Writing, n: int, memory_id: str, said: bytes, lost: Sums, here: str) -> None:
    """Derive the tallies of others' evidence about a memory anew, and of what is `lost` here of its own."""
    writing.execute(f"DELETE FROM tallies WHERE memory = ? AND NOT ({_IS_OWN})", (n,))
    names = ", ".join(TALLIES)
    writing.execute(
        f"INSERT INTO tallies({names}) SELECT ?, e.kind, e.day, '{PREFIX}' || o.name, e.judge, e.superseded, 1, "
        "sum(e.positive), sum(e.negative), max(e.last) FROM replica_evidence AS e "
        f"JOIN replica_origins AS o ON o.origin = e.origin WHERE e.memory = ? AND e.said = ? AND o.own = {OTHER} "
        f"AND e.positive + e.negative > 0 {_SAID_LAST}"
        f"GROUP BY e.kind, e.day, o.name, e.judge, e.superseded {ADDED}",
        (n, memory_id, said),
    )
    rows = [
        (n, kind, day, f"{PREFIX}{here}", judge, superseded, 1, *sums)
        for (kind, day, judge, superseded), sums in lost.items()
    ]
    writing.insert("tallies", TALLIES, rows, ADDED)
    writing.tell("evidence", n)


def replace_taught(writing: Writing, counts: dict[str, tuple[int, int]]) -> None:
    """Put what the votes of others taught in the place of what was known of it."""
    writing.execute("DELETE FROM validations WHERE segment = ?", (TOLD_ELSEWHERE,))
    rows = [(TOLD_ELSEWHERE, kind, *many) for kind, many in sorted(counts.items())]
    writing.insert("validations", ("segment", "kind", "confirmed", "refuted"), rows)


def votes_that_teach(reading: Reading) -> list[tuple[str, int, int]]:
    """Return (kinds as JSON, votes for, votes against) of others' votes about what memories say now."""
    return reading.execute(
        "SELECT e.validates, sum(CASE WHEN e.positive > 0 THEN 1 ELSE 0 END), "
        "sum(CASE WHEN e.negative > 0 THEN 1 ELSE 0 END) FROM replica_evidence AS e "
        "JOIN replica_memories AS m ON m.id = e.memory AND m.said = e.said "
        "JOIN replica_origins AS o ON o.origin = e.origin "
        f"WHERE e.validates <> '[]' AND o.own = {OTHER} {_SAID_LAST}"
        "GROUP BY e.validates ORDER BY e.validates"
    ).fetchall()
