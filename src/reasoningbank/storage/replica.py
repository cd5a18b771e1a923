"""Rows of what banks tell one another: origins, blocks, registers, evidence, and what was spent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from reasoningbank.replication import Block
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.storage.evidence import ADDED, TALLIES

PREFIX = "bus:"
"""How the sources of replicated evidence and memories begin."""

# Segments are numbered from 1, and 0 is for what an import brought.
TOLD_ELSEWHERE = -1

_IS_OWN = f"substr(source, 1, {len(PREFIX)}) <> '{PREFIX}'"


# -- origins and blocks --------------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """A bank whose changes are here: columns of `replica_origins`, in order."""

    origin: str
    name: str
    own: int
    have: int
    head: bytes
    at: str


def origins(reading: Reading) -> dict[str, Origin]:
    """Return what is known of each origin, by its key."""
    rows = reading.execute("SELECT origin, name, own, have, head, at FROM replica_origins ORDER BY name, origin")
    return {key: Origin(key, name, own, have, bytes(head), at) for key, name, own, have, head, at in rows}


def put_origin(writing: Writing, origin: Origin) -> None:
    """Note how far an origin's changes are here."""
    writing.insert(
        "replica_origins",
        Origin._fields,
        [origin],
        "ON CONFLICT (origin) DO UPDATE SET have = excluded.have, head = excluded.head, at = excluded.at",
    )


def speaks_as(reading: Reading) -> str | None:
    """Return the key by which this bank speaks on the bus; None when it never did."""
    return next(iter(column(reading, "SELECT origin FROM replica_origins WHERE own = 1")), None)


def put_block(writing: Writing, block: Block) -> None:
    """Keep a block, to pass it on."""
    writing.insert("replica_blocks", Block._fields, [block])


def blocks_after(reading: Reading, origin: str, have: int, most: int) -> list[Block]:
    """Return the blocks of an origin behind a change, in order, up to so many."""
    rows = reading.execute(
        "SELECT origin, first, last, body, signature FROM replica_blocks WHERE origin = ? AND first > ? "
        "ORDER BY first LIMIT ?",
        (origin, have, most),
    )
    return [Block(row[0], row[1], row[2], bytes(row[3]), bytes(row[4])) for row in rows]


# -- registers -----------------------------------------------------------------------------------------------------

MEMORY, STATE, LINK, FIT = "m", "s", "l", "f"


class Register(NamedTuple):
    """The newest that was said of a thing; `body` is JSON, `other` the memory that a merged one counts for."""

    kind: str
    a: str
    b: str
    c: str
    clock: str
    origin: str
    body: str
    other: str = ""

    @property
    def version(self) -> tuple[str, str]:
        """By which the newest is told."""
        return self.clock, self.origin


_COLUMNS = ", ".join(Register._fields)
_NEWEST = "ON CONFLICT (kind, a, b, c) DO UPDATE SET clock = excluded.clock, origin = excluded.origin, " + (
    "body = excluded.body, other = excluded.other"
)


def register(reading: Reading, kind: str, a: str, b: str = "", c: str = "") -> Register | None:
    """Return what was said last of a thing; None when nothing was."""
    asked = f"SELECT {_COLUMNS} FROM replica_registers WHERE kind = ? AND a = ? AND b = ? AND c = ?"
    row = reading.execute(asked, (kind, a, b, c)).fetchone()
    return None if row is None else Register(*row)


def put_register(writing: Writing, new: Register) -> None:
    """Note what was said last of a thing."""
    writing.insert("replica_registers", Register._fields, [new], _NEWEST)


def links_of(reading: Reading, memory_id: str) -> list[Register]:
    """Return what was said of the links from and to a memory."""
    asked = f"SELECT {_COLUMNS} FROM replica_registers WHERE kind = '{LINK}' AND (a = ? OR b = ?) ORDER BY a, b, c"
    return [Register(*row) for row in reading.execute(asked, (memory_id, memory_id))]


def merged_into(reading: Reading, memory_id: str) -> list[str]:
    """Return the memories that are said to be merged into one."""
    return column(reading, "SELECT a FROM replica_registers WHERE other = ? AND other <> '' ORDER BY a", (memory_id,))


def changed_links(reading: Reading) -> list[tuple[str, str, str, float | None, str, str, str]]:
    """Return (source, target, type, strength, evidence, judge, at) of the links between exchanged memories.

    All of them, of those that stand; what compares them with the registers is not SQL.
    """
    return reading.execute(
        "SELECT a.id, b.id, l.type, l.strength, l.evidence, l.judge, l.at FROM links AS l "
        "JOIN replica_memories AS a ON a.memory = l.source JOIN replica_memories AS b ON b.memory = l.target "
        "ORDER BY l.source, l.target, l.type"
    ).fetchall()


def links_mark(reading: Reading) -> str:
    """Return what changes when a link is set, changed or removed."""
    marked = "SELECT count(*), sum(strength), sum(length(evidence) + length(judge)), max(at) FROM links"
    return json.dumps([str(value) for value in reading.execute(marked).fetchone()])


def link_registers(reading: Reading) -> dict[tuple[str, str, str], Register]:
    """Return what was said of every link."""
    rows = reading.execute(f"SELECT {_COLUMNS} FROM replica_registers WHERE kind = '{LINK}'")
    return {row[1:4]: Register(*row) for row in map(tuple, rows)}


def fit_registers(reading: Reading) -> list[Register]:
    """Return the newest fit of each origin."""
    rows = reading.execute(f"SELECT {_COLUMNS} FROM replica_registers WHERE kind = '{FIT}' ORDER BY a")
    return [Register(*row) for row in rows]


# -- memories ------------------------------------------------------------------------------------------------------


class Known(NamedTuple):
    """A memory that is exchanged, as it was when that was last looked at; columns of `replica_memories`, in order."""

    memory: int
    id: str
    said: bytes
    hash: str
    state: str
    twin: str


_KNOWN = "SELECT memory, id, said, hash, state, twin FROM replica_memories"


def known(reading: Reading, numbers: Sequence[int]) -> dict[int, Known]:
    """Return the exchanged memories of these row numbers."""
    rows = reading.execute(f"{_KNOWN} WHERE memory IN (:numbers)", {"numbers": list(numbers)})
    return {row[0]: _as_known(row) for row in rows}


def known_by_id(reading: Reading, memory_id: str) -> Known | None:
    """Return an exchanged memory; None when there is none of this id."""
    row = reading.execute(f"{_KNOWN} WHERE id = ?", (memory_id,)).fetchone()
    return None if row is None else _as_known(row)


def saying(reading: Reading, said: bytes) -> list[Known]:
    """Return the exchanged memories that say this, by id."""
    return [_as_known(row) for row in reading.execute(f"{_KNOWN} WHERE said = ? ORDER BY id", (said,))]


def _as_known(row: Sequence[Any]) -> Known:
    memory, memory_id, said, hashed, state, twin = row
    return Known(memory, memory_id, bytes(said), hashed, state, twin)


def put_known(writing: Writing, new: Known) -> None:
    """Note how an exchanged memory is now."""
    writing.insert(
        "replica_memories",
        Known._fields,
        [new],
        "ON CONFLICT (memory) DO UPDATE SET said = excluded.said, hash = excluded.hash, state = excluded.state, "
        "twin = excluded.twin",
    )


def drop_known(writing: Writing, n: int) -> None:
    """Forget an exchanged memory that is deleted."""
    writing.execute("DELETE FROM replica_memories WHERE memory = ?", (n,))


def gone(reading: Reading, numbers: Sequence[int] | None) -> list[Known]:
    """Return the exchanged memories, of these or of all, that are not there any more."""
    missing = f"{_KNOWN} WHERE NOT EXISTS (SELECT 1 FROM memories WHERE n = replica_memories.memory)"
    if numbers is None:
        return [_as_known(row) for row in reading.execute(missing)]
    rows = reading.execute(f"{missing} AND memory IN (:numbers)", {"numbers": list(numbers)})
    return [_as_known(row) for row in rows]


def changed_after(reading: Reading, change: int, most: int) -> list[tuple[int, int]]:
    """Return (memory, its newest change) behind a change of the feed, the oldest first, up to so many."""
    return reading.execute(
        "SELECT memory, max(seq) AS newest FROM changes WHERE seq > ? GROUP BY memory ORDER BY newest LIMIT ?",
        (change, most),
    ).fetchall()


def oldest_change(reading: Reading) -> int:
    """Return the number of the oldest change that the feed still knows; 0 when it knows none."""
    return number(reading, "SELECT coalesce(min(seq), 0) FROM changes")


# -- evidence ------------------------------------------------------------------------------------------------------


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


def pieces(reading: Reading, memory_id: str, said: bytes, origin: str) -> dict[str, Piece]:
    """Return the evidence of an origin about what a memory says, by id."""
    asked = f"SELECT {_PIECE} FROM replica_evidence WHERE memory = ? AND said = ? AND origin = ?"
    return {row[0]: Piece(*row) for row in reading.execute(asked, (memory_id, said, origin))}


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
        "JOIN replica_origins AS o ON o.origin = e.origin WHERE e.memory = ? AND e.said = ? AND o.own = 0 "
        "AND e.positive + e.negative > 0 "
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
        "WHERE e.validates <> '[]' AND o.own = 0 GROUP BY e.validates ORDER BY e.validates"
    ).fetchall()


# -- what was spent ------------------------------------------------------------------------------------------------


def spent(reading: Reading, origin: str, day: int) -> dict[str, int]:
    """Return what was taken from an origin on a day, by what."""
    asked = "SELECT what, spent FROM replica_spent WHERE origin = ? AND day = ?"
    return {what: int(many) for what, many in reading.execute(asked, (origin, day))}


def spend(writing: Writing, origin: str, day: int, amounts: dict[str, int]) -> None:
    """Count what was taken from an origin on a day."""
    writing.insert(
        "replica_spent",
        ("origin", "day", "what", "spent"),
        [(origin, day, what, many) for what, many in amounts.items() if many],
        "ON CONFLICT (origin, day, what) DO UPDATE SET spent = replica_spent.spent + excluded.spent",
    )
