"""What `bank.graph` takes and returns: nodes, edges, paths over them, and the results of its calls."""

from reasoningbank.graph.nodes import Band, Edge, Node, NodeKind
from reasoningbank.graph.paths import Ended, GraphPath, Reached
from reasoningbank.graph.results import (
    EdgeStored,
    GraphImported,
    GraphRecall,
    NodeHit,
    NodePage,
    NodeSearch,
    NodeStored,
)

__all__ = [
    "Band",
    "Edge",
    "EdgeStored",
    "Ended",
    "GraphImported",
    "GraphPath",
    "GraphRecall",
    "Node",
    "NodeHit",
    "NodeKind",
    "NodePage",
    "NodeSearch",
    "NodeStored",
    "Reached",
]
