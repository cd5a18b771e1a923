"""Cursor: its agent's transcripts (a message a line), and the chats in its store (bubbles, by whom in `type`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list, unpacked

SAYS = {1: "user", "user": "user", 2: "assistant", "ai": "assistant"}
BUBBLES = ("conversation", "bubbles")
CHAT_IDS = ("composerId", "tabId")


def fits(record: Any) -> bool:
    """Tell whether it is a list of records with a role and, beside it, a message without one; or a chat of bubbles."""
    if isinstance(record, Mapping):
        return any(name in record for name in CHAT_IDS) and any(is_list(record.get(name)) for name in BUBBLES)
    return is_list(record) and any(
        isinstance(get(each, "role"), str) and isinstance(get(each, "message"), Mapping) for each in islice(record, 8)
    )


def read(record: Any) -> Iterator[Found]:
    """Read a chat as one run. A transcript has the calls of tools, and not always what came of them."""
    if not isinstance(record, Mapping):
        yield read_messages(record, place="")
        return
    name = next(name for name in BUBBLES if is_list(record.get(name)))
    found = read_messages(map(_message, record[name]), place=name)
    found.fields = {
        "session": get(record, *CHAT_IDS),
        "started_at": get(record, "createdAt"),
        "ended_at": get(record, "lastUpdatedAt", "lastSendTime"),
    }
    yield found


def _message(bubble: Any) -> dict[str, Any]:
    kind: Any = get(bubble, "type")
    used = get(bubble, "toolFormerData")
    return {
        "role": SAYS.get(kind if isinstance(kind, (int, str)) else "", kind),
        "content": get(bubble, "text", "rawText") or "",
        "thought": get(get(bubble, "thinking"), "text"),
        "tool_calls": [_call(used)] if isinstance(used, Mapping) and get(used, "name", "tool") is not None else [],
        "timestamp": get(bubble, "createdAt"),
    }


def _call(used: Mapping[str, Any]) -> dict[str, Any]:
    error = unpacked(get(used, "error"))
    return {
        "type": "tool_call",
        "id": get(used, "toolCallId"),
        "name": str(get(used, "name", "tool")),
        "arguments": get(used, "rawArgs", "params"),
        "output": unpacked(get(used, "result")),
        "error": get(error, "clientVisibleErrorMessage", "modelVisibleErrorMessage", "message") or error,
        "status": get(used, "status"),
    }
