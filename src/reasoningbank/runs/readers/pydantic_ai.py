"""Message histories of pydantic-ai: requests and responses (`kind`) with parts (`part_kind`), as JSON or as objects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list

KINDS = ("request", "response")
ROLES = {"system-prompt": "system", "user-prompt": "user"}


def fits(record: Any) -> bool:
    """Tell whether it is a list of requests and responses with parts."""
    return is_list(record) and any(map(_is_message, islice(record, 4)))


def _is_message(message: Any) -> bool:
    parts = get(message, "parts")
    return get(message, "kind") in KINDS and is_list(parts) and any(get(part, "part_kind") for part in parts)


def read(record: Any) -> Iterator[Found]:
    """Read a history as one run."""
    yield read_messages(_messages(record), place="")


def _messages(record: Any) -> Iterator[dict[str, Any]]:
    for message in record:
        parts: Any = get(message, "parts")
        if get(message, "kind") == "response":
            said = [_said(part) for part in parts or ()]
            yield {"role": "assistant", "content": said, "timestamp": get(message, "timestamp")}
            continue
        for part in parts or ():
            yield _asked(part)


def _asked(part: Any) -> dict[str, Any]:
    """Return a part of a request as the message that it is: by the system, the user, or a tool."""
    kind, tool = get(part, "part_kind"), get(part, "tool_name")
    content = {"content": get(part, "content"), "timestamp": get(part, "timestamp")}
    if tool is None:
        return {"role": ROLES.get(str(kind), "user" if kind == "retry-prompt" else kind), **content}
    failed = kind == "retry-prompt" or get(part, "outcome") in ("failed", "denied")
    return {"role": "tool", "name": tool, "tool_call_id": get(part, "tool_call_id"), "is_error": failed, **content}


def _said(part: Any) -> Any:
    """Return a part of a response as a content block; its thoughts stand where other frameworks have texts."""
    return {"type": "thinking", "thinking": get(part, "content")} if get(part, "part_kind") == "thinking" else part
