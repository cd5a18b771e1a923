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
    "memory_distill": "Draw lessons from a task",
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
    "memory_distill": _object(["status", "memory_ids"], status="string", memory_ids="array", duplicates="array"),
}


def input_schema(arguments: type[BaseModel], projects: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments.

    What may be null is simply not required here: not every client knows unions, and a null that comes is accepted.

    Args:
        projects: names that `project_id` can have; none when the server is bound to one project.
    """
    schema = arguments.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {name: _plain(field, definitions) for name, field in schema["properties"].items()}
    required = list(schema.get("required", ()))
    if projects:
        properties["project_id"] = {"type": "string", "enum": list(projects), "description": "Whose lessons."}
        required.append("project_id")
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _plain(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    # pydantic repeats each field's name as a title.
    rest = {key: value for key, value in field.items() if key not in {"title", "default", "anyOf", "description"}}
    plain = {**(kinds[0] if kinds else {}), **rest, "description": _without_null(field["description"])}
    item = plain.get("items", {}).get("$ref", "").rpartition("/")[2]
    if item:
        # In place, since not every client follows references.
        parts = {name: _plain(part, definitions) for name, part in definitions[item]["properties"].items()}
        required = definitions[item].get("required", [])
        plain["items"] = {"type": "object", "properties": parts, "required": required, "additionalProperties": False}
    return plain


def _without_null(description: str) -> str:
    description = re.sub(r"; null for (.+)\.$", r"; else \1.", description)
    return re.sub(r"(?:; or|\. Or) null\.$", ".", description)
