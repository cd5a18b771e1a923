"""Filters as one SQL condition on `memories`, which every door shares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from reasoningbank.filters import Condition, Filters, Kind, kind_of
from reasoningbank.memory import State
from reasoningbank.signals import time_text

HAPPENED: Final = "coalesce(memories.occurred_at, memories.created_at)"
"""When what a memory tells of happened, as far as it is known."""

_COMPARED: Final = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}

TYPES: Final[dict[Kind, tuple[str, ...]]] = {
    "number": ("integer", "real"),
    "text": ("text",),
    "truth value": ("true", "false"),
    "null": ("null",),
    "list": ("array",),
}
"""How SQLite names the kinds of values."""

Part = tuple[str, list[Any]]


def clause(filters: Filters) -> Part:
    """Return an SQL condition, and its values."""
    parts = [*_states(filters.states), *_tags(filters), *map(_metadata, filters.where), *_times(filters)]
    if filters.outcome is not None:
        parts.append(("outcome = ?", [filters.outcome.value]))
    if filters.text:
        parts.append(
            (
                "instr(folded(title || '\n' || description || '\n' || content || '\n' || applies_when), folded(?)) > 0",
                [filters.text],
            )
        )
    if filters.sources:
        marks = _marks(filters.sources)
        parts.append((f"(source_by IN ({marks}) OR source_session IN ({marks}))", [*filters.sources] * 2))
    return _joined(parts, " AND ")


def _states(states: Sequence[State]) -> Iterable[Part]:
    yield f"state IN ({_marks(states)})", [state.value for state in states]


def _tags(filters: Filters) -> Iterable[Part]:
    has = "EXISTS (SELECT 1 FROM json_each(memories.tags) AS t WHERE t.value IN ({}))"
    for tag in filters.tags:
        yield has.format("?"), [tag]
    if filters.any_tags:
        yield has.format(_marks(filters.any_tags)), [*filters.any_tags]
    if filters.no_tags:
        yield f"NOT {has.format(_marks(filters.no_tags))}", [*filters.no_tags]


def _times(filters: Filters) -> Iterable[Part]:
    for condition, at in (
        (f"{HAPPENED} >= ?", filters.since),
        (f"{HAPPENED} < ?", filters.until),
        ("(expires_at IS NULL OR expires_at > ?)", filters.alive_at),
        ("expires_at <= ?", filters.expired_by),
    ):
        if at is not None:
            yield condition, [time_text(at)]


def _metadata(asked: Condition) -> Part:
    if asked.operator in _COMPARED:
        (bound,) = asked.values
        kind = kind_of(bound)
        holds: Part = (f"{_is_of(kind)} AND {_value_of(kind)} {_COMPARED[asked.operator]} ?", [bound])
    else:
        holds = _joined(list(_one_of(asked.values)), " OR ")
    return f"EXISTS (SELECT 1 FROM json_each(memories.metadata) AS m WHERE m.key = ? AND ({holds[0]}))", [
        asked.key,
        *holds[1],
    ]


def _one_of(values: Sequence[Any]) -> Iterable[Part]:
    by_kind: dict[Kind, list[Any]] = {}
    for value in values:
        by_kind.setdefault(kind_of(value), []).append(json_text(value) if isinstance(value, list) else value)
    for kind, same in by_kind.items():
        if kind == "null":
            yield _is_of(kind), []
        else:
            yield f"({_is_of(kind)} AND {_value_of(kind)} IN ({_marks(same)}))", same


def _is_of(kind: Kind) -> str:
    return f"m.type IN ({', '.join(repr(type_) for type_ in TYPES[kind])})"


def _value_of(kind: Kind) -> str:
    # As what it is and not as a text, where the engine makes that difference.
    return "m.atom" if kind in ("number", "truth value") else "m.value"


def _joined(parts: Sequence[Part], word: str) -> Part:
    return word.join(condition for condition, _ in parts), [value for _, values in parts for value in values]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: object) -> str:
    """Return `value` as compact JSON, as it stands in the rows."""
    return _COMPACT.encode(value)
