"""From the records of other tools to lines of ours. Each form is told by the keys that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reasoningbank.distill.parse import read_answer
from reasoningbank.memory import DESCRIPTION_LIMIT, ID_LIMIT, TITLE_LIMIT

Record = Mapping[str, Any]
Line = dict[str, Any]

# We embed anew; another tool's vectors would only fill the metadata.
VECTORS = frozenset({"embedding", "embeddings", "vector", "vectors"})

FAILED = frozenset({"failure", "fail", "failed", "incorrect", "false", "0"})


def translated(record: Record) -> list[Line]:
    """Return the lines of ours that a record stands for: one, or for a run of the paper's code one for each item."""
    given = {key: value for key, value in record.items() if key not in VECTORS}
    for keys, translate in FORMS:
        if keys <= given.keys():
            lines = translate(given)
            return lines if isinstance(lines, list) else [lines]
    return [given]


def _outcome(word: object) -> str:
    return "failure" if str(word).strip().lower() in FAILED else "success"


def _cut(text: object, limit: int) -> str:
    whole = str(text or "")
    return whole if len(whole) <= limit else f"{whole[: limit - 1]}…"


def _chosen(record: Record, *names: str) -> Line:
    return {name: record[name] for name in names if record.get(name) not in (None, "", [], {})}


def _object(value: object) -> Line:
    return dict(value) if isinstance(value, Mapping) else {}


def _from_paper(record: Record) -> list[Line]:
    """A run of the paper's code a line, its items as Markdown."""
    text = record["memory_items"]
    items = read_answer("\n\n".join(map(str, text)) if isinstance(text, list) else str(text)).items
    metadata = _chosen(record, "task_id", "template_id", "query")
    return [
        {
            "title": _cut(item.get("title"), TITLE_LIMIT),
            "description": _cut(item.get("description"), DESCRIPTION_LIMIT),
            "content": item.get("content"),
            "outcome": _outcome(record.get("status")),
            "metadata": metadata,
        }
        for item in items
        if isinstance(item, Mapping)
    ]


def _from_reasoning_bank(record: Record) -> Line:
    return {
        **_chosen(record, "id", "title", "description", "content"),
        "applies_when": _cut(record["task_signature"], DESCRIPTION_LIMIT),
        "outcome": _outcome(record.get("source")),
        "metadata": _chosen(record, "scope", "related_ids"),
    }


def _from_mem0(record: Record) -> Line:
    return {
        **_chosen(record, "id"),
        "content": record["memory"],
        "tags": record.get("categories") or (),
        "metadata": _object(record.get("metadata")) | _chosen(record, "user_id", "agent_id", "app_id", "run_id"),
    }


def _from_reme_memory(record: Record) -> Line:
    """ReMe: a situation and what to do in it."""
    more = _object(record.get("metadata"))
    return {
        "id": record["memory_id"],
        "content": record["content"],
        "applies_when": _cut(record["when_to_use"], DESCRIPTION_LIMIT),
        "tags": more.pop("tags", None) or (),
        "metadata": more | _chosen(record, "workspace_id", "memory_type", "author"),
    }


def _from_reme_node(record: Record) -> Line:
    """A node of ReMe's vector store: the situation is what is embedded, what to do stands in the metadata."""
    held = _object(record["metadata"])
    if not isinstance(held.get("content"), str):
        return dict(record)
    memory = held | {
        "memory_id": record["unique_id"],
        "workspace_id": record["workspace_id"],
        "when_to_use": record.get("content") or held.get("when_to_use"),
    }
    return _from_reme_memory(memory)


def _from_pattern(record: Record) -> Line:
    """A row of `patterns` of agentic-flow and claude-flow, with its data read."""
    lesson = _object(record["pattern_data"])
    source = _object(lesson.get("source"))
    return {
        "id": record["id"],
        "title": _cut(lesson.get("title"), TITLE_LIMIT),
        "description": _cut(lesson.get("description"), DESCRIPTION_LIMIT),
        "content": lesson.get("content"),
        "outcome": _outcome(source.get("outcome")),
        "tags": lesson.get("tags") or (),
        "metadata": _chosen(lesson, "domain", "agent", "task_type") | _chosen(source, "task_id", "agent_id"),
    }


def _from_entry(record: Record) -> Line:
    """A row of `memory_entries`, or an entry of the JSON that claude-flow exports."""
    namespace = record.get("namespace") or "default"
    identity = f"{namespace}/{record['key']}"
    return {
        "id": identity if len(identity) <= ID_LIMIT else None,
        "title": _cut(record["key"], TITLE_LIMIT),
        "content": record["value"],
        "tags": record.get("tags") or (),
        "metadata": {"namespace": namespace, **_object(record.get("metadata"))},
    }


FORMS: tuple[tuple[frozenset[str], Callable[[Record], Line | list[Line]]], ...] = (
    (frozenset({"format"}), dict),
    (frozenset({"memory_items", "query"}), _from_paper),
    (frozenset({"task_signature", "content"}), _from_reasoning_bank),
    (frozenset({"memory_id", "when_to_use", "content"}), _from_reme_memory),
    (frozenset({"unique_id", "workspace_id", "metadata"}), _from_reme_node),
    (frozenset({"pattern_data"}), _from_pattern),
    (frozenset({"key", "value"}), _from_entry),
    (frozenset({"memory"}), _from_mem0),
)
