"""Rows of what banks tell one another: origins, blocks, registers, and what was spent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from reasoningbank.replication import Block, key_of
from reasoningbank.storage.contract import Reading, Writing, column, number

PREFIX = "bus:"
"""How the sources of replicated evidence and memories begin."""
CHANGES_LIMIT = 1_000
"""How many changes a block holds at the most."""


# -- origins and blocks --------------------------------------------------------------------------------------------


# Whether an origin is another bank, this one, or this one before it began anew.
OTHER, SPEAKS, SPOKE = 0, 1, 2


class Origin(NamedTuple):
    """A bank whose changes are here: columns of `replica_origins`, in order."""

    origin: str
    name: str
    own: int
    have: int
    head: bytes
    at: str

    @property
    def key(self) -> str:
        """Its public key."""
        return key_of(self.origin)


def origins(reading: Reading) -> dict[str, Origin]:
    """Return what is known of each origin."""
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
    """Return the origin as which this bank speaks on the bus; None when it never did."""
    return next(iter(column(reading, "SELECT origin FROM replica_origins WHERE own = ?", (SPEAKS,))), None)


def spoken_as(reading: Reading, key: str) -> list[str]:
    """Return all origins of one key, the last one last."""
    return sorted(origin for origin in origins(reading) if key_of(origin) == key)


def end_speaking(writing: Writing, name: str) -> None:
    """Let what this bank spoke as be an origin like others', of this name."""
    writing.execute("UPDATE replica_origins SET own = ?, name = ? WHERE own = ?", (SPOKE, name, SPEAKS))


def put_block(writing: Writing, block: Block) -> None:
    """Keep a block, to pass it on."""
    writing.insert("replica_blocks", Block._fields, [block])


_BLOCK = f"SELECT {', '.join(Block._fields)} FROM replica_blocks WHERE origin = ?"


def _as_block(row: Sequence[Any]) -> Block:
    return Block(row[0], row[1], row[2], bytes(row[3]), bytes(row[4]))


def blocks_after(reading: Reading, origin: str, have: int, most: int) -> list[Block]:
    """Return the blocks of an origin with changes behind this one, in order, up to so many."""
    asked = f"{_BLOCK} AND first > ? AND last > ? ORDER BY first LIMIT ?"
    return list(map(_as_block, reading.execute(asked, (origin, have - CHANGES_LIMIT, have, most))))


def block_at(reading: Reading, origin: str, first: int) -> Block | None:
    """Return the block of an origin that begins with a change."""
    return next(map(_as_block, reading.execute(f"{_BLOCK} AND first = ?", (origin, first))), None)


def block_ending(reading: Reading, origin: str, last: int) -> Block | None:
    """Return the block of an origin that ends with a change."""
    asked = f"{_BLOCK} AND first > ? AND last = ?"
    return next(map(_as_block, reading.execute(asked, (origin, last - CHANGES_LIMIT, last))), None)


def drop_blocks(writing: Writing, origin: str, have: int) -> None:
    """Keep the blocks of an origin up to a change, and no others."""
    writing.execute("DELETE FROM replica_blocks WHERE origin = ? AND first > ?", (origin, have))


# -- registers -----------------------------------------------------------------------------------------------------

MEMORY, STATE, LINK, FIT, GIVEN_UP = "m", "s", "l", "f", "g"


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


def drop_fit(writing: Writing, origin: str) -> None:
    """Forget the fit of an origin."""
    writing.execute(f"DELETE FROM replica_registers WHERE kind = '{FIT}' AND a = ?", (origin,))


def take_over(writing: Writing, old: str, new: str, clocks: Sequence[str]) -> None:
    """Let what an origin said at these times be said by another one."""
    writing.execute(
        "UPDATE replica_registers SET origin = :new WHERE origin = :old AND clock IN (:clocks)",
        {"old": old, "new": new, "clocks": list(clocks)},
    )


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
