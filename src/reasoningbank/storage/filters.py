"""Which memories to look at, as one SQL condition that every door shares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasoningbank.memory import State
from reasoningbank.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories to look at; None (or an empty collection) looks at all.

    Attributes:
        tags: a memory must have all of these.
        where: a memory's metadata must hold these values under these keys.
        text: must occur in title, description, content or applies_when, whatever the case.
    """

    states: tuple[State, ...] = (State.ACTIVE,)
    outcome: Verdict | None = None
    tags: tuple[str, ...] = ()
    where: Mapping[str, Any] | None = None
    text: str = ""
    source: str | None = None

    def clause(self) -> tuple[str, list[Any]]:
        """Return an SQL condition on `memories`, and its values."""
        parts = [f"state IN ({', '.join('?' * len(self.states))})"]
        values: list[Any] = [state.value for state in self.states]
        if self.outcome is not None:
            parts.append("outcome = ?")
            values.append(self.outcome.value)
        for tag in self.tags:
            parts.append("EXISTS (SELECT 1 FROM json_each(memories.tags) AS t WHERE t.value = ?)")
            values.append(tag)
        for key, value in (self.where or {}).items():
            condition, given = _json_condition(value)
            parts.append(f"EXISTS (SELECT 1 FROM json_each(memories.metadata) AS m WHERE m.key = ? AND {condition})")
            values += [key, *given]
        if self.text:
            parts.append(
                "instr(casefold(title || char(10) || description || char(10) || content "
                "|| char(10) || applies_when), casefold(?)) > 0"
            )
            values.append(self.text)
        if self.source is not None:
            parts.append("(source_by = ? OR source_session = ?)")
            values += [self.source, self.source]
        return " AND ".join(parts), values


def _json_condition(value: object) -> tuple[str, list[Any]]:
    if value is None or isinstance(value, bool):
        return "m.type = ?", [{None: "null", True: "true", False: "false"}[value]]
    if isinstance(value, (int, float)):
        return "m.type IN ('integer', 'real') AND m.value = ?", [value]
    if isinstance(value, str):
        return "m.type = 'text' AND m.value = ?", [value]
    return "m.type IN ('array', 'object') AND m.value = ?", [json_text(value)]


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: object) -> str:
    """Return `value` as compact JSON, as it stands in the rows."""
    return _COMPACT.encode(value)
