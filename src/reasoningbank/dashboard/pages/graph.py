"""The memory graph: nodes and edges, drawn by the page's script, and listed for those who read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reasoningbank.dashboard import diagrams
from reasoningbank.dashboard.addresses import address
from reasoningbank.dashboard.pages.lesson import titles
from reasoningbank.dashboard.site import Asked, Json, Page
from reasoningbank.graph import Edge, Node, NodeKind

DRAWN: Final = 1_000
LISTED: Final = 50
LABEL: Final = 60
FOUND: Final = 20


def shown(asked: Asked) -> Page:
    """Show the graph: a node and its neighbours, what a search finds, or a page of it."""
    bank, query = asked.bank, asked.query
    kind, chosen, words = query.get("kind") or None, query.get("node", ""), query.get("q", "").strip()
    node = bank.graph.get_node(chosen) if chosen else None
    following = None
    if words:
        nodes: Sequence[Node] = [hit.node for hit in bank.graph.search(words, FOUND, kind=kind).hits]
    else:
        page = bank.graph.list_nodes(kind=kind, after=query.get("after") or None, limit=LISTED)
        nodes, following = page.nodes, page.next
    edges = bank.graph.edges_of(node.id) if node else []
    values = {
        "title": "Graph",
        "node": node,
        "nodes": nodes,
        "next": following,
        "is_first": not query.get("after"),
        "edges": [(edge, bank.graph.get_node(edge.target if edge.source == node.id else edge.source)) for edge in edges]
        if node
        else [],
        "titles": titles(bank, set(node.reasoning_pointer_ids)) if node else {},
        "kinds": {"": "Every kind", **{each.value: each.value for each in NodeKind}},
        "kind": kind or "",
        "q": words,
        "least": query.get("least", ""),
        "source": address(asked.project, "graph", "drawing", kind=kind, least=query.get("least"), q=words, node=chosen),
        "drawn": DRAWN,
    }
    return Page("graph.html", values)


def drawing(asked: Asked) -> Json:
    """Return what the script draws: nodes with their places, edges by the numbers of their ends.

    Of a node: itself and its neighbours; of a search: what it finds and their neighbours; else the first thousand.
    """
    bank, query = asked.bank, asked.query
    kind, least = query.get("kind") or None, asked.number("least", 0.0) or 0.0
    if chosen := query.get("node", ""):
        nodes = _around([bank.graph.get_node(chosen)], asked)
    elif words := query.get("q", "").strip():
        nodes = _around([hit.node for hit in bank.graph.search(words, FOUND, kind=kind).hits], asked)
    else:
        nodes = list(bank.graph.list_nodes(kind=kind, limit=DRAWN).nodes)
    place = {node.id: at for at, node in enumerate(nodes)}
    edges = [edge for edge in bank.graph.edges_among([*place]) if edge.weight >= least]
    stands = diagrams.layout([*place], [(edge.source, edge.target) for edge in edges])
    drawn = [
        [address(asked.project, "graph", node=n.id), n.kind.value, n.text[:LABEL], *stands[n.id], int(n.id == chosen)]
        for n in nodes
    ]
    joined = [[place[edge.source], place[edge.target], edge.weight, edge.text[:LABEL]] for edge in edges]
    return Json({"nodes": drawn, "edges": joined})


def _around(nodes: Sequence[Node], asked: Asked) -> list[Node]:
    """Return nodes and their neighbours, each once, no more than are drawn."""
    found = {node.id: node for node in nodes}
    edges: list[Edge] = [edge for node in nodes for edge in asked.bank.graph.edges_of(node.id)]
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in found and len(found) < DRAWN:
                found[end] = asked.bank.graph.get_node(end)
    return list(found.values())
