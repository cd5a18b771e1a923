"""ShareGPT's conversations: who speaks is under `from`, what is said under `value`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list, label, unpacked

CALLS = ("functioncall", "toolcall")
NAME = re.compile(r"[\"']name[\"']\s*:\s*[\"']([\w.-]{1,80})")
LISTS = ("conversations", "conversation", "messages", "items")


def fits(record: Any) -> bool:
    """Tell whether it is a list of turns, or a dictionary that holds one."""
    turns = _turns_in(record)
    return is_list(turns) and any(map(_is_turn, islice(turns, 8)))


def _turns_in(record: Any) -> Any:
    return get(record, *LISTS) if isinstance(record, Mapping) else record


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, Mapping) and isinstance(turn.get("from"), str) and "value" in turn


def read(record: Any) -> Iterator[Found]:
    """Read a conversation as one run. Without the turns of some tool the form knows none."""
    turns = [turn for turn in _turns_in(record) if isinstance(turn, Mapping)]
    found = read_messages(map(_message, turns), place="conversations")
    found.tools = any(step.get("action") for step in found.steps)
    found.says = [record]
    found.fields = {"session": get(record, "id")}
    yield found


def _message(turn: Mapping[str, Any]) -> dict[str, Any]:
    said = turn.get("value")
    if label(turn.get("from")) in CALLS:
        given = unpacked(said)
        listed = given if is_list(given) else [given]
        return {"role": "assistant", "content": [{"type": "tool_call", **_call(each)} for each in listed]}
    return {"role": turn.get("from"), "content": said}


def _call(given: Any) -> Mapping[str, Any]:
    """Return a call's fields; of one that is no JSON, as of a model that wrote it freely, the name and the text."""
    if isinstance(given, Mapping):
        return given
    named = NAME.search(str(given))
    return {"name": named[1] if named else "tool", "arguments": given}
