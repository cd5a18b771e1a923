"""Finding nodes by meaning and by words, and walking on from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.errors import EmbeddingError
from reasoningbank.graph import Edge, Node
from reasoningbank.graph_results import GraphRecall, NodeHit, NodeSearch
from reasoningbank.paths import Reached, paths, spread, tell
from reasoningbank.relevance import (
    SAMPLE,
    Floats,
    Gate,
    Legs,
    Relevance,
    Scale,
    fuse,
    gate,
    known_scale,
    measured_scale,
    settle,
)
from reasoningbank.services.engine import Engine
from reasoningbank.services.graph import shown_edge, shown_node
from reasoningbank.services.prompt import framed_block
from reasoningbank.storage import graph
from reasoningbank.storage.graph import NodeFilters
from reasoningbank.terms import match_expression, query_terms
from reasoningbank.vectors.base import Float32
from reasoningbank.verbatim import shared_grams, shared_words

WIDTH = 64
WIDTH_A_HIT = 8


def search(engine: Engine, query: str, k: int, filters: NodeFilters) -> NodeSearch:
    """Find the nodes that fit a query, best first; nothing is changed.

    Candidates widen until k of them survive the filters and the gate, or there are no more.
    """
    with engine.read() as connection:
        if connection is None:
            return NodeSearch()
    return engine.with_embedder(lambda embedder: _search(engine, embedder, query, k, filters))


def _search(engine: Engine, embedder: Embedder, query: str, k: int, filters: NodeFilters) -> NodeSearch:
    vector, degraded = _embedded(engine, embedder, query)
    with engine.read() as connection:
        if connection is None:
            return NodeSearch()
        if vector is not None:
            engine.generation(connection, embedder.identity)
        width = max(WIDTH, WIDTH_A_HIT * k)
        while True:
            near = [] if vector is None else engine.nodes.nearest(connection, vector, width)
            keyword = graph.matches(connection, match_expression(query_terms(query)), width)
            numbers = graph.passing(connection, [*{*near, *keyword}], filters)
            legs = _legs(connection, vector, numbers, keyword)
            overlap = _overlap(connection, query, numbers)
            relevance = settle(fuse(legs), overlap[0])
            decided = gate(legs.similarity, *overlap, _scale(connection, embedder.identity.name, legs.vectors.shape[1]))
            found = _in_order(numbers, legs, relevance, decided)
            if len(found) >= k or max(len(near), len(keyword)) < width:
                nodes = graph.load(connection, [n for n, _ in found[:k]])
                hits = tuple(_hit(shown_node(nodes[n]), legs, relevance, row) for n, row in found[:k])
                return NodeSearch(hits, decided.weak and vector is not None, degraded)
            width *= 4


def _embedded(engine: Engine, embedder: Embedder, query: str) -> tuple[Float32 | None, tuple[str, ...]]:
    try:
        return engine.embed_query(embedder, query), ()
    except EmbeddingError as error:
        return None, (f"the query was not embedded ({error}); searched by keyword only",)


def _overlap(connection: sqlite3.Connection, query: str, numbers: Sequence[int]) -> tuple[Floats, Floats]:
    """Return what the candidates' texts have in common with the query's: pieces of text, and words."""
    rows = {n: (text, indexed) for n, text, indexed in graph.texts(connection, numbers)}
    if not rows:
        return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
    shared = shared_grams(query, [rows[n][0] for n in numbers])
    return shared, shared_words(query_terms(query), [rows[n][1] for n in numbers])


def _in_order(numbers: Sequence[int], legs: Legs, relevance: Relevance, decided: Gate) -> list[tuple[int, int]]:
    """Return (row number, row) of the candidates that pass the gate, best first."""
    # Where there is no vector to tell by, a keyword match passes.
    keep = decided.keep | (~legs.vectors.any(axis=1) & (legs.keyword > 0.0))
    order = np.argsort(-relevance.total, kind="stable").tolist()
    return [(numbers[row], row) for row in order if keep[row]]


def _legs(
    connection: sqlite3.Connection, vector: Float32 | None, numbers: Sequence[int], keyword: dict[int, float]
) -> Legs:
    scores = np.array([keyword.get(n, 0.0) for n in numbers], dtype=np.float32)
    dim = 1 if vector is None else len(vector)
    rows = np.zeros((len(numbers), dim), dtype=np.float32)
    if vector is None:
        return Legs(np.zeros(dim, dtype=np.float32), rows, np.zeros(len(numbers), np.float32), scores)
    stored = graph.vectors(connection, numbers)
    for i, n in enumerate(numbers):
        if n in stored:
            rows[i] = np.frombuffer(stored[n], dtype=np.float32)
    return Legs(vector, rows, np.clip(rows @ vector, 0.0, 1.0), scores)


def _scale(connection: sqlite3.Connection, embedder: str, dim: int) -> Scale:
    known = known_scale(embedder, dim)
    if known is not None:
        return known
    return measured_scale(np.array([np.frombuffer(v, dtype=np.float32) for v in graph.sample(connection, SAMPLE)]))


def _hit(node: Node, legs: Legs, relevance: Relevance, row: int) -> NodeHit:
    return NodeHit(
        node=node,
        similarity=float(legs.similarity[row]),
        keyword=float(legs.keyword[row]),
        score=float(relevance.total[row]),
        why=relevance.parts(row),
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
    found = search(engine, query, seeds, filters)
    strongest = max((hit.score for hit in found.hits), default=0.0)
    if not strongest:
        return GraphRecall(query, weak=found.weak, degraded=found.degraded)
    with engine.read() as connection:
        assert connection is not None  # noqa: S101 - something was found in it

        def edges_of(node: str) -> list[Edge]:
            return [shown_edge(stored) for stored in graph.edges_of(connection, node, served=True)]

        # The best seed starts with all activation there is; a score is comparable within one query only.
        start = {hit.node.id: hit.score / strongest for hit in found.hits}
        reached, ended = spread(start, edges_of, tags=tags, depth=depth, branches=branches)
        nodes = _nodes(connection, reached)
        memories = _memories(connection, list(nodes.values()))
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


def _nodes(connection: sqlite3.Connection, reached: Sequence[Reached]) -> dict[str, Node]:
    numbers = [n for each in reached if (n := graph.find(connection, each.node)) is not None]
    return {stored.node.id: shown_node(stored) for stored in graph.load(connection, numbers).values()}


def _memories(connection: sqlite3.Connection, nodes: Sequence[Node]) -> tuple[str, ...]:
    pointers = list(dict.fromkeys(pointer for node in nodes for pointer in node.reasoning_pointer_ids))
    return tuple(pointer for pointer in pointers if graph.is_active(connection, pointer))
