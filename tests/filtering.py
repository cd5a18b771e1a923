"""What filters mean, in plain Python: what the database and what is kept of it have to agree with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reasoningbank import Memory
from reasoningbank.filters import Condition, Filters
from reasoningbank.storage.filters import json_text


def passes(memory: Memory, filters: Filters) -> bool:
    """Tell whether a memory passes; of the text only what is in its content."""
    tags = set(memory.tags)
    return (
        memory.state in filters.states
        and filters.outcome in (None, memory.outcome)
        and tags >= set(filters.tags)
        and (not filters.any_tags or bool(tags & set(filters.any_tags)))
        and not tags & set(filters.no_tags)
        and all(_holds(memory.metadata, condition) for condition in filters.where)
        and (not filters.sources or bool({memory.source.by, memory.source.session} & set(filters.sources)))
        and filters.text.casefold() in memory.content.casefold()
        and _in_time(memory, filters)
    )


def _in_time(memory: Memory, filters: Filters) -> bool:
    happened: datetime = memory.occurred_at or memory.created_at
    return (
        (filters.since is None or filters.since <= happened)
        and (filters.until is None or happened < filters.until)
        and (filters.alive_at is None or memory.expires_at is None or memory.expires_at > filters.alive_at)
        and (filters.expired_by is None or (memory.expires_at is not None and memory.expires_at <= filters.expired_by))
    )


def _holds(metadata: Mapping[str, Any], condition: Condition) -> bool:
    if condition.key not in metadata:
        return False
    there = _value(metadata[condition.key])
    if condition.operator in {"eq", "in"}:
        return any(type(there) is type(given := _value(each)) and there == given for each in condition.values)
    (bound,) = map(_value, condition.values)
    if type(there) is not type(bound) or not isinstance(there, (Number, str)):
        return False
    left, right = (there.of, bound.of) if isinstance(there, Number) and isinstance(bound, Number) else (there, bound)
    compared = {"gte": left >= right, "gt": left > right, "lte": left <= right, "lt": left < right}  # type: ignore[operator]
    return bool(compared[condition.operator])


class Number:
    """A number is a number, whole or not, and never a truth value."""

    def __init__(self, of: float) -> None:
        self.of = of if -(2**63) <= of < 2**63 else float(of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.of == other.of

    __hash__ = None  # type: ignore[assignment]


class Listed(str):
    """A list is what it is written as."""


def _value(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return Number(value) if isinstance(value, (int, float)) else Listed(json_text(value))
