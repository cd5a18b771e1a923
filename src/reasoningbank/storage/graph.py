"""Rows of the memory graph: nodes, edges, pointers to memories, and what nodes are found by."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.graph.nodes import Edge, EdgeDraft, Node, NodeDraft, NodeKind
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.filters import json_text
from reasoningbank.storage.stored_vectors import CURRENT, NODES

_SAID = ("kind", "text", "conv_id", "tags", "fields", "state", "findings", "scrub_version", "updated_at")


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
    """Which nodes to look at: None looks at all, `tags` must all be there, `served` leaves out what is quarantined."""

    kind: NodeKind | None = None
    conv_id: str | None = None
    tags: tuple[str, ...] = ()
    served: bool = True

    def clause(self) -> tuple[str, list[Any]]:
        """Return an SQL condition on `nodes`, and its values."""
        parts, values = ["state = 'active'" if self.served else "1 = 1"], []
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


def find(reading: Reading, node_id: str) -> int | None:
    """Return the row number of a node, or None."""
    row = reading.execute("SELECT n FROM nodes WHERE id = ?", (node_id,)).fetchone()
    return None if row is None else int(row[0])


def put(
    writing: Writing,
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
    n = find(writing, node_id)
    if created := n is None:
        n = writing.number("nodes")
        writing.insert(
            "nodes", (*_SAID, "id", "created_at", "n"), [(*values, node_id, time_text(created_at or now), n)]
        )
    else:
        changed = ", ".join(f"{column} = ?" for column in _SAID)
        writing.execute(f"UPDATE nodes SET {changed} WHERE n = ?", (*values, n))
        NODES.drop_snapshot(writing)
        for table, column in (("pointers", "node"), ("node_vectors", "node"), ("node_terms", "rowid")):
            writing.execute(f"DELETE FROM {table} WHERE {column} = ?", (n,))
    writing.insert("node_terms", ("rowid", "text"), [(n, terms)])
    writing.insert("pointers", ("node", "memory"), [(n, memory) for memory in dict.fromkeys(memories)])
    return n, created


def add_vector(writing: Writing, n: int, generation: int, vector: bytes) -> None:
    """Store the vector of a node that has none of this generation."""
    number = writing.number("node_vectors")
    writing.insert("node_vectors", ("id", "node", "generation", "vector"), [(number, n, generation, vector)])


def load(reading: Reading, numbers: Sequence[int]) -> dict[int, StoredNode]:
    """Return the rows of these numbers, in the given order; numbers that are gone are left out."""
    given = {"numbers": list(numbers)}
    pointers: dict[int, list[str]] = {}
    for n, memory in reading.execute(
        "SELECT p.node, m.id FROM pointers AS p JOIN memories AS m ON m.n = p.memory "
        "WHERE p.node IN (:numbers) ORDER BY p.node, p.memory",
        given,
    ):
        pointers.setdefault(n, []).append(memory)
    rows = reading.execute(
        "SELECT n, id, kind, text, conv_id, tags, fields, state, findings, created_at, updated_at, scrub_version "
        "FROM nodes WHERE n IN (:numbers)",
        given,
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


def page(reading: Reading, filters: NodeFilters, after: int, limit: int) -> list[int]:
    """Return up to `limit` row numbers behind `after` that pass the filters, in the order they were added."""
    condition, values = filters.clause()
    matching = f"SELECT n FROM nodes WHERE n > ? AND {condition} ORDER BY n LIMIT ?"
    return column(reading, matching, (after, *values, limit))


def passing(reading: Reading, numbers: Sequence[int], filters: NodeFilters) -> list[int]:
    """Return which of these nodes pass the filters, in ascending order."""
    if not numbers:
        return []
    condition, values = filters.clause()
    marks = ", ".join("?" * len(numbers))
    return column(reading, f"SELECT n FROM nodes WHERE n IN ({marks}) AND {condition} ORDER BY n", (*numbers, *values))


def every_node(reading: Reading) -> Iterator[StoredNode]:
    """Yield every node, quarantined or not, in the order they were added."""
    after = 0
    while numbers := page(reading, NodeFilters(served=False), after, 500):
        yield from load(reading, numbers).values()
        after = numbers[-1]


def not_embedded(reading: Reading, generation: int) -> list[int]:
    """Return the nodes without a vector of a generation, in the order they were added."""
    return column(
        reading,
        "SELECT n FROM nodes WHERE NOT EXISTS "
        "(SELECT 1 FROM node_vectors AS v WHERE v.node = nodes.n AND v.generation = ?) ORDER BY n",
        (generation,),
    )


def plain_texts(reading: Reading, numbers: Sequence[int]) -> dict[int, str]:
    """Return what nodes say, by row number, in the order they were added."""
    given = {"numbers": list(numbers)}
    return dict(reading.execute("SELECT n, text FROM nodes WHERE n IN (:numbers) ORDER BY n", given))


def approve(writing: Writing, n: int, now: datetime) -> bool:
    """Let a quarantined node be found; False when it was not quarantined."""
    approving = "UPDATE nodes SET state = 'active', updated_at = ? WHERE n = ? AND state = 'quarantined'"
    return bool(writing.execute(approving, (time_text(now), n)).rowcount)


def delete_node(writing: Writing, node_id: str) -> bool:
    """Delete a node with its edges and pointers; False when there was none."""
    NODES.drop_snapshot(writing)
    return bool(writing.execute("DELETE FROM nodes WHERE id = ?", (node_id,)).rowcount)


def of_memory(reading: Reading, memory: int) -> list[int]:
    """Return the row numbers of the nodes that point to a memory."""
    return column(reading, "SELECT node FROM pointers WHERE memory = ? ORDER BY node", (memory,))


# -- edges ---------------------------------------------------------------------------------------------------------

_EDGE = "e.id, a.id, b.id, e.text, e.weight, e.tags, e.created_at, e.scrub_version"
_JOINED = "edges AS e JOIN nodes AS a ON a.n = e.source JOIN nodes AS b ON b.n = e.target"


def put_edge(
    writing: Writing, edge_id: str, ends: tuple[int, int], draft: EdgeDraft, *, scrub_version: int, created_at: datetime
) -> bool:
    """Store an edge, or store it anew; return whether it is new."""
    values = (*ends, draft.text, draft.weight, json_text(draft.tags), scrub_version)
    changed = writing.execute(
        "UPDATE edges SET source = ?, target = ?, text = ?, weight = ?, tags = ?, scrub_version = ? WHERE id = ?",
        (*values, edge_id),
    ).rowcount
    if not changed:
        columns = ("source", "target", "text", "weight", "tags", "scrub_version", "id", "created_at", "n")
        writing.insert("edges", columns, [(*values, edge_id, time_text(created_at), writing.number("edges"))])
    return not changed


def edge(reading: Reading, edge_id: str) -> StoredEdge | None:
    """Return an edge, or None."""
    row = reading.execute(f"SELECT {_EDGE} FROM {_JOINED} WHERE e.id = ?", (edge_id,)).fetchone()
    return None if row is None else _stored_edge(row)


def edges_of(reading: Reading, node_id: str, *, served: bool) -> list[StoredEdge]:
    """Return the edges of a node, in the order they were added; if `served`, without those to a quarantined node."""
    rows = reading.execute(
        f"SELECT {_EDGE} FROM {_JOINED} WHERE (a.id = :node OR b.id = :node) "
        "AND (:served = 0 OR (a.state = 'active' AND b.state = 'active')) ORDER BY e.n",
        {"node": node_id, "served": int(served)},
    )
    return [_stored_edge(row) for row in rows]


def edges_among(reading: Reading, node_ids: Sequence[str]) -> list[StoredEdge]:
    """Return the edges whose both ends are among these nodes, in the order they were added."""
    among = f"SELECT {_EDGE} FROM {_JOINED} WHERE a.id IN (:nodes) AND b.id IN (:nodes) ORDER BY e.n"
    return [_stored_edge(row) for row in reading.execute(among, {"nodes": list(node_ids)})]


def edge_page(reading: Reading, after: int, limit: int) -> tuple[list[StoredEdge], int]:
    """Return up to `limit` edges behind `after`, and the number of the last."""
    rows = reading.execute(
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


def delete_edge(writing: Writing, edge_id: str) -> bool:
    """Delete an edge; False when there was none."""
    return bool(writing.execute("DELETE FROM edges WHERE id = ?", (edge_id,)).rowcount)


# -- what nodes are found by ---------------------------------------------------------------------------------------


def vectors(reading: Reading, numbers: Sequence[int]) -> dict[int, bytes]:
    """Return the current vectors of nodes; those without one are left out."""
    current = f"SELECT node, vector FROM node_vectors WHERE generation = {CURRENT} AND node IN (:numbers)"
    return dict(reading.execute(current, {"numbers": list(numbers)}))


def texts(reading: Reading, numbers: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return (row number, text, indexed terms) of nodes."""
    return reading.execute(
        "SELECT n, nodes.text, node_terms.text FROM nodes JOIN node_terms ON node_terms.rowid = n "
        "WHERE n IN (:numbers)",
        {"numbers": list(numbers)},
    ).fetchall()


def is_served(reading: Reading, memory_id: str, now: datetime) -> bool:
    """Tell whether a memory is in service, and has not expired."""
    there = "SELECT 1 FROM memories WHERE id = ? AND state = 'active' AND (expires_at IS NULL OR expires_at > ?)"
    return reading.execute(there, (memory_id, time_text(now))).fetchone() is not None
