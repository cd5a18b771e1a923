"""The memory graph as GraphML, for yEd, Gephi and their kin; networkx writes and reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import ParseError

from reasoningbank.errors import InvalidInputError, MissingExtraError

# XML has no way to write these.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A document that defines its own entities can be made to grow without end; graphs need none.
_DEFINES = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("GraphML", "graph") from None
    return networkx


def to_graphml(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> str:
    """Return a graph's records as GraphML, lists as JSON text; MissingExtraError when networkx is not installed."""
    networkx = _networkx()
    graph = networkx.MultiDiGraph()
    for node in nodes:
        graph.add_node(_writable(node["id"]), **_scalars(node, "id"))
    for edge in edges:
        ends = _writable(edge["source"]), _writable(edge["target"])
        graph.add_edge(*ends, key=_writable(edge["id"]), edge_id=_writable(edge["id"]), **_scalars(edge, *_ENDS))
    return "\n".join(networkx.generate_graphml(graph)) + "\n"


_ENDS = ("id", "source", "target")


def _scalars(record: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    return {name: _scalar(value) for name, value in record.items() if name not in left_out and value is not None}


def _scalar(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    return _writable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)


def from_graphml(text: str) -> dict[str, Any]:
    """Return a GraphML document as the records of a graph; MissingExtraError when networkx is not installed.

    InvalidInputError when it is no GraphML, or defines entities of its own.
    """
    networkx = _networkx()
    if _DEFINES.search(text):
        raise InvalidInputError("GraphML with a document type of its own is not read: export it without one")
    try:
        graph = networkx.parse_graphml(text, force_multigraph=True)
    except (networkx.NetworkXError, ParseError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"not GraphML ({error})") from None
    return {
        "nodes": [{**data, "id": str(node)} for node, data in graph.nodes(data=True)],
        "edges": [
            {"id": str(key), **data, "source": str(source), "target": str(target)}
            for source, target, key, data in graph.edges(keys=True, data=True)
        ],
    }
