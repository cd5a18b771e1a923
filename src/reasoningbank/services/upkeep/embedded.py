"""What is embedded, memories and nodes of the graph: how a batch of either is read, embedded and stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Protocol

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each
from reasoningbank.memory import Memory
from reasoningbank.services.record.lesson_vectors import lesson_vectors
from reasoningbank.storage import records

# Rows of vectors, as they are stored beside their owner and generation.
Rows = list[tuple[Any, ...]]


class Kind(Protocol):
    """One kind of what is embedded. An item is all that has to be the same still when its vectors are stored."""

    def missing(self, connection: sqlite3.Connection, generation: int) -> list[int]:
        """Return the numbers of those without a vector of a generation."""

    def load(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Any]:
        """Return items by number."""

    def embed(self, embedder: Embedder, items: Sequence[Any]) -> list[Rows]:
        """Return the rows of each item; none for one that cannot be embedded."""

    def is_present(self, connection: sqlite3.Connection, n: int, item: Any) -> bool:
        """Tell whether an item is as it was when it was read."""

    def store(self, connection: sqlite3.Connection, generation: int, n: int, rows: Rows) -> None:
        """Store the rows of one item in place of those it has."""


class Memories:
    """Memories, by what they say and by when they apply."""

    def __init__(self, project: str) -> None:
        self._project = project

    def missing(self, connection: sqlite3.Connection, generation: int) -> list[int]:
        """Return the numbers of the memories without a lesson vector."""
        rows = connection.execute(
            "SELECT n FROM memories WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.memory = memories.n "
            "AND v.generation = ? AND v.role = 'lesson') ORDER BY n",
            (generation,),
        )
        return [n for (n,) in rows]

    def load(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Memory]:
        """Return memories by number."""
        return {n: row.memory for n, row in records.load(connection, numbers, self._project).items()}

    def embed(self, embedder: Embedder, items: Sequence[Memory]) -> list[Rows]:
        """Return (role, vector) of each memory."""
        return [[(role, v.tobytes()) for role, v in made.roles] for made in lesson_vectors(embedder, items)]

    def is_present(self, connection: sqlite3.Connection, n: int, item: Memory) -> bool:
        """Tell whether a memory was neither changed nor deleted."""
        row = connection.execute("SELECT revision FROM memories WHERE n = ?", (n,)).fetchone()
        return row is not None and bool(row[0] == item.revision)

    def store(self, connection: sqlite3.Connection, generation: int, n: int, rows: Rows) -> None:
        """Store a memory's vectors."""
        connection.execute("DELETE FROM vectors WHERE memory = ? AND generation = ?", (n, generation))
        connection.executemany(
            "INSERT INTO vectors(memory, generation, role, vector) VALUES (?, ?, ?, ?)",
            [(n, generation, *row) for row in rows],
        )


class Nodes:
    """Nodes of the memory graph, by their text."""

    def missing(self, connection: sqlite3.Connection, generation: int) -> list[int]:
        """Return the numbers of the nodes without a vector."""
        rows = connection.execute(
            "SELECT n FROM nodes WHERE NOT EXISTS "
            "(SELECT 1 FROM node_vectors AS v WHERE v.node = nodes.n AND v.generation = ?) ORDER BY n",
            (generation,),
        )
        return [n for (n,) in rows]

    def load(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, str]:
        """Return texts by number."""
        marks = ", ".join("?" * len(numbers))
        return dict(connection.execute(f"SELECT n, text FROM nodes WHERE n IN ({marks}) ORDER BY n", list(numbers)))

    def embed(self, embedder: Embedder, items: Sequence[str]) -> list[Rows]:
        """Return the vector of each text."""
        embedded = embed_each(embedder, items)
        return [[] if i in embedded.failures else [(embedded.vectors[i].tobytes(),)] for i in range(len(items))]

    def is_present(self, connection: sqlite3.Connection, n: int, item: str) -> bool:
        """Tell whether a node still says this."""
        return connection.execute("SELECT 1 FROM nodes WHERE n = ? AND text = ?", (n, item)).fetchone() is not None

    def store(self, connection: sqlite3.Connection, generation: int, n: int, rows: Rows) -> None:
        """Store a node's vector."""
        connection.executemany(
            "INSERT OR IGNORE INTO node_vectors(node, generation, vector) VALUES (?, ?, ?)",
            [(n, generation, *row) for row in rows],
        )
