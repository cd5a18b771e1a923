"""Sessions of OpenCode: messages whose speaker is under `info`, and whose tools are parts with a `state`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list


def fits(record: Any) -> bool:
    """Tell whether it is an exported session, or the list of its messages."""
    messages = _messages_in(record)
    return is_list(messages) and any(
        get(get(message, "info"), "role") is not None and is_list(get(message, "parts"))
        for message in islice(messages, 8)
    )


def _messages_in(record: Any) -> Any:
    return record.get("messages") if isinstance(record, Mapping) else record


def read(record: Any) -> Iterator[Found]:
    """Read a session as one run."""
    ledger = Ledger()
    found = read_messages(_messages(_messages_in(record), ledger), ledger=ledger)
    info = get(record, "info") if isinstance(record, Mapping) else None
    time = get(info, "time")
    found.fields = {"session": get(info, "id"), "started_at": get(time, "created"), "ended_at": get(time, "updated")}
    yield found


def _messages(messages: Any, ledger: Ledger) -> Iterator[dict[str, Any]]:
    for number, message in enumerate(messages):
        info, parts = get(message, "info"), get(message, "parts")
        kept = []
        for count, part in enumerate(parts if is_list(parts) else ()):
            if get(part, "synthetic") is True:
                ledger.note("text of the harness", f"messages[{number}].parts[{count}]")
            else:
                kept.append(_call(part) if get(part, "type") == "tool" else part)
        yield {"role": get(info, "role"), "parts": kept, "timestamp": get(get(info, "time"), "created")}


def _call(part: Any) -> dict[str, Any]:
    state = get(part, "state")
    given = {name: get(state, name) for name in ("input", "output", "error", "status")}
    exit_code = get(get(state, "metadata"), "exit")
    return {"type": "tool_call", "id": get(part, "callID"), "name": get(part, "tool"), "exit_code": exit_code, **given}
