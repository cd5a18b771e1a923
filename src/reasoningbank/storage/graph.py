"""Rows of the memory graph: nodes, edges, pointers to memories, and what nodes are found by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.graph.nodes import Edge, EdgeDraft, Node, NodeDraft, NodeKind
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import snapshots
from reasoningbank.storage.filters import json_text
from reasoningbank.storage.stored_vectors import CURRENT, NODES

SERVED = "state = 'active'"


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node's row."""

    n: int
    node: Node
    scrub_version: int


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge's row."""

    edge: Edge
    scrub_version: int


@dataclass(frozen=True, slots=True)
class NodeFilters:
    """Which nodes to look at; None looks at all.

    Attributes:
        tags: a node must have all of these.
        served: leave out what is quarantined.
    """

    kind: NodeKind | None = None
    conv_id: str | None = None
    tags: tuple[str, ...] = ()
    served: bool = True

    def clause(self) -> tuple[str, list[Any]]:
        """Return an SQL condition on `nodes`, and its values."""
        parts, values = [SERVED if self.served else "1"], []
        if self.kind is not None:
            parts.append("kind = ?")
            values.append(self.kind.value)
        if self.conv_id is not None:
            parts.append("conv_id = ?")
            values.append(self.conv_id)
        for tag in self.tags:
            parts.append("EXISTS (SELECT 1 FROM json_each(nodes.tags) AS t WHERE t.value = ?)")
            values.append(tag)
        return " AND ".join(parts), values


# -- nodes ---------------------------------------------------------------------------------------------------------


def find(connection: sqlite3.Connection, node_id: str) -> int | None:
    """Return the row number of a node, or None."""
    row = connection.execute("SELECT n FROM nodes WHERE id = ?", (node_id,)).fetchone()
    return None if row is None else int(row[0])


def put(
    connection: sqlite3.Connection,
    node_id: str,
    draft: NodeDraft,
    *,
    memories: Sequence[int],
    findings: Sequence[str],
    quarantined: bool,
    scrub_version: int,
    terms: str,
    now: datetime,
    created_at: datetime | None = None,
) -> tuple[int, bool]:
    """Store a node, or store it anew; return its row number and whether it is new. It keeps its edges."""
    values = (
        draft.kind.value,
        draft.text,
        draft.conv_id,
        json_text(draft.tags),
        json_text(draft.fields),
        "quarantined" if quarantined else "active",
        json_text(list(findings)),
        scrub_version,
        time_text(now),
    )
    n = find(connection, node_id)
    if created := n is None:
        n = connection.execute(
            "INSERT INTO nodes(kind, text, conv_id, tags, fields, state, findings, scrub_version, updated_at, id, "
            "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, node_id, time_text(created_at or now)),
        ).lastrowid
    else:
        connection.execute(
            "UPDATE nodes SET kind = ?, text = ?, conv_id = ?, tags = ?, fields = ?, state = ?, findings = ?, "
            "scrub_version = ?, updated_at = ? WHERE n = ?",
            (*values, n),
        )
        snapshots.drop(connection, NODES.table)
        for table, column in (("pointers", "node"), ("node_vectors", "node"), ("node_terms", "rowid")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (n,))
    row = int(n or 0)
    connection.execute("INSERT INTO node_terms(rowid, text) VALUES (?, ?)", (row, terms))
    connection.executemany("INSERT OR IGNORE INTO pointers VALUES (?, ?)", [(row, memory) for memory in memories])
    return row, created


def add_vector(connection: sqlite3.Connection, n: int, generation: int, vector: bytes) -> None:
    """Store the vector of a node that has none of this generation."""
    connection.execute("INSERT INTO node_vectors(node, generation, vector) VALUES (?, ?, ?)", (n, generation, vector))


def load(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, StoredNode]:
    """Return the rows of these numbers, in the given order; numbers that are gone are left out."""
    given = json.dumps(list(numbers))
    pointers: dict[int, list[str]] = {}
    for n, memory in connection.execute(
        "SELECT p.node, m.id FROM pointers AS p JOIN memories AS m ON m.n = p.memory "
        "WHERE p.node IN (SELECT value FROM json_each(?)) ORDER BY p.node, p.memory",
        (given,),
    ):
        pointers.setdefault(n, []).append(memory)
    rows = connection.execute(
        "SELECT n, id, kind, text, conv_id, tags, fields, state, findings, created_at, updated_at, scrub_version "
        "FROM nodes WHERE n IN (SELECT value FROM json_each(?))",
        (given,),
    )
    found = {row[0]: _node(row, pointers.get(row[0], ())) for row in rows}
    return {n: found[n] for n in numbers if n in found}


def _node(row: Sequence[Any], pointers: Sequence[str]) -> StoredNode:
    n, node_id, kind, text, conv_id, tags, fields, state, findings, created, updated, scrub_version = row
    node = Node(
        id=node_id,
        kind=NodeKind(kind),
        text=text,
        conv_id=conv_id,
        tags=tuple(json.loads(tags)),
        reasoning_pointer_ids=tuple(pointers),
        fields=json.loads(fields),
        quarantined=state != "active",
        findings=tuple(json.loads(findings)),
        created_at=parse_time(created),
        updated_at=parse_time(updated),
    )
    return StoredNode(n, node, scrub_version)


def page(connection: sqlite3.Connection, filters: NodeFilters, after: int, limit: int) -> list[int]:
    """Return up to `limit` row numbers behind `after` that pass the filters, in the order they were added."""
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT n FROM nodes WHERE n > ? AND {condition} ORDER BY n LIMIT ?", (after, *values, limit)
    )
    return [n for (n,) in rows]


def passing(connection: sqlite3.Connection, numbers: Sequence[int], filters: NodeFilters) -> list[int]:
    """Return which of these nodes pass the filters, in ascending order."""
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT n FROM nodes WHERE n IN (SELECT value FROM json_each(?)) AND {condition} ORDER BY n",
        (json.dumps(list(numbers)), *values),
    )
    return [n for (n,) in rows]


def every_node(connection: sqlite3.Connection) -> Iterator[StoredNode]:
    """Yield every node, quarantined or not, in the order they were added."""
    after = 0
    while numbers := page(connection, NodeFilters(served=False), after, 500):
        yield from load(connection, numbers).values()
        after = numbers[-1]


def count_not_embedded(connection: sqlite3.Connection) -> int:
    """Return how many nodes have no current vector."""
    total: int = connection.execute(
        "SELECT count(*) FROM nodes WHERE NOT EXISTS (SELECT 1 FROM node_vectors AS v WHERE v.node = nodes.n "
        f"AND v.generation = {CURRENT})"
    ).fetchone()[0]
    return total


def approve(connection: sqlite3.Connection, n: int, now: datetime) -> bool:
    """Let a quarantined node be found; False when it was not quarantined."""
    changed = connection.execute(
        "UPDATE nodes SET state = 'active', updated_at = ? WHERE n = ? AND state = 'quarantined'", (time_text(now), n)
    ).rowcount
    return bool(changed)


def delete_node(connection: sqlite3.Connection, node_id: str) -> bool:
    """Delete a node with its edges and pointers; False when there was none."""
    snapshots.drop(connection, NODES.table)
    return bool(connection.execute("DELETE FROM nodes WHERE id = ?", (node_id,)).rowcount)


def of_memory(connection: sqlite3.Connection, memory: int) -> list[int]:
    """Return the row numbers of the nodes that point to a memory."""
    return [n for (n,) in connection.execute("SELECT node FROM pointers WHERE memory = ? ORDER BY node", (memory,))]


# -- edges ---------------------------------------------------------------------------------------------------------

_EDGE = "e.id, a.id, b.id, e.text, e.weight, e.tags, e.created_at, e.scrub_version"
_JOINED = "edges AS e JOIN nodes AS a ON a.n = e.source JOIN nodes AS b ON b.n = e.target"


def put_edge(
    connection: sqlite3.Connection,
    edge_id: str,
    ends: tuple[int, int],
    draft: EdgeDraft,
    *,
    scrub_version: int,
    created_at: datetime,
) -> bool:
    """Store an edge, or store it anew; return whether it is new."""
    values = (*ends, draft.text, draft.weight, json_text(draft.tags), scrub_version)
    changed = connection.execute(
        "UPDATE edges SET source = ?, target = ?, text = ?, weight = ?, tags = ?, scrub_version = ? WHERE id = ?",
        (*values, edge_id),
    ).rowcount
    if not changed:
        connection.execute(
            "INSERT INTO edges(source, target, text, weight, tags, scrub_version, id, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, edge_id, time_text(created_at)),
        )
    return not changed


def edge(connection: sqlite3.Connection, edge_id: str) -> StoredEdge | None:
    """Return an edge, or None."""
    row = connection.execute(f"SELECT {_EDGE} FROM {_JOINED} WHERE e.id = ?", (edge_id,)).fetchone()
    return None if row is None else _stored_edge(row)


def edges_of(connection: sqlite3.Connection, node_id: str, *, served: bool) -> list[StoredEdge]:
    """Return the edges of a node, in the order they were added.

    Args:
        served: leave out those that lead to a quarantined node.
    """
    rows = connection.execute(
        f"SELECT {_EDGE} FROM {_JOINED} WHERE (a.id = ?1 OR b.id = ?1) "
        "AND (?2 = 0 OR (a.state = 'active' AND b.state = 'active')) ORDER BY e.n",
        (node_id, int(served)),
    )
    return [_stored_edge(row) for row in rows]


def edge_page(connection: sqlite3.Connection, after: int, limit: int) -> tuple[list[StoredEdge], int]:
    """Return up to `limit` edges behind `after`, and the number of the last."""
    rows = connection.execute(
        f"SELECT e.n, {_EDGE} FROM {_JOINED} WHERE e.n > ? ORDER BY e.n LIMIT ?", (after, limit)
    ).fetchall()
    return [_stored_edge(row[1:]) for row in rows], rows[-1][0] if rows else after


def _stored_edge(row: Sequence[Any]) -> StoredEdge:
    edge_id, source, target, text, weight, tags, created, scrub_version = row
    found = Edge(
        id=edge_id,
        source=source,
        target=target,
        text=text,
        weight=weight,
        tags=tuple(json.loads(tags)),
        created_at=parse_time(created),
    )
    return StoredEdge(found, scrub_version)


def delete_edge(connection: sqlite3.Connection, edge_id: str) -> bool:
    """Delete an edge; False when there was none."""
    return bool(connection.execute("DELETE FROM edges WHERE id = ?", (edge_id,)).rowcount)


# -- what nodes are found by ---------------------------------------------------------------------------------------


def matches(connection: sqlite3.Connection, expression: str, width: int) -> dict[int, float]:
    """Return row number and BM25 score of the best `width` matches; at least 0."""
    if not expression:
        return {}
    rows = connection.execute(
        "SELECT rowid, -rank FROM node_terms WHERE node_terms MATCH ? ORDER BY rank, rowid LIMIT ?", (expression, width)
    )
    return {n: max(0.0, score) for n, score in rows}


def vectors(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """Return the current vectors of nodes; those without one are left out."""
    rows = connection.execute(
        f"SELECT node, vector FROM node_vectors WHERE generation = {CURRENT} "
        "AND node IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    return dict(rows)


def texts(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return (row number, text, indexed terms) of nodes."""
    rows = connection.execute(
        "SELECT n, nodes.text, node_terms.text FROM nodes JOIN node_terms ON node_terms.rowid = n "
        "WHERE n IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    return rows.fetchall()


def is_active(connection: sqlite3.Connection, memory_id: str) -> bool:
    """Tell whether a memory is in service."""
    row = connection.execute("SELECT 1 FROM memories WHERE id = ? AND state = 'active'", (memory_id,)).fetchone()
    return row is not None
