"""The state's entry: which episode a run has. It holds no lesson, so none is in an output, a stream or a checkpoint."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypedDict, get_type_hints

from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict as AnyTypedDict
from typing_extensions import is_typeddict


def keep_right(_left: Any, right: Any) -> Any:
    """The reducer of the state's entry: the newest replaces what was there."""
    return right


Entry = Annotated[dict[str, Any], keep_right]
"""{"ref", "memories"}: plain JSON. The reducer lets two subgraphs that share the key run in one step."""


class ReasoningBankState(TypedDict, total=False):
    """Mix it into a graph's state to see the entry in the output; `attach` adds one that is private without it."""

    reasoningbank: Entry


def read(state: Any, key: str) -> Any:
    """Return a field of a state, whatever its kind."""
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def with_entry(schema: Any, key: str) -> Any:
    """Return a schema of the same fields with the entry beside them.

    Raises:
        ValueError: a state of another kind than a TypedDict, a pydantic model or a dataclass.
    """
    hints = fields_of(schema)
    if key in hints:
        return schema
    name = f"{getattr(schema, '__name__', 'State')}WithLessons"
    if is_typeddict(schema):
        make: Any = AnyTypedDict
        return make(name, {**hints, key: Entry}, total=False)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        more: dict[str, Any] = {key: (Entry, {})}
        return create_model(name, __base__=schema, **more)
    return dataclasses.make_dataclass(
        name, [(key, Entry, dataclasses.field(default_factory=dict))], bases=(schema,), kw_only=True
    )


def fields_of(schema: Any) -> dict[str, Any]:
    """Return the fields of a state's schema with their types, as with_entry reads them."""
    known = is_typeddict(schema) or dataclasses.is_dataclass(schema)
    if not known and not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise ValueError(
            f"the graph's state is {schema!r:.100}, which has no fields to put the lessons' reference beside: "
            "use a TypedDict, a pydantic model or a dataclass"
        )
    return get_type_hints(schema, include_extras=True)


def lead_through(builder: StateGraph[Any, Any, Any, Any], node: str) -> None:
    """Let a graph start with a node, and everything that it started with follow that."""
    for edge in [edge for edge in builder.edges if edge[0] == START and edge[1] != node]:
        builder.edges.remove(edge)
        builder.edges.add((node, edge[1]))
    if branches := builder.branches.pop(START, None):
        builder.branches[node].update(branches)
    builder.edges.add((START, node))


def end_with(builder: StateGraph[Any, Any, Any, Any], first: str, last: str) -> None:
    """Let a graph end with a deferred node, however it ends: it waits from the start until nothing else is left."""
    builder.add_edge(first, last)
    builder.add_edge(last, END)
