"""Finding nodes by meaning and by words, and walking on from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.graph.nodes import Edge, Node
from reasoningbank.graph.paths import paths, spread, tell
from reasoningbank.graph.results import GraphRecall, NodeHit, NodeSearch
from reasoningbank.search.relevance import Floats, Legs, Relevance, fuse, gated, known_scale, settle
from reasoningbank.search.verbatim import shared_grams, shared_words
from reasoningbank.services.cache.queries import without_secrets
from reasoningbank.services.engine import Engine
from reasoningbank.services.graph.graph import shown_edge, shown_node
from reasoningbank.services.search.prompt import framed_block
from reasoningbank.services.view import View
from reasoningbank.storage import graph
from reasoningbank.storage.graph import NodeFilters
from reasoningbank.vectors.base import Float32

WIDTH = 64
WIDTH_A_HIT = 8


def search(engine: Engine, query: str, k: int, filters: NodeFilters) -> NodeSearch:
    """Find the nodes that fit a query, best first; nothing is changed.

    Candidates widen until k of them survive the filters and the gate, or there are no more.
    """
    if engine.project() is None:
        return NodeSearch()
    return engine.with_embedder(lambda embedder: _search(engine, embedder, query, k, filters))


def _search(engine: Engine, embedder: Embedder, text: str, k: int, filters: NodeFilters) -> NodeSearch:
    query = engine.queries.query(embedder, text)
    vector, terms = query.vector, query.terms
    with engine.read() as view:
        if vector is not None:
            view.check_embedder(embedder.identity)
        scale = known_scale(query.embedder.name, 1 if vector is None else len(vector)) or engine.nodes.scale(view)
        width = max(WIDTH, WIDTH_A_HIT * k)
        while True:
            near = [] if vector is None else engine.nodes.nearest(view, vector, width)[0].tolist()
            keyword = view.words.best_nodes(terms, width)
            numbers = graph.passing(view, [*{*near, *keyword}], filters)
            legs = _legs(view, vector, numbers, keyword)
            shared, words = _overlap(view, text, terms, numbers)
            relevance = settle(fuse(legs), shared)
            decided = gated(legs, shared, words, scale)
            order = np.argsort(-relevance.total, kind="stable").tolist()
            found = [(numbers[row], row) for row in order if decided.keep[row]]
            if len(found) >= k or max(len(near), len(keyword)) < width:
                nodes = graph.load(view, [n for n, _ in found[:k]])
                hits = tuple(_hit(shown_node(nodes[n], engine.rules), legs, relevance, row) for n, row in found[:k])
                return NodeSearch(hits, decided.weak and vector is not None, query.degraded)
            width *= 4


def _overlap(view: View, text: str, terms: Sequence[str], numbers: Sequence[int]) -> tuple[Floats, Floats]:
    """Return what the candidates' texts have in common with the query's: pieces of text, and words."""
    rows = {n: (said, indexed) for n, said, indexed in graph.texts(view, numbers)}
    shared = shared_grams(text, [rows[n][0] for n in numbers])
    return shared, shared_words(terms, [rows[n][1] for n in numbers])


def _legs(view: View, vector: Float32 | None, numbers: Sequence[int], keyword: dict[int, float]) -> Legs:
    query = np.zeros(1, dtype=np.float32) if vector is None else vector
    rows = np.zeros((len(numbers), len(query)), dtype=np.float32)
    stored = {} if vector is None else graph.vectors(view, numbers)
    for i, n in enumerate(numbers):
        if n in stored:
            rows[i] = np.frombuffer(stored[n], dtype=np.float32)
    scores = np.array([keyword.get(n, 0.0) for n in numbers], dtype=np.float32)
    return Legs(query, rows, np.clip(rows @ query, 0.0, 1.0), scores)


def _hit(node: Node, legs: Legs, relevance: Relevance, row: int) -> NodeHit:
    return NodeHit(
        node=node,
        similarity=float(legs.similarity[row]),
        keyword=float(legs.keyword[row]),
        score=float(relevance.total[row]),
        why={name: float(part[0]) for name, part in relevance.parts(np.array([row])).items()},
    )


# -- spreading activation ------------------------------------------------------------------------------------------


def recall(
    engine: Engine,
    query: str,
    *,
    seeds: int,
    filters: NodeFilters,
    tags: tuple[str, ...],
    depth: int,
    branches: int,
    limit: int,
    max_tokens: int,
) -> GraphRecall:
    """Walk from the nodes that fit a query to what is connected with them."""
    query = without_secrets(query, engine.rules)
    found = search(engine, query, seeds, filters)
    strongest = max((hit.score for hit in found.hits), default=0.0)
    if not strongest:
        return GraphRecall(query, weak=found.weak, degraded=found.degraded)
    with engine.read() as view:

        def edges_of(node: str) -> list[Edge]:
            return [shown_edge(stored, engine.rules) for stored in graph.edges_of(view, node, served=True)]

        # The best seed starts with all activation there is; a score is comparable within one query only.
        start = {hit.node.id: hit.score / strongest for hit in found.hits}
        reached, ended = spread(start, edges_of, tags=tags, depth=depth, branches=branches)
        numbers = [n for each in reached if (n := graph.find(view, each.node)) is not None]
        nodes = {stored.node.id: shown_node(stored, engine.rules) for stored in graph.load(view, numbers).values()}
        pointers = dict.fromkeys(pointer for node in nodes.values() for pointer in node.reasoning_pointer_ids)
        memories = tuple(pointer for pointer in pointers if graph.is_served(view, pointer, engine.now()))
    told = [replace(path, text=tell(path, nodes)) for path in paths(reached, ended)[:limit]]
    text, shown = framed_block([path.text for path in told], max_tokens=max_tokens)
    return GraphRecall(
        query=query,
        text=text,
        paths=tuple(told),
        nodes=tuple(nodes.values()),
        edges=tuple(each.edge for each in reached if each.edge is not None),
        activation={each.node: round(each.activation, 6) for each in reached},
        memories=memories,
        dropped=len(told) - shown,
        weak=found.weak,
        degraded=found.degraded,
    )
