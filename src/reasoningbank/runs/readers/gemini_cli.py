"""Sessions of Gemini CLI: messages by `user` and `gemini`, whose tool calls hold their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list

SAYS = ("user", "gemini")


def fits(record: Any) -> bool:
    """Tell whether it is a session, or the records of one."""
    messages = _messages_in(record)
    return is_list(messages) and any(get(message, "type") == "gemini" for message in islice(messages, 30))


def _messages_in(record: Any) -> Any:
    return record.get("messages") if isinstance(record, Mapping) else record


def read(record: Any) -> Iterator[Found]:
    """Read a session as one run."""
    ledger = Ledger()
    messages = list(_messages_in(record))
    head = record if isinstance(record, Mapping) else next((m for m in messages if get(m, "sessionId")), {})
    found = read_messages(_read(messages, ledger), ledger=ledger)
    found.fields = {
        "session": get(head, "sessionId"),
        "started_at": get(head, "startTime"),
        "ended_at": get(head, "lastUpdated"),
    }
    yield found


def _read(messages: list[Any], ledger: Ledger) -> Iterator[Any]:
    for number, message in enumerate(messages):
        if get(message, "type") in SAYS:
            yield message
        else:
            ledger.note(f"record of type {get(message, 'type')!s:.60}", f"messages[{number}]")
