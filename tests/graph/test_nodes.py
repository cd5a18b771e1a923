"""Nodes and edges of the memory graph: kinds, fields, bands, and records of other tools."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.graph.nodes import (
    FIELDS,
    FORMAT,
    MISSING_WEIGHT,
    Band,
    Edge,
    EdgeDraft,
    Node,
    NodeDraft,
    NodeKind,
    as_kind,
    band,
    checked_fields,
    edge_record,
    node_record,
    read_edge,
    read_graph,
    read_node,
    read_time,
)
from reasoningbank.validation import validated

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (1.0, "direct"),
        (0.85, "direct"),
        (0.75, "bridge"),
        (0.55, "bridge"),
        (0.45, "topical"),
        (0.25, "topical"),
        (0, "faint"),
    ],
)
def test_a_weight_has_the_band_it_lies_in(weight: float, expected: str) -> None:
    assert band(weight) == expected


@given(st.floats(0.0, 1.0))
def test_what_lies_between_two_bands_belongs_to_the_lower_one(weight: float) -> None:
    limits = {Band.DIRECT: 0.85, Band.BRIDGE: 0.55, Band.TOPICAL: 0.25, Band.FAINT: 0.0}

    assert limits[band(weight)] <= weight
    assert all(weight < limit for limit in limits.values() if limit > limits[band(weight)])
    edge = Edge(id="e", source="a", target="b", text="t", weight=weight, created_at=NOON)
    assert edge.band is band(weight)


def test_there_are_six_kinds_with_their_own_fields_and_a_kind_is_read_in_any_case() -> None:
    assert set(FIELDS) == set(NodeKind)
    assert as_kind("user_request") is as_kind(" USERREQUEST ") is as_kind(NodeKind.USER_REQUEST)
    with pytest.raises(InvalidInputError, match="not one of UserRequest, UserPreference"):
        as_kind("Person")


def test_a_field_of_another_kind_is_refused_with_those_of_its_own() -> None:
    assert checked_fields(NodeKind.AGENT_ACTION, {"status": "complete", "parameter_field": None}) == {
        "status": "complete"
    }
    with pytest.raises(InvalidInputError, match="AgentAction has no field 'metrics': its fields are status"):
        checked_fields(NodeKind.AGENT_ACTION, {"metrics": []})


def test_fields_are_texts_lists_of_texts_and_dates() -> None:
    answer = {"analysis_types": ("attribution",), "metrics": ["roi"]}
    assert checked_fields(NodeKind.AGENT_ANSWER, answer) == {"analysis_types": ["attribution"], "metrics": ["roi"]}
    assert checked_fields(NodeKind.EVENT, {"start_date": "2026-03-14", "end_date": "2026-03-15T09:00:00+01:00"})
    for kind, bad in (
        (NodeKind.AGENT_ANSWER, {"metrics": "roi"}),
        (NodeKind.AGENT_ANSWER, {"metrics": [1]}),
        (NodeKind.EVENT, {"start_date": "soon"}),
        (NodeKind.USER_REQUEST, {"user_id": 7}),
    ):
        with pytest.raises(InvalidInputError):
            checked_fields(kind, bad)


def test_a_node_says_something_and_not_too_much() -> None:
    with pytest.raises(InvalidInputError, match="text of the node is empty"):
        validated(NodeDraft, {"kind": "Event", "text": "  "})
    with pytest.raises(LimitExceededError):
        validated(EdgeDraft, {"source": "a", "target": "b", "weight": 1, "text": "x" * 1001})
    for weight in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInputError, match="weight"):
            validated(EdgeDraft, {"source": "a", "target": "b", "weight": weight, "text": "t"})


# -- records ---------------------------------------------------------------------------------------------------------

NODE = Node(
    id="N1",
    kind=NodeKind.AGENT_ANSWER,
    text="It paid off",
    conv_id="c",
    tags=("roi",),
    reasoning_pointer_ids=("m-1",),
    fields={"metrics": ["roi", "cpa"]},
    quarantined=True,
    created_at=NOON,
    updated_at=NOON,
)
EDGE = Edge(id="E1", source="N1", target="N2", text="explains", weight=0.9, tags=("why",), created_at=NOON)


def test_what_is_written_as_a_record_is_read_back() -> None:
    node_id, draft, quarantined = read_node(node_record(NODE))
    assert (node_id, quarantined) == ("N1", True)
    kept = NodeDraft(**draft)
    assert all(getattr(kept, name) == getattr(NODE, name) for name in NodeDraft.model_fields)
    edge_id, fields = read_edge(edge_record(EDGE))
    assert (edge_id, EdgeDraft(**fields).tags, fields["weight"]) == ("E1", ("why",), 0.9)


def test_memorias_own_shapes_are_read() -> None:
    nested: dict[str, Any] = {
        "id": 7,
        "labels": ["DataSource"],
        "properties": {"text": "sales.csv", "embedding_id": "emb_7", "doc_pointer": "s3", "tags": "pos, csv"},
        "score": 0.3,
    }
    node_id, draft, _ = read_node(nested)
    assert (node_id, draft["kind"], draft["fields"], draft["tags"]) == (
        "7",
        "DataSource",
        {"doc_pointer": "s3"},
        ["pos", "csv"],
    )
    edge_id, fields = read_edge({"edge_id": "E", "source_node_id": "a", "target_node_id": "b", "text": "t"})
    assert (edge_id, fields["source"], fields["target"], fields["weight"]) == ("E", "a", "b", MISSING_WEIGHT)
    assert read_node({"label": "Event", "text": "t", "tags": '["a", 1]'})[1]["tags"] == ["a", 1]
    assert read_node({"label": "Event", "text": "t", "tags": "{}"})[1]["tags"] == ["{}"]
    assert read_node({"labels": [], "kind": "Event", "text": "t", "id": " "})[0] is None


def test_a_time_is_read_under_the_first_name_that_holds_one() -> None:
    given = {"a": "soon", "b": "2026-01-02T03:04:05", "properties": {"c": "2026-01-02T03:04:05+01:00"}}

    assert read_time(given, "x", "a", "b") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read_time(given, "c") == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert read_time(given, "a") is None


@pytest.mark.parametrize("bad", ["text", {"text": "t"}, {"labels": "Person", "text": "t"}])
def test_a_record_without_a_kind_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError):
        read_node(bad)


def test_a_document_has_nodes_and_edges_of_a_version_that_is_known() -> None:
    assert read_graph({"nodes": [1]}) == ([1], [])
    assert read_graph({"nodes": [], "links": [2], "format": FORMAT}) == ([], [2])
    refused: list[object] = [
        [],
        {"nodes": 1},
        {"nodes": [], "edges": 1},
        {"nodes": [], "format": "reasoningbank-graph/2"},
    ]
    for bad in refused:
        with pytest.raises(InvalidInputError):
            read_graph(bad)
