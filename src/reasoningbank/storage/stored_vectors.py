"""The stored vectors that a process holds an index of, and the change feed that the index is kept up to date from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CURRENT = "(SELECT generation FROM generations WHERE state = 'current')"
BATCH = 512
"""Rows read at once: what is made of them on the way fits into a core's cache."""

Row = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """A table of vectors with its feed: the only SQL about them that an index needs.

    Ids of vectors are never used again, and a vector never changes.

    Attributes:
        table: has the columns id, `owner`, generation and vector (float32 bytes).
        owner: the column with the row number of what a vector belongs to.
        feed: has the columns seq, op ('put', 'delete' and others) and vector.
    """

    table: str
    owner: str
    feed: str

    def newest(self, connection: sqlite3.Connection) -> int:
        """Return the number of the newest change that this transaction sees."""
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (self.feed,)).fetchone()
        return int(row[0]) if row else 0

    def tail_is_gone(self, connection: sqlite3.Connection, covered: int, newest: int) -> bool:
        """Tell whether changes after `covered` were pruned from the feed, so that it cannot be followed from there."""
        if newest <= covered:
            return False
        oldest = connection.execute(f"SELECT min(seq) FROM {self.feed}").fetchone()[0]
        return oldest is None or bool(oldest > covered + 1)

    def changed(self, connection: sqlite3.Connection, covered: int) -> tuple[list[int], list[int]]:
        """Return the ids of vectors that were put, and of those that were deleted, after a change, in order."""
        rows = connection.execute(
            f"SELECT op, vector FROM {self.feed} WHERE seq > ? AND vector IS NOT NULL ORDER BY seq", (covered,)
        ).fetchall()
        return [vector for op, vector in rows if op == "put"], [vector for op, vector in rows if op == "delete"]

    def every(self, connection: sqlite3.Connection, generation: int) -> Iterator[list[Row]]:
        """Yield (id, owner, vector) of a generation, in batches."""
        rows = connection.execute(
            f"SELECT id, {self.owner}, vector FROM {self.table} WHERE generation = ?", (generation,)
        )
        while batch := rows.fetchmany(BATCH):
            yield batch

    def these(self, connection: sqlite3.Connection, generation: int, ids: Sequence[int]) -> Iterator[list[Row]]:
        """Yield (id, owner, vector) of those of these ids that are there and of this generation, in batches."""
        for start in range(0, len(ids), BATCH):
            batch = connection.execute(
                f"SELECT id, {self.owner}, vector FROM {self.table} "
                "WHERE generation = ? AND id IN (SELECT value FROM json_each(?))",
                (generation, json.dumps(ids[start : start + BATCH])),
            ).fetchall()
            if batch:
                yield batch

    def vectors(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the vectors with these ids that this transaction sees."""
        rows = connection.execute(
            f"SELECT id, vector FROM {self.table} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
        )
        return dict(rows)

    def sample(self, connection: sqlite3.Connection, size: int) -> list[bytes]:
        """Return the oldest vectors of the current generation, up to `size` of them."""
        rows = connection.execute(
            f"SELECT vector FROM {self.table} WHERE generation = {CURRENT} ORDER BY id LIMIT ?", (size,)
        )
        return [vector for (vector,) in rows]


MEMORIES = StoredVectors("vectors", "memory", "changes")
NODES = StoredVectors("node_vectors", "node", "node_changes")


def current_generation(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the number of the current generation and its vectors' dimension; None before the first vector."""
    row = connection.execute("SELECT generation, dim FROM generations WHERE state = 'current'").fetchone()
    return None if row is None else (int(row[0]), int(row[1]))
