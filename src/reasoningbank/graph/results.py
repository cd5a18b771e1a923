"""What the calls about the memory graph return."""

from __future__ import annotations

from dataclasses import dataclass, field

from reasoningbank.graph.nodes import Edge, Node
from reasoningbank.graph.paths import GraphPath
from reasoningbank.results import Rejected


@dataclass(frozen=True, slots=True)
class NodeStored:
    """What became of a node that was to be stored.

    Attributes:
        created: False when it was stored anew, under an id that was there.
        redactions: secrets removed, by rule.
        degraded: what did not work, in words.
    """

    node: Node
    created: bool
    redactions: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeStored:
    """What became of an edge that was to be stored; as with NodeStored."""

    edge: Edge
    created: bool
    redactions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodePage:
    """A page of nodes, in the order they were added.

    Attributes:
        next: pass it as `after` to get the next page; None on the last one.
    """

    nodes: tuple[Node, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class NodeHit:
    """One node found by a search.

    Attributes:
        similarity: cosine between query and node, clamped to [0, 1].
        keyword: BM25 of the query's terms, at least 0.
        score: what the hits are ranked by, in [0, 1]; its parts are in `why`.
    """

    node: Node
    similarity: float
    keyword: float
    score: float
    why: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeSearch:
    """The nodes that fit a query, best first.

    Attributes:
        weak: nothing is clearly relevant.
        degraded: what did not work as configured, in words.
    """

    hits: tuple[NodeHit, ...] = ()
    weak: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphRecall:
    """What the graph holds about a question: paths from the nodes that fit it.

    Attributes:
        text: the paths as a prompt block, framed and delimited like lessons; empty when there are none.
        paths: those to the most activated nodes first, each in words.
        nodes: every node that was reached, the most activated first, with its activation in `activation`.
        memories: ids of the active memories that these nodes point to, in that order.
        dropped: how many paths did not fit `text`.
    """

    query: str
    text: str = ""
    paths: tuple[GraphPath, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    activation: dict[str, float] = field(default_factory=dict)
    memories: tuple[str, ...] = ()
    dropped: int = 0
    weak: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphImported:
    """What became of the records of a graph.

    Attributes:
        nodes, edges: how many are new.
        updated: nodes and edges that were there and were stored anew.
        quarantined: nodes that are neither found nor walked over, until they are approved.
        unknown_pointers: pointers to memories that are not in this project, which were left out.
        rejected: records that could not be taken, and why; `line` counts the nodes, then the edges.
        redactions: secrets removed, by rule.
        degraded: what did not work, in words.
    """

    nodes: int = 0
    edges: int = 0
    updated: int = 0
    quarantined: int = 0
    unknown_pointers: int = 0
    rejected: tuple[Rejected, ...] = ()
    redactions: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
