"""Spreading activation over the memory graph: how far a question reaches, and along which paths.

Source: Memoria's retrieval (facts and numbers), with the rule its document gives for collisions: the highest activation
wins, in whatever order edges come.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reasoningbank.graph.nodes import Edge, Node

DEEPEST = 5
BRANCHES = 3
LEAST = 0.005
"""An activation is kept when it is strictly greater."""

UNTAGGED = 0.15
WORDS = 12


class Ended(StrEnum):
    """Why a path goes no further."""

    DEPTH = "depth"
    FADED = "faded"
    NOWHERE = "nowhere else"


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that activation reached.

    Attributes:
        activation: its highest, in (0, 1].
        depth: edges from the seed; 0 for a seed.
        edge: the edge it was reached by, and `before` the node it was reached from; None for a seed.
    """

    node: str
    activation: float
    depth: int = 0
    edge: Edge | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A way from a seed to where activation ends.

    Attributes:
        steps: the nodes on it, the seed first.
        ended: why it goes no further.
        text: the path in words.
    """

    steps: tuple[Reached, ...]
    ended: Ended
    text: str = ""

    @property
    def activation(self) -> float:
        """That of its last node."""
        return self.steps[-1].activation


def tag_similarity(asked: Collection[str], tags: Collection[str]) -> float:
    """Return how well an edge's tags fit the query's: 1 where nothing is asked for, else 0.15 to 1 by Jaccard."""
    if not asked:
        return 1.0
    wanted, there = {tag.casefold() for tag in asked}, {tag.casefold() for tag in tags}
    return UNTAGGED + (1.0 - UNTAGGED) * len(wanted & there) / len(wanted | there)


def transfer(activation: float, weight: float, degree: int, similarity: float) -> float:
    """Return what passes along an edge: T = R · w / √deg · tag similarity.

    R is the activation of the node it leaves, and deg how many edges that has, in either direction.
    """
    return activation * weight / math.sqrt(degree) * similarity


def spread(
    seeds: Mapping[str, float],
    edges_of: Callable[[str], Sequence[Edge]],
    *,
    tags: Collection[str] = (),
    depth: int = DEEPEST,
    branches: int = BRANCHES,
) -> tuple[list[Reached], dict[str, Ended]]:
    """Let activation spread from seeds over edges, in either direction.

    A node that has been reached passes on, by its `branches` strongest edges to nodes that are not settled yet, what is
    above 0.005. The node with the highest activation is settled first, and since activation never grows along an edge
    it keeps that: the order of edges decides nothing. Equal activations are settled by the nodes' ids.

    Args:
        seeds: activation by node.
        edges_of: returns every edge of a node.

    Returns:
        What was reached, the highest activation first; and for each node why the activation went no further there,
        where it did not.
    """
    waiting = [(-activation, node, Reached(node, activation)) for node, activation in seeds.items()]
    heapq.heapify(waiting)
    settled: dict[str, Reached] = {}
    ended: dict[str, Ended] = {}
    while waiting:
        _, node, reached = heapq.heappop(waiting)
        if node in settled:
            continue
        settled[node] = reached
        edges = edges_of(node)
        onward = [edge for edge in edges if _other(edge, node) not in settled]
        passed = _passed(reached, onward, len(edges), tags) if reached.depth < depth else []
        for following in passed[:branches]:
            heapq.heappush(waiting, (-following.activation, following.node, following))
        if not onward:
            ended[node] = Ended.NOWHERE
        elif not passed:
            ended[node] = Ended.DEPTH if reached.depth >= depth else Ended.FADED
    return list(settled.values()), ended


def _other(edge: Edge, node: str) -> str:
    return edge.target if edge.source == node else edge.source


def _passed(reached: Reached, onward: Sequence[Edge], degree: int, tags: Collection[str]) -> list[Reached]:
    """Return what a node passes on, the strongest first, to each neighbour by its strongest edge."""
    best: dict[str, Reached] = {}
    for edge in sorted(onward, key=lambda edge: edge.id):
        passed = transfer(reached.activation, edge.weight, degree, tag_similarity(tags, edge.tags))
        other = _other(edge, reached.node)
        if passed > LEAST and (other not in best or passed > best[other].activation):
            best[other] = Reached(other, passed, reached.depth + 1, edge, reached.node)
    return sorted(best.values(), key=lambda found: (-found.activation, found.node))


def paths(reached: Sequence[Reached], ended: Mapping[str, Ended]) -> list[GraphPath]:
    """Return the ways from seeds to the nodes that passed nothing on, those to the most activated first."""
    by_node = {each.node: each for each in reached}
    passed_on = {each.before for each in reached}
    found = []
    for last in (each for each in reached if each.node not in passed_on):
        steps = [last]
        while steps[0].before is not None:
            steps.insert(0, by_node[steps[0].before])
        # What it passed on may all have been reached by a better way.
        found.append(GraphPath(tuple(steps), ended.get(last.node, Ended.NOWHERE)))
    return sorted(found, key=lambda path: (-path.activation, path.steps[-1].node))


def tell(path: GraphPath, nodes: Mapping[str, Node]) -> str:
    """Return a path in words: each node with its kind, id and first words, each edge whole with its strength."""
    parts = [_node(nodes[path.steps[0].node])]
    for step in path.steps[1:]:
        edge = step.edge
        assert edge is not None  # noqa: S101 - only a seed has none
        said = f'"{" ".join(edge.text.split())}" ({edge.weight:.2f}, {edge.band})'
        parts.append(f"--{said}-->" if edge.target == step.node else f"<--{said}--")
        parts.append(_node(nodes[step.node]))
    return " ".join(parts)


def _node(node: Node) -> str:
    words = node.text.split()
    return f'{node.kind} {node.id} "{" ".join(words[:WORDS])}{"…" if len(words) > WORDS else ""}"'
