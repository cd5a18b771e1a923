"""The memory graph: nodes of six kinds, and edges whose type is a sentence (Memoria's schema).

Records that other tools wrote are read as far as they name a node's kind and text; a record is text and numbers to be
checked, never an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, JsonValue

from reasoningbank import memory as lessons
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Metadata, Probability, Tags, Text, clean_text, filled, is_blank
from reasoningbank.screening.door import checked_name
from reasoningbank.signals import parse_time

FORMAT = "reasoningbank-graph/1"

# Of an edge that came without one: it is followed only where nothing else leads on.
MISSING_WEIGHT = 0.01


class NodeKind(StrEnum):
    """What a node stands for."""

    USER_REQUEST = "UserRequest"
    USER_PREFERENCE = "UserPreference"
    AGENT_ANSWER = "AgentAnswer"
    AGENT_ACTION = "AgentAction"
    EVENT = "Event"
    DATA_SOURCE = "DataSource"


FIELDS: dict[NodeKind, tuple[str, ...]] = {
    NodeKind.USER_REQUEST: ("user_role", "user_id"),
    NodeKind.USER_PREFERENCE: ("preference_type",),
    NodeKind.AGENT_ANSWER: ("analysis_types", "metrics"),
    NodeKind.AGENT_ACTION: ("status", "parameter_field"),
    NodeKind.EVENT: ("source_type", "start_date", "end_date"),
    NodeKind.DATA_SOURCE: ("source_type", "doc_pointer", "relevant_parts"),
}
"""The special fields of each kind, beside those that every node has."""

LISTS = frozenset({"analysis_types", "metrics"})
DATES = frozenset({"start_date", "end_date"})


class Band(StrEnum):
    """How strong an edge is, by its weight; what lies between two of Memoria's bands belongs to the lower one."""

    DIRECT = "direct"
    BRIDGE = "bridge"
    TOPICAL = "topical"
    FAINT = "faint"


def band(weight: float) -> Band:
    """Return the band of a weight: direct from 0.85, bridge from 0.55, topical from 0.25, faint below."""
    if weight >= 0.85:
        return Band.DIRECT
    if weight >= 0.55:
        return Band.BRIDGE
    return Band.TOPICAL if weight >= 0.25 else Band.FAINT


def _text_of(field: str, limit: int) -> AfterValidator:
    return AfterValidator(lambda text: filled(field, text, limit, "say in words what it stands for").strip())


NodeText = Annotated[Text, _text_of("text of the node", lessons.CONTENT_LIMIT)]
Sentence = Annotated[Text, _text_of("text of the edge", lessons.DESCRIPTION_LIMIT)]
GraphId = Annotated[Text, _text_of("id", lessons.ID_LIMIT), AfterValidator(partial(checked_name, "id"))]


class NodeDraft(BaseModel, frozen=True, extra="forbid"):
    """A node as somebody wants it stored: checked and cleaned, not yet stored."""

    kind: NodeKind
    text: NodeText
    conv_id: GraphId | None = None
    tags: Tags = ()
    reasoning_pointer_ids: tuple[GraphId, ...] = ()
    fields: Metadata = Field(default_factory=dict)


class EdgeDraft(BaseModel, frozen=True, extra="forbid"):
    """An edge as somebody wants it stored."""

    source: GraphId
    target: GraphId
    text: Sentence
    weight: Probability
    tags: Tags = ()


class Node(BaseModel, frozen=True):
    """A node of the graph, as it was when it was read.

    Attributes:
        id: unique in the project.
        conv_id: the conversation it is from, if any.
        reasoning_pointer_ids: ids of the memories that it bears out.
        fields: the special fields of its kind.
        findings: signs of planted instructions; such a node is kept and listed, but neither found nor walked over.
    """

    id: str
    kind: NodeKind
    text: str
    conv_id: str | None = None
    tags: tuple[str, ...] = ()
    reasoning_pointer_ids: tuple[str, ...] = ()
    fields: dict[str, JsonValue] = Field(default_factory=dict)
    quarantined: bool = False
    findings: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime


class Edge(BaseModel, frozen=True):
    """An edge: "source text target" reads as a sentence about two nodes.

    Attributes:
        source, target: ids of nodes.
        text: how and why they are connected, in words.
        weight: how strong that is, in [0, 1].
    """

    id: str
    source: str
    target: str
    text: str
    weight: float
    tags: tuple[str, ...] = ()
    created_at: datetime

    @property
    def band(self) -> Band:
        """How strong it is, in a word."""
        return band(self.weight)


def checked_fields(kind: NodeKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the special fields of a node: texts, lists of texts, and ISO 8601 dates.

    InvalidInputError for a field that nodes of this kind do not have, or a value that is not allowed.
    """
    if unknown := [name for name in given if name not in FIELDS[kind]]:
        raise InvalidInputError(f"{kind} has no field {unknown[0]!r}: its fields are {', '.join(FIELDS[kind])}")
    return {name: _checked_field(name, value) for name, value in given.items() if value is not None}


def _checked_field(name: str, value: Any) -> Any:
    if name in LISTS:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise InvalidInputError(f"{name} {value!r:.80} is not a list of texts")
        return [clean_text(item) for item in value]
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} {value!r:.80} is not a text")
    if name in DATES:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInputError(f"{name} {value!r:.80} is not an ISO 8601 date") from None
    return clean_text(value)


# -- records -------------------------------------------------------------------------------------------------------


def node_record(node: Node) -> dict[str, Any]:
    """Return a node as a record, under Memoria's names."""
    return {
        "id": node.id,
        "label": node.kind.value,
        **node.model_dump(mode="json", include={"text", "conv_id", "tags", "reasoning_pointer_ids"}),
        **node.fields,
        "quarantined": node.quarantined,
        "ingestion_time": node.created_at.isoformat(),
        "update_time": node.updated_at.isoformat(),
    }


def edge_record(edge: Edge) -> dict[str, Any]:
    """Return an edge as a record, under Memoria's names."""
    return edge.model_dump(mode="json", exclude={"created_at"}) | {"created_time": edge.created_at.isoformat()}


def read_graph(document: object) -> tuple[list[Any], list[Any]]:
    """Return the records of nodes and edges of a document; InvalidInputError when it is none, or of a newer version."""
    if not isinstance(document, Mapping) or not isinstance(document.get("nodes"), list):
        raise InvalidInputError("not a graph: an object with a list of nodes is needed, and one of edges")
    if str(version := document.get("format", FORMAT)) != FORMAT:
        raise InvalidInputError(f"a graph of format {version!r}; this version reads {FORMAT}")
    edges: object = next((document[name] for name in ("edges", "links") if name in document), [])
    if not isinstance(edges, list):
        raise InvalidInputError("not a graph: its edges are not a list")
    return document["nodes"], edges


def read_node(record: object) -> tuple[str | None, dict[str, Any], bool]:
    """Return a node's id, the fields of its draft, and whether it was quarantined where it came from.

    InvalidInputError when it is no object, has no kind that is known, or a special field that is not its kind's.
    """
    given = _flat(record)
    labels = given.get("labels") or [given.get("label") or given.get("kind")]
    kind = as_kind(labels[0] if isinstance(labels, list) and labels else labels)
    special = {name: given[name] for name in FIELDS[kind] if given.get(name) is not None}
    fields = {name: _as_list(value) if name in LISTS else value for name, value in special.items()}
    draft = {
        "kind": kind,
        "text": given.get("text"),
        "conv_id": given.get("conv_id") or None,
        "tags": _as_list(given.get("tags")),
        "reasoning_pointer_ids": tuple(map(str, _as_list(given.get("reasoning_pointer_ids")))),
        "fields": checked_fields(kind, fields),
    }
    return _id(given.get("id")), draft, given.get("quarantined") is True


def read_edge(record: object) -> tuple[str | None, dict[str, Any]]:
    """Return an edge's id and the fields of its draft; a missing weight is 0.01. InvalidInputError for no object."""
    given = _flat(record)
    weight = given.get("weight")
    draft = {
        "source": _id(given.get("source") or given.get("source_node_id")) or "",
        "target": _id(given.get("target") or given.get("target_node_id")) or "",
        "text": given.get("text"),
        "weight": MISSING_WEIGHT if weight is None else weight,
        "tags": _as_list(given.get("tags")),
    }
    return _id(given.get("id") or given.get("edge_id")), draft


def read_time(record: object, *names: str) -> datetime | None:
    """Return a record's time, under the first of these names that holds one; without a zone it is UTC."""
    given = _flat(record)
    for name in names:
        with suppress(ValueError):
            return parse_time(str(given.get(name)))
    return None


def as_kind(given: object) -> NodeKind:
    """Read a node's kind, whatever its case; InvalidInputError, which names all six, when it is none of them."""
    known = {kind.value.lower(): kind for kind in NodeKind}
    kind = known.get(str(given).strip().lower().replace("_", ""))
    if kind is None:
        raise InvalidInputError(f"node kind {given!r} is not one of {', '.join(NodeKind)}")
    return kind


def _flat(record: object) -> dict[str, Any]:
    if not isinstance(record, Mapping):
        raise InvalidInputError(f"not an object but a {type(record).__name__}")
    nested = record.get("properties")
    return {**(nested if isinstance(nested, Mapping) else {}), **record}


def _id(given: object) -> str | None:
    return None if given is None or is_blank(str(given)) else str(given)


def _as_list(given: object) -> Sequence[Any]:
    """Return a list; one that was written as JSON text, or with commas between, is read."""
    if isinstance(given, str):
        try:
            read = json.loads(given)
        except ValueError:
            read = given.split(",")
        return [item.strip() if isinstance(item, str) else item for item in read] if isinstance(read, list) else [given]
    return list(given) if isinstance(given, (list, tuple)) else []
