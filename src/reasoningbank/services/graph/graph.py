"""The memory graph: nodes and edges in, by the same way as lessons, and what they say out."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each
from reasoningbank.errors import InvalidInputError, MemoryNotFoundError, NodeNotFoundError
from reasoningbank.graph.nodes import Edge, EdgeDraft, Node, NodeDraft, checked_fields
from reasoningbank.graph.results import EdgeStored, NodeStored
from reasoningbank.screening.door import clean
from reasoningbank.screening.guard import SUSPICIOUS, inspect, normalise_hidden, suspicion
from reasoningbank.screening.scrub import RULES_VERSION, RuleSet, scrub_value
from reasoningbank.search.terms import terms
from reasoningbank.services.cache.shown import is_clean
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.record import number_of
from reasoningbank.services.view import Edit
from reasoningbank.storage import graph
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.graph import NodeFilters, StoredEdge, StoredNode
from reasoningbank.validation import validated
from reasoningbank.vectors.base import Float32


@dataclass(frozen=True, slots=True)
class CleanNode:
    """A node that is ready to be embedded and stored.

    `quarantined` as it came from elsewhere; signs of planted instructions quarantine it too.
    """

    id: str
    draft: NodeDraft
    redactions: dict[str, int]
    findings: tuple[str, ...]
    quarantined: bool = False
    created_at: datetime | None = None


def indexed_terms(node: NodeDraft | Node) -> str:
    """Return the words under which a node is indexed."""
    said = [node.text, *node.tags]
    for value in node.fields.values():
        said += map(str, value) if isinstance(value, list) else [str(value)]
    return " ".join(terms("\n".join(said)))


def clean_node(
    node_id: str | None,
    fields: dict[str, Any],
    rules: RuleSet,
    *,
    quarantined: bool = False,
    created_at: datetime | None = None,
) -> CleanNode:
    """Check a node, take out secrets and hidden characters, and look for planted instructions."""
    draft = validated(NodeDraft, fields)
    special = checked_fields(draft.kind, draft.fields)
    findings = inspect(text=draft.text, tags=" ".join(draft.tags), fields=" ".join(map(str, special.values())))
    suspected = suspicion(findings, len(draft.text))
    said = {
        "text": normalise_hidden(draft.text),
        "tags": list(map(normalise_hidden, draft.tags)),
        "conv_id": draft.conv_id,
        "fields": special,
    }
    scrubbed, counts = scrub_value(said, rules)
    return CleanNode(
        id=node_id or str(uuid.uuid4()),
        draft=validated(NodeDraft, draft.model_dump() | scrubbed),
        redactions=counts,
        findings=tuple(clean(str(finding), rules) for finding in findings) if suspected >= SUSPICIOUS else (),
        quarantined=quarantined,
        created_at=created_at,
    )


def add_node(engine: Engine, node_id: str | None, fields: dict[str, Any]) -> NodeStored:
    """Store a node, or store it anew under its id."""
    cleaned = clean_node(node_id, fields, engine.rules)
    return engine.with_embedder(lambda embedder: _add_node(engine, embedder, cleaned))


def _add_node(engine: Engine, embedder: Embedder, cleaned: CleanNode) -> NodeStored:
    (vector,) = embed_nodes(embedder, [cleaned.draft.text])
    pointers = cleaned.draft.reasoning_pointer_ids
    if pointers and engine.project() is None:
        raise MemoryNotFoundError(pointers[0])
    with engine.write() as edit:
        memories = [number_of(edit, pointer) for pointer in pointers]
        n, created = store_node(edit, embedder, cleaned, memories, vector)
        node = shown_node(graph.load(edit, [n])[n], engine.rules)
    return NodeStored(node, created, cleaned.redactions, problems([vector]))


def problems(vectors: Sequence[Float32 | None]) -> tuple[str, ...]:
    """Return what is to be said of nodes that could not be embedded."""
    failed = sum(vector is None for vector in vectors)
    return (f"{failed} nodes not embedded; found by keyword until they are re-embedded",) if failed else ()


def embed_nodes(embedder: Embedder, texts: Sequence[str]) -> list[Float32 | None]:
    """Return the vectors of nodes' texts, outside any transaction; None for one that cannot be embedded."""
    embedded = embed_each(embedder, texts)
    return [None if i in embedded.failures else embedded.vectors[i] for i in range(len(texts))]


def store_node(
    edit: Edit, embedder: Embedder, cleaned: CleanNode, memories: Sequence[int], vector: Float32 | None
) -> tuple[int, bool]:
    """Store a prepared node inside the caller's transaction; return its row number and whether it is new."""
    generation = edit.generation(embedder.identity)
    n, created = graph.put(
        edit,
        cleaned.id,
        cleaned.draft,
        memories=memories,
        findings=cleaned.findings,
        quarantined=cleaned.quarantined or bool(cleaned.findings),
        scrub_version=RULES_VERSION,
        terms=indexed_terms(cleaned.draft),
        now=edit.engine.now(),
        created_at=cleaned.created_at,
    )
    if vector is not None:
        graph.add_vector(edit, n, generation, vector.tobytes())
    return n, created


# -- edges ---------------------------------------------------------------------------------------------------------


def clean_edge(fields: dict[str, Any], rules: RuleSet) -> tuple[EdgeDraft, dict[str, int]]:
    """Check an edge, and take out secrets and hidden characters; InvalidInputError for what is not allowed."""
    draft = validated(EdgeDraft, fields)
    if draft.source == draft.target:
        raise InvalidInputError(f"node {draft.source!r} cannot be connected with itself: name two nodes")
    if suspicion(inspect(text=draft.text), len(draft.text)) >= SUSPICIOUS:
        raise InvalidInputError("the edge's text looks like planted instructions: say how the two nodes are connected")
    said = {"text": normalise_hidden(draft.text), "tags": list(map(normalise_hidden, draft.tags))}
    scrubbed, counts = scrub_value(said, rules)
    return validated(EdgeDraft, draft.model_dump() | scrubbed), counts


def add_edge(engine: Engine, edge_id: str | None, fields: dict[str, Any]) -> EdgeStored:
    """Store an edge between two nodes, or store it anew under its id."""
    draft, redactions = clean_edge(fields, engine.rules)
    edge_id = edge_id or str(uuid.uuid4())
    with engine.write(create=False) as edit:
        created = store_edge(edit, edge_id, draft)
        stored = graph.edge(edit, edge_id)
    assert stored is not None  # noqa: S101 - just stored
    return EdgeStored(shown_edge(stored, engine.rules), created, redactions)


def store_edge(edit: Edit, edge_id: str, draft: EdgeDraft, created_at: datetime | None = None) -> bool:
    """Store an edge inside the caller's transaction; return whether it is new."""
    ends = _number(edit, draft.source), _number(edit, draft.target)
    at = created_at or edit.engine.now()
    return graph.put_edge(edit, edge_id, ends, draft, scrub_version=RULES_VERSION, created_at=at)


def _number(reading: Reading, node_id: str) -> int:
    n = graph.find(reading, node_id)
    if n is None:
        raise NodeNotFoundError(node_id)
    return n


# -- looking and deleting ------------------------------------------------------------------------------------------


def shown_node(stored: StoredNode, rules: RuleSet) -> Node:
    """Return a node as it may be shown: one that went through older rules goes through the present ones."""
    node = stored.node
    if is_clean(stored.scrub_version, rules):
        return node
    said, _ = scrub_value({"text": node.text, "tags": list(node.tags), "fields": node.fields}, rules)
    conversation = node.conv_id and clean(node.conv_id, rules)
    return node.model_copy(update=said | {"tags": tuple(said["tags"]), "conv_id": conversation})


def shown_edge(stored: StoredEdge, rules: RuleSet) -> Edge:
    """Return an edge as it may be shown."""
    if is_clean(stored.scrub_version, rules):
        return stored.edge
    tags = tuple(clean(tag, rules) for tag in stored.edge.tags)
    return stored.edge.model_copy(update={"text": clean(stored.edge.text, rules), "tags": tags})


def get_node(engine: Engine, node_id: str) -> Node:
    """Return a node, quarantined or not."""
    with engine.read() as view:
        n = _number(view, node_id)
        return shown_node(graph.load(view, [n])[n], engine.rules)


def edges_of(engine: Engine, node_id: str) -> list[Edge]:
    """Return the edges of a node, in either direction."""
    with engine.read() as view:
        _number(view, node_id)
        return [shown_edge(stored, engine.rules) for stored in graph.edges_of(view, node_id, served=False)]


def edges_among(engine: Engine, node_ids: Sequence[str]) -> list[Edge]:
    """Return the edges whose both ends are among these nodes; ids of no node are left out."""
    if not node_ids:
        return []
    with engine.read() as view:
        return [shown_edge(stored, engine.rules) for stored in graph.edges_among(view, node_ids)]


def page(engine: Engine, filters: NodeFilters, after: int, limit: int) -> tuple[tuple[Node, ...], int | None]:
    """Return up to `limit` nodes behind `after`, and where the next page begins (None behind the last)."""
    with engine.read() as view:
        numbers = graph.page(view, filters, after, limit + 1)
        nodes = tuple(shown_node(stored, engine.rules) for stored in graph.load(view, numbers[:limit]).values())
        return nodes, numbers[limit - 1] if len(numbers) > limit else None


def nodes_of(engine: Engine, memory_id: str) -> list[Node]:
    """Return the nodes that point to a memory."""
    with engine.read() as view:
        numbers = graph.of_memory(view, number_of(view, memory_id))
        return [shown_node(stored, engine.rules) for stored in graph.load(view, numbers).values()]


def approve(engine: Engine, node_id: str) -> Node:
    """Let a quarantined node be found from now on."""
    with engine.write(create=False) as edit:
        n = _number(edit, node_id)
        if not graph.approve(edit, n, engine.now()):
            raise InvalidInputError(f"node {node_id!r} is not quarantined")
        return shown_node(graph.load(edit, [n])[n], engine.rules)


def delete_node(engine: Engine, node_id: str) -> bool:
    """Delete a node with its edges and pointers; False when there was none."""
    with engine.write(create=False) as edit:
        return graph.delete_node(edit, node_id)


def delete_edge(engine: Engine, edge_id: str) -> bool:
    """Delete an edge; False when there was none."""
    with engine.write(create=False) as edit:
        return graph.delete_edge(edit, edge_id)
