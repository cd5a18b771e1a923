"""The schemas of the tools: closed, small, and without what a model does not read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

TITLES = {
    "memory_search": "Look up lessons",
    "memory_record": "Store a lesson",
    "memory_feedback": "Rate a lesson",
    "memory_outcome": "Report how a task ended",
}


def _object(required: Sequence[str] = (), **properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(required),
    }


# What a client may rely on; further fields may come with it.
OUTPUTS: dict[str, dict[str, Any]] = {
    "memory_search": _object(["memories"], memories="array", ref="string", withheld="object", too_long="array"),
    "memory_record": _object(["memory_id", "created"], memory_id="string", created="boolean", confidence="number"),
    "memory_feedback": _object(["memory_id", "confidence"], memory_id="string", confidence="number"),
    "memory_outcome": _object(["recorded"], recorded="boolean", credited="array", confidence="number"),
}


def input_schema(arguments: type[BaseModel], projects: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments.

    What may be null is simply not required here: not every client knows unions, and a null that comes is accepted.

    Args:
        projects: names that `project_id` can have; none when the server is bound to one project.
    """
    schema = arguments.model_json_schema()
    properties = {name: _plain(field) for name, field in schema["properties"].items()}
    required = list(schema.get("required", ()))
    if projects:
        properties["project_id"] = {"type": "string", "enum": list(projects), "description": "Whose lessons."}
        required.append("project_id")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    # pydantic repeats each field's name as a title.
    rest = {key: value for key, value in field.items() if key not in {"title", "default", "anyOf", "description"}}
    return {**(kinds[0] if kinds else {}), **rest, "description": _without_null(field["description"])}


def _without_null(description: str) -> str:
    description = re.sub(r"; null for (.+)\.$", r"; else \1.", description)
    return re.sub(r"(?:; or|\. Or) null\.$", ".", description)
