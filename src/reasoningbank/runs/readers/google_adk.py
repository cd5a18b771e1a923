"""Sessions of Google's Agent Development Kit: events with an `author` and a Gemini `content`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list


def fits(record: Any) -> bool:
    """Tell whether it is a list of events, or a session that holds one."""
    events = _events_in(record)
    return is_list(events) and any(map(_is_event, islice(events, 8)))


def _events_in(record: Any) -> Any:
    return record if is_list(record) else get(record, "events")


def _is_event(event: Any) -> bool:
    return isinstance(get(event, "author"), str) and get(get(event, "content"), "parts") is not None


def read(record: Any) -> Iterator[Found]:
    """Read a session as one run: the user asks, all other authors are the agent."""
    ledger = Ledger()
    found = read_messages(_messages(_events_in(record), ledger), ledger=ledger)
    found.fields = {"session": get(record, "id") if not is_list(record) else None}
    yield found


def _messages(events: Any, ledger: Ledger) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(events):
        if get(event, "partial") is True:
            ledger.note("part of an answer that comes whole later", f"events[{number}]")
        elif _is_event(event):
            role = "user" if get(event, "author") == "user" else "model"
            yield {"role": role, "parts": get(get(event, "content"), "parts"), "timestamp": get(event, "timestamp")}
        else:
            ledger.note("event without words", f"events[{number}]")
