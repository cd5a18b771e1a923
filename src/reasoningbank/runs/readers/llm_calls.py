"""Logs of calls to a model, such as AppWorld's `lm_calls.jsonl`: each line has the whole conversation so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import are_messages, read_messages
from reasoningbank.runs.readers.parts import role_of, words
from reasoningbank.runs.readers.values import get, is_list

ASKED = ("input", "request", "kwargs", "inputs", "body", "payload")
ANSWERED = ("output", "response", "outputs", "completion", "result")
# AppWorld shows one task solved before it gives the real one.
REAL_TASK = re.compile(r"(?i)\b(?:(?:actual|real) task|now here is another task)\b")
TASK = re.compile(r"(?im)^[*# \t]*Task(?: Instruction)?[*: \t]*:?[* \t]*$|^[ \t]*Task:[ \t]*")


def fits(record: Any) -> bool:
    """Tell whether it is a call with its messages and the answer, or a list of such calls."""
    calls = record if is_list(record) else [record]
    return any(_asked(call) is not None and _answer(call) is not None for call in islice(calls, 5))


def _asked(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return None
    places = [call, *(call[name] for name in ASKED if isinstance(call.get(name), Mapping))]
    return next((place["messages"] for place in places if are_messages(place.get("messages"))), None)


def _answer(call: Mapping[str, Any]) -> Any:
    answered = get(call, *ANSWERED)
    choices = get(answered, "choices")
    message = get(choices[0], "message") if is_list(choices) and choices else get(answered, "message")
    return message if isinstance(message, Mapping) else None


def read(record: Any) -> Iterator[Found]:
    """Read the calls of one conversation as one run: the longest has all others in it."""
    calls = record if is_list(record) else [record]
    told = [(messages, _answer(call)) for call in calls if (messages := _asked(call)) is not None]
    messages, answer = max(told, key=lambda call: len(call[0]))
    ledger = Ledger()
    if len(told) > 1:
        ledger.note(f"earlier view of the same run in {len(told) - 1} calls")
    start, task = _real(messages)
    for number in range(start):
        if role_of(messages[number]) != "system":
            ledger.note("message of a demonstration", f"messages[{number}]")
    kept = [*messages[start:], *([answer] if answer is not None else [])]
    yield read_messages(kept, task, ledger=ledger)


def _real(messages: Any) -> tuple[int, str]:
    """Return where the real task begins, after what was shown as an example, and its words if they can be told."""
    for number, message in reversed(list(enumerate(messages))):
        text = words(get(message, "content")) if role_of(message) == "user" else ""
        if REAL_TASK.search(text):
            heads = list(TASK.finditer(text))
            return (number + 1, text[heads[-1].end() :].strip()) if heads else (number, "")
    return 0, ""
