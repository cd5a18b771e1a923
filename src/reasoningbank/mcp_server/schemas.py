"""What a client is told of each tool: a title, the closed schema of its arguments, and all fields of its answer.

The schemas are small and plain: no unions and no references, which not every client follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

TITLES = {
    "memory_search": "Look up lessons",
    "memory_record": "Store a lesson",
    "memory_feedback": "Rate a lesson",
    "memory_outcome": "Report how a task ended",
    "memory_distill": "Draw lessons from a task",
    "memory_list": "List lessons",
    "memory_update": "Put a lesson right",
    "memory_retire": "Take a lesson out of service",
    "memory_approve": "Approve a quarantined lesson",
}

_TEXT, _TEXTS, _NUMBER, _FLAG = "string", ["string"], "number", "boolean"
_COUNTS = {"*": "integer"}


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a kind: a type's name, [kind of the items], {"*": kind of the values}, or an object."""
    if isinstance(kind, str):
        return {"type": kind}
    if isinstance(kind, list):
        return {"type": "array", "items": _schema(kind[0])}
    if "*" in kind:
        return {"type": "object", "additionalProperties": _schema(kind["*"])}
    # A field that is not always there is named with a question mark.
    return {
        "type": "object",
        "properties": {name.rstrip("?"): _schema(each) for name, each in kind.items()},
        "required": [name for name in kind if not name.endswith("?")],
    }


_ACCOUNT = {"redactions?": _COUNTS, "degraded?": _TEXTS}
_HIT = {
    **dict.fromkeys(("memory_id", "project", "title", "content", "description", "applies_when", "outcome"), _TEXT),
    "tags": _TEXTS,
    **dict.fromkeys(("confidence", "similarity", "keyword", "score"), _NUMBER),
    "provisional": _FLAG,
}
_ROW = {
    **dict.fromkeys(("memory_id", "outcome", "state", "by", "created_at"), _TEXT),
    "title?": _TEXT,
    "signs?": _TEXTS,
    "confidence": _NUMBER,
}
_ANSWERS: dict[str, Mapping[str, Any]] = {
    "memory_search": {
        "memories": [_HIT], "ref?": _TEXT, "withheld?": _COUNTS, "weak?": _FLAG, "too_long?": _TEXTS,
        "degraded?": _TEXTS, "errors?": _TEXTS, "match?": _TEXT, "repeated?": _FLAG,
    },
    "memory_record": {
        "memory_id": _TEXT, "created": _FLAG, "confidence": _NUMBER, "state": _TEXT,
        "possible_duplicate_of?": _TEXT, "held?": _TEXT, **_ACCOUNT,
    },
    "memory_feedback": {"memory_id": _TEXT, "confidence": _NUMBER, "recorded": _FLAG, "ref?": _TEXT, **_ACCOUNT},
    "memory_outcome": {
        "recorded": _FLAG, "ref?": _TEXT, "credited?": _TEXTS, "lessons?": _TEXTS, "too_late?": _FLAG,
        "memory_id?": _TEXT, "confidence?": _NUMBER, **_ACCOUNT,
    },
    "memory_distill": {
        "status": _TEXT, "memory_ids": _TEXTS, "duplicates": _TEXTS, "possible_duplicates?": {"*": "string"},
        "held?": {"*": "string"}, "removed?": _COUNTS, **_ACCOUNT,
    },
    "memory_list": {"memories": [_ROW], "withheld?": _COUNTS, "next?": _TEXT},
    "memory_update": {
        "memory_id": _TEXT, "changed": _FLAG, "confidence": _NUMBER, "state": _TEXT, **_ACCOUNT,
    },
    "memory_retire": {"memory_id": _TEXT, "state": _TEXT, **_ACCOUNT},
    "memory_approve": {"memory_id": _TEXT, "state": _TEXT},
}  # fmt: skip

OUTPUTS = {name: _schema(answer) for name, answer in _ANSWERS.items()}


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
