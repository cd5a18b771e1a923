"""Spreading activation: Memoria's vectors, and the laws of the walk."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.graph.nodes import Edge, Node, NodeKind
from reasoningbank.graph.paths import (
    BRANCHES,
    DEEPEST,
    LEAST,
    Ended,
    Reached,
    paths,
    spread,
    tag_similarity,
    tell,
    transfer,
)

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def edge(source: str, target: str, weight: float, *tags: str, name: str = "") -> Edge:
    text = f"{source} explains {target}"
    return Edge(
        id=name or f"{source}-{target}",
        source=source,
        target=target,
        text=text,
        weight=weight,
        tags=tags,
        created_at=NOON,
    )


class Graph:
    def __init__(self, *edges: Edge) -> None:
        self.edges = edges

    def of(self, node: str) -> list[Edge]:
        return [e for e in self.edges if node in (e.source, e.target)]


def walk(graph: Graph, *seeds: str, **options: int | Sequence[str]) -> dict[str, float]:
    reached, _ = spread(dict.fromkeys(seeds, 1.0), graph.of, **options)  # type: ignore[arg-type]
    return {r.node: round(r.activation, 6) for r in reached}


@pytest.mark.parametrize(
    ("asked", "tags", "expected"),
    [
        ((), ("a",), 1.0),
        (("a",), (), 0.15),
        (("a",), ("b",), 0.15),
        (("a", "b"), ("b", "A"), 1.0),
        (("a", "b", "c", "d"), ("a", "e", "f"), 0.291667),
        (("a", "b"), ("a", "c"), 0.433333),
    ],
    ids=["no query tags", "untagged edge", "no overlap", "full", "1 of 6", "1 of 3"],
)
def test_178_tag_similarity(asked: tuple[str, ...], tags: tuple[str, ...], expected: float) -> None:
    assert tag_similarity(asked, tags) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("activation", "weight", "degree", "similarity", "expected"),
    [(1, 0.9, 4, 1, 0.45), (0.45, 0.8, 9, 0.291667, 0.035), (1, 0.25, 25, 0.15, 0.0075), (1, 0.01, 4, 1, 0.005)],
)
def test_179_transfer(activation: float, weight: float, degree: int, similarity: float, expected: float) -> None:
    assert transfer(activation, weight, degree, similarity) == pytest.approx(expected, abs=1e-6)


def test_179_an_activation_is_kept_when_it_is_strictly_greater_than_the_least() -> None:
    faint = Graph(edge("a", "b", 0.01), *(edge("a", f"x{i}", 0.0) for i in range(3)))

    assert transfer(1.0, 0.01, 4, 1.0) == LEAST
    assert walk(faint, "a") == {"a": 1.0}
    assert walk(Graph(edge("a", "b", 0.0051)), "a") == {"a": 1.0, "b": 0.0051}


def test_where_paths_meet_the_highest_activation_wins_and_not_the_shorter_path() -> None:
    graph = Graph(edge("a", "c", 0.2), edge("a", "b", 1.0), edge("b", "c", 1.0))

    assert walk(graph, "a") == {"a": 1.0, "b": 0.707107, "c": 0.5}
    reached, _ = spread({"a": 1.0}, graph.of)
    assert {r.node: r.before for r in reached}["c"] == "b"


def test_edges_are_followed_in_either_direction() -> None:
    assert walk(Graph(edge("b", "a", 0.9)), "a") == {"a": 1.0, "b": 0.9}


def test_a_node_passes_on_by_its_three_strongest_edges_and_to_each_neighbour_once() -> None:
    graph = Graph(*(edge("a", f"n{i}", i / 10) for i in range(1, 7)), edge("a", "n6", 0.1, name="again"))

    assert set(walk(graph, "a")) == {"a", "n6", "n5", "n4"}
    assert set(walk(graph, "a", branches=1)) == {"a", "n6"}
    assert BRANCHES == 3


def test_no_path_has_more_than_five_edges() -> None:
    graph = Graph(*(edge(f"n{i}", f"n{i + 1}", 1.0) for i in range(9)))

    assert set(walk(graph, "n0")) == {f"n{i}" for i in range(DEEPEST + 1)}
    assert set(walk(graph, "n0", depth=0)) == {"n0"}


def test_edges_that_share_the_querys_tags_are_preferred() -> None:
    graph = Graph(edge("a", "b", 0.9), edge("a", "c", 0.5, "roi"))

    assert walk(graph, "a", tags=["roi"], branches=1) == {"a": 1.0, "c": 0.353553}
    assert set(walk(graph, "a", branches=1)) == {"a", "b"}


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(8, 12) | st.integers(0, 7), st.floats(0.01, 1.0)), max_size=24),
    st.integers(0, 1000),
)
def test_the_order_of_edges_decides_nothing_and_activation_only_fades(
    triples: list[tuple[int, int, float]], seed: int
) -> None:
    edges = [edge(str(a), str(b), weight, name=f"e{i:03}") for i, (a, b, weight) in enumerate(triples) if a != b]
    shuffled = random.Random(seed).sample(edges, len(edges))
    reached, _ = spread({"0": 1.0, "1": 0.5}, Graph(*edges).of)
    again, _ = spread({"1": 0.5, "0": 1.0}, Graph(*shuffled).of)
    by_node = {r.node: r for r in reached}

    assert reached == again
    assert [r.activation for r in reached] == sorted((r.activation for r in reached), reverse=True)
    assert all(r.activation <= by_node[r.before].activation for r in reached if r.before is not None)
    assert all(r.depth <= DEEPEST and r.activation > LEAST for r in reached)


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.3, 1.0)).filter(lambda e: e[0] < e[1]), max_size=9
    )
)
def test_without_limits_it_is_the_best_product_along_any_path(triples: list[tuple[int, int, float]]) -> None:
    edges = [edge(str(a), str(b), weight, name=f"e{i:03}") for i, (a, b, weight) in enumerate(triples) if a != b]
    graph = Graph(*edges)
    simple = networkx.MultiDiGraph()
    simple.add_node("0")
    for e in edges:
        for one, other in ((e.source, e.target), (e.target, e.source)):
            simple.add_edge(one, other, factor=e.weight / len(graph.of(one)) ** 0.5)
    best = {"0": 1.0}
    for target in set(simple) - {"0"}:
        for way in networkx.all_simple_edge_paths(simple, "0", target):
            product = 1.0
            for one, other, key in way:
                product *= simple.edges[one, other, key]["factor"]
            best[target] = max(best.get(target, 0.0), product)

    reached, _ = spread({"0": 1.0}, graph.of, depth=99, branches=99)
    expected = {node: round(value, 6) for node, value in best.items() if value > LEAST * 1.001}
    assert {r.node: round(r.activation, 6) for r in reached if r.activation > LEAST * 1.001} == expected


# -- paths in words --------------------------------------------------------------------------------------------------


def test_paths_lead_from_a_seed_to_where_activation_ends_and_say_why() -> None:
    graph = Graph(
        edge("a", "b", 0.9),
        edge("b", "c", 0.006),
        edge("a", "d", 0.8),
        *(edge(f"d{i or ''}", f"d{i + 1}", 1) for i in range(6)),
    )
    reached, ended = spread({"a": 1.0}, graph.of, depth=3)
    found = paths(reached, ended)

    assert [([s.node for s in path.steps], path.ended) for path in found] == [
        (["a", "b"], Ended.FADED),
        (["a", "d", "d1", "d2"], Ended.DEPTH),
    ]
    assert found[0].activation == pytest.approx(0.9 / 2**0.5)
    assert [p.ended for p in paths([Reached("x", 1.0)], {"x": Ended.NOWHERE})] == [Ended.NOWHERE]


def test_a_path_whose_last_node_lost_its_branches_to_a_better_way_ends_there() -> None:
    graph = Graph(edge("a", "b", 1.0), edge("b", "c", 0.9), edge("a", "c", 0.99))
    reached, ended = spread({"a": 1.0}, graph.of)

    assert [[s.node for s in path.steps] for path in paths(reached, ended)] == [["a", "b"], ["a", "c"]]


def test_a_path_is_told_with_first_words_of_nodes_and_whole_sentences_of_edges() -> None:
    texts = {"a": "Why did\nit fail?", "b": " ".join(str(i) for i in range(20)), "c": "The log"}
    nodes = {
        name: Node(id=name, kind=NodeKind.EVENT, text=text, created_at=NOON, updated_at=NOON)
        for name, text in texts.items()
    }
    graph = Graph(edge("a", "b", 0.9), edge("c", "b", 0.5))
    reached, ended = spread({"a": 1.0}, graph.of)
    (path,) = paths(reached, ended)

    assert tell(path, nodes) == (
        'Event a "Why did it fail?" --"a explains b" (0.90, direct)--> Event b "0 1 2 3 4 5 6 7 8 9 10 11…" '
        '<--"c explains b" (0.50, topical)-- Event c "The log"'
    )
