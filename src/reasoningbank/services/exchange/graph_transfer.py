"""The memory graph in and out: JSON and GraphML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from reasoningbank import arguments
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import InvalidInputError, NotFoundError
from reasoningbank.formats.graphml import from_graphml, to_graphml
from reasoningbank.graph.nodes import FORMAT, edge_record, node_record, read_edge, read_graph, read_node, read_time
from reasoningbank.graph.results import GraphImported
from reasoningbank.memory import clean_text
from reasoningbank.results import Rejected
from reasoningbank.screening.scrub import RuleSet
from reasoningbank.services.engine import Engine
from reasoningbank.services.graph import graph as graphs
from reasoningbank.storage import graph, records

Form = Literal["json", "graphml"]
BATCH = 100


# -- the way out ---------------------------------------------------------------------------------------------------


def export(engine: Engine, form: Form) -> tuple[str, int]:
    """Return the graph as it is at one moment, as one text, and how many nodes are in it."""
    edges: list[dict[str, Any]] = []
    with engine.read() as view:
        nodes = [node_record(graphs.shown_node(stored, engine.rules)) for stored in graph.every_node(view)]
        after = 0
        while (batch := graph.edge_page(view, after, 500))[0]:
            edges += [edge_record(graphs.shown_edge(stored, engine.rules)) for stored in batch[0]]
            after = batch[1]
    if form == "graphml":
        return to_graphml(nodes, edges), len(nodes)
    document = {"format": FORMAT, "nodes": nodes, "edges": edges}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n", len(nodes)


# -- the way in ----------------------------------------------------------------------------------------------------


def read_file(path: Path) -> str:
    """Return the text of a file; InvalidInputError when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}") from None


def parse(text: str) -> Any:
    """Return a graph document: GraphML where the text begins like XML, else JSON; InvalidInputError for neither."""
    if text.lstrip().startswith("<"):
        return from_graphml(text)
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"neither JSON nor GraphML ({error})") from None


@dataclass
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)
    degraded: list[str] = field(default_factory=list)

    def count(self, what: str, created: bool, redactions: dict[str, int]) -> None:
        self.counts[what if created else "updated"] += 1
        self.redactions.update(redactions)


def import_graph(engine: Engine, document: object) -> GraphImported:
    """Store the nodes and edges of a document, a batch a transaction; a bad record costs no other."""
    nodes, edges = read_graph(document)
    tally = _Tally()
    for start in range(0, len(nodes), BATCH):
        cleaned = []
        for number, given in enumerate(nodes[start : start + BATCH], start=start + 1):
            try:
                cleaned.append(_node(given, engine.rules))
            except InvalidInputError as error:
                tally.rejected.append(Rejected(number, str(error)))
        if cleaned:
            engine.with_embedder(partial(_store_nodes, engine, cleaned, tally))
    for start in range(0, len(edges), BATCH):
        _store_edges(engine, edges[start : start + BATCH], len(nodes) + start, tally)
    return GraphImported(
        rejected=tuple(tally.rejected),
        redactions=dict(tally.redactions),
        degraded=tuple(tally.degraded),
        **tally.counts,
    )


def _node(given: Any, rules: RuleSet) -> graphs.CleanNode:
    node_id, draft, quarantined = read_node(given)
    named = None if node_id is None else arguments.identifier("node id", node_id)
    at = read_time(given, "ingestion_time", "created_at")
    return graphs.clean_node(named, draft, rules, quarantined=quarantined, created_at=at)


def _store_nodes(engine: Engine, cleaned: Sequence[graphs.CleanNode], tally: _Tally, embedder: Embedder) -> None:
    vectors = graphs.embed_nodes(embedder, [node.draft.text for node in cleaned])
    with engine.write() as edit:
        for node, vector in zip(cleaned, vectors, strict=True):
            pointers = node.draft.reasoning_pointer_ids
            memories = [n for p in pointers if (n := records.find(edit, clean_text(p))) is not None]
            _, created = graphs.store_node(edit, embedder, node, memories, vector)
            tally.count("nodes", created, node.redactions)
            tally.counts["quarantined"] += node.quarantined or bool(node.findings)
            tally.counts["unknown_pointers"] += len(pointers) - len(memories)
    tally.degraded += graphs.problems(vectors)


def _store_edges(engine: Engine, items: Sequence[Any], start: int, tally: _Tally) -> None:
    with engine.write() as edit:
        for number, given in enumerate(items, start=start + 1):
            try:
                edge_id, fields = read_edge(given)
                draft, redactions = graphs.clean_edge(fields, engine.rules)
                edge_id = edge_id or f"{draft.source} {number} {draft.target}"[:200]
                at = read_time(given, "created_time", "created_at")
                tally.count("edges", graphs.store_edge(edit, edge_id, draft, at), redactions)
            except (InvalidInputError, NotFoundError) as error:
                tally.rejected.append(Rejected(number, str(error)))
