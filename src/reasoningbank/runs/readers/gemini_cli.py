"""Sessions of Gemini CLI: messages by `user` and `gemini`, whose tool calls hold their results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.parts import part_kind, words
from reasoningbank.runs.readers.values import get, is_list

SAYS = ("user", "gemini")
# What a user types for the program itself; a path that begins so goes on with another slash.
COMMAND = re.compile(r"\A\s*(?:/[\w-]+(?:\s[^\n]*)?|\?)\s*\Z")


def fits(record: Any) -> bool:
    """Tell whether it is a session, or the records of one."""
    messages = _messages_in(record)
    if not is_list(messages):
        return False
    listed = (each for one in islice(messages, 30) for each in _restated(one) or [one])
    return any(get(message, "type") == "gemini" for message in listed)


def _messages_in(record: Any) -> Any:
    return record.get("messages") if isinstance(record, Mapping) else record


def _restated(record: Any) -> Any:
    """Return the messages that a record sets in place of all before it; None if it sets none."""
    messages = get(get(record, "$set"), "messages") if isinstance(record, Mapping) else None
    return messages if is_list(messages) else None


def read(record: Any) -> Iterator[Found]:
    """Read a session as one run: as it stands after all that was said anew, and taken back."""
    ledger = Ledger()
    records = list(_messages_in(record))
    head = (
        record if isinstance(record, Mapping) else next((m for m in records if get(m, "sessionId", "session_id")), {})
    )
    found = read_messages(_read(_kept(records, ledger), ledger), ledger=ledger)
    found.fields = {
        "session": get(head, "sessionId", "session_id"),
        "started_at": get(head, "startTime", "start_time"),
        "ended_at": get(head, "lastUpdated"),
    }
    yield found


def _kept(records: list[Any], ledger: Ledger) -> list[Any]:
    kept: dict[str, Any] = {}
    for number, record in enumerate(records):
        restated, back = _restated(record), get(record, "$rewindTo")
        if restated is not None:
            kept = {str(get(message, "id") or f"[{count}]"): message for count, message in enumerate(restated)}
        elif back is not None:
            ids = list(kept)
            gone = ids[ids.index(str(back)) :] if str(back) in kept else []
            for name in gone:
                del kept[name]
            ledger.note(f"taken back: {len(gone)} messages", f"[{number}]")
        elif get(record, "type") in SAYS:
            kept[str(get(record, "id") or f"[{number}]")] = record
        else:
            ledger.note(f"record of type {get(record, 'type')!s:.60}", f"messages[{number}]")
    return list(kept.values())


def _read(messages: list[Any], ledger: Ledger) -> Iterator[Any]:
    for number, message in enumerate(messages):
        content = get(message, "content", "parts")
        if get(message, "type") == "user" and COMMAND.match(words(content)):
            ledger.note("command to the program", f"messages[{number}]")
        elif is_list(content) and is_list(get(message, "toolCalls")):
            # The calls stand there once more, under other ids and without their results.
            yield {**message, "content": [part for part in content if part_kind(part)[0] != "call"]}
        else:
            yield message
