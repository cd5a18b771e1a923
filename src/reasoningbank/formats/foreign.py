"""From the records of other tools to lines of ours. Each form is told by the keys that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reasoningbank.distill.parse import read_answer
from reasoningbank.memory import DESCRIPTION_LIMIT, ID_LIMIT, TITLE_LIMIT

Record = Mapping[str, Any]
Line = dict[str, Any]

# We embed anew; another tool's vectors would only fill the metadata.
TIMES = ("created_at", "updated_at")
VECTORS = frozenset({"embedding", "embeddings", "vector", "vectors"})


def translated(record: Record) -> tuple[str, list[Line]]:
    """Return what form a record is of, "" for a plain line, and the lines of ours that it stands for.

    One, or several where it holds several items; none where it says nothing that could be a lesson.
    """
    given = {key: value for key, value in record.items() if key not in VECTORS}
    for name, keys, translate in FORMS:
        if keys <= given.keys():
            lines = translate(given)
            return name, lines if isinstance(lines, list) else [lines]
    return "", [given]


def _text(given: object) -> str:
    return str(given or "")


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
            "title": _text(item.get("title")),
            "description": _text(item.get("description")),
            "content": item.get("content"),
            "outcome": record.get("status"),
            "metadata": metadata,
        }
        for item in items
        if isinstance(item, Mapping)
    ]


def _from_reasoning_bank(record: Record) -> Line:
    return {
        **_chosen(record, "id", "title", "description", "content", *TIMES),
        "applies_when": _text(record["task_signature"]),
        "outcome": record.get("source"),
        "metadata": _chosen(record, "scope", "related_ids"),
    }


def _from_mem0(record: Record) -> Line:
    return {
        **_chosen(record, "id", *TIMES),
        "expires_at": record.get("expiration_date") or record.get("expires_at"),
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
        "applies_when": _text(record["when_to_use"]),
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
        "title": _text(lesson.get("title")),
        "description": _text(lesson.get("description")),
        "content": lesson.get("content"),
        "outcome": source.get("outcome"),
        "tags": lesson.get("tags") or (),
        "metadata": _chosen(lesson, "domain", "agent", "task_type") | _chosen(source, "task_id", "agent_id"),
    }


def _from_playbook(record: Record) -> Line:
    """A bullet of an ACE playbook; its counts are votes of whoever kept it."""
    votes = {"kind": "explicit", "positive": record["helpful"], "negative": record["harmful"]}
    counts = _chosen(record, "helpful", "harmful", "place")
    return {**_chosen(record, "id", "content", "description"), "metadata": counts, "votes": votes}


def _from_knowledge_graph(record: Record) -> list[Line]:
    """An entity of the official memory server: each observation is a lesson. Its relations say nothing to do."""
    name = str(record.get("name") or "")
    return [
        {
            "title": _cut(f"{name}: {observation}", TITLE_LIMIT),
            "content": observation,
            "description": _cut(f"{name} ({record.get('entityType') or 'entity'})", DESCRIPTION_LIMIT),
            "metadata": {"entity": name, **_chosen(record, "entityType")},
        }
        for observation in record.get("observations") or ()
    ]


def _from_store(record: Record) -> Line:
    """An item of a LangGraph store, as LangMem fills it: the text lies in `value`, on its own or under `content`."""
    value = record["value"]
    held: object = value
    while isinstance(held, Mapping):
        held = next((held[name] for name in STORED if held.get(name) not in (None, "", {})), None)
    fields = _object(value.get("content")) or dict(value)
    namespace = record.get("namespace")
    place = "/".join(map(str, namespace)) if isinstance(namespace, (list, tuple)) else namespace
    return {
        **_chosen(fields, "title", "description", "outcome", "tags"),
        **_chosen(record, *TIMES),
        "id": f"{place}/{record['key']}"[:ID_LIMIT] if place else str(record["key"])[:ID_LIMIT],
        "content": held,
        "metadata": {"namespace": place, **_chosen(value, "kind")},
    }


def _from_entry(record: Record) -> Line:
    """A row of `memory_entries`, or an entry of the JSON that claude-flow exports."""
    if isinstance(record["value"], Mapping):
        return _from_store(record)
    namespace = record.get("namespace") or "default"
    identity = f"{namespace}/{record['key']}"
    return {
        "id": identity if len(identity) <= ID_LIMIT else None,
        "title": _text(record["key"]),
        "content": record["value"],
        "tags": record.get("tags") or (),
        "metadata": {"namespace": namespace, **_object(record.get("metadata"))},
    }


STORED = ("content", "text", "memory", "lesson", "rule", "insight", "data", "value")

FORMS: tuple[tuple[str, frozenset[str], Callable[[Record], Line | list[Line]]], ...] = (
    ("an ACE playbook", frozenset({"format", "helpful", "harmful"}), _from_playbook),
    ("", frozenset({"format"}), dict),
    ("the official memory server's graph", frozenset({"type", "name", "observations"}), _from_knowledge_graph),
    ("the official memory server's graph", frozenset({"type", "from", "to", "relationType"}), lambda _: []),
    ("runs of the ReasoningBank paper's code", frozenset({"memory_items", "query"}), _from_paper),
    ("PyPI's reasoning-bank", frozenset({"task_signature", "content"}), _from_reasoning_bank),
    ("ReMe", frozenset({"memory_id", "when_to_use", "content"}), _from_reme_memory),
    ("ReMe's vector store", frozenset({"unique_id", "workspace_id", "metadata"}), _from_reme_node),
    ("agentic-flow", frozenset({"pattern_data"}), _from_pattern),
    ("a key-value store", frozenset({"key", "value"}), _from_entry),
    ("mem0", frozenset({"memory"}), _from_mem0),
)
