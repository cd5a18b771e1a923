"""Sessions of GitHub Copilot: the event lines of its command line, and the requests of its chat in an editor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.parts import words
from reasoningbank.runs.readers.values import get, is_list

SAYS = {"user.message": "user", "assistant.message": "assistant"}
START, END = "tool.execution_start", "tool.execution_complete"


def fits(record: Any) -> bool:
    """Tell whether it is a list of events with `data`, or a chat with requests and their responses."""
    if is_list(record):
        return any(
            get(event, "type") in (*SAYS, START) and isinstance(get(event, "data"), Mapping)
            for event in islice(record, 30)
        )
    requests: Any = get(record, "requests") if isinstance(record, Mapping) else None
    return is_list(requests) and any(_is_request(request) for request in islice(requests, 3))


def _is_request(request: Any) -> bool:
    return isinstance(request, Mapping) and "message" in request and is_list(request.get("response"))


def read(record: Any) -> Iterator[Found]:
    """Read a session as one run."""
    ledger = Ledger()
    if is_list(record):
        found = read_messages(_of_events(record, ledger), ledger=ledger)
        start = next((get(event, "data") for event in record if get(event, "type") == "session.start"), None)
        found.fields = {"session": get(start, "sessionId"), "started_at": get(start, "startTime")}
    else:
        found = read_messages(_of_requests(record["requests"], ledger), ledger=ledger)
        found.fields = {"session": get(record, "sessionId"), "started_at": get(record, "creationDate")}
    yield found


def _of_events(events: Any, ledger: Ledger) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(events):
        kind, data = get(event, "type"), get(event, "data")
        at = {"timestamp": get(event, "timestamp")}
        if kind in SAYS:
            yield {"role": SAYS[kind], "content": get(data, "content"), "thought": get(data, "reasoningText"), **at}
        elif kind == START:
            call = {"type": "tool_call", "id": get(data, "toolCallId"), "name": get(data, "toolName")}
            yield {"role": "assistant", "content": [{**call, "arguments": get(data, "arguments")}], **at}
        elif kind == END:
            answer = {name: get(data, name) for name in ("success", "error")}
            yield {
                "role": "tool",
                "tool_call_id": get(data, "toolCallId"),
                "content": get(data, "result"),
                **answer,
                **at,
            }
        else:
            ledger.note(f"event {kind!s:.60}", f"[{number}]")


def _of_requests(requests: Any, ledger: Ledger) -> Iterator[dict[str, Any]]:
    for number, request in enumerate(requests):
        if not _is_request(request):
            ledger.note("request without a response", f"requests[{number}]")
            continue
        yield {"role": "user", "content": words(request["message"]), "timestamp": request.get("timestamp")}
        for part in request["response"]:
            if str(get(part, "kind")).startswith("toolInvocation"):
                said = words(get(part, "invocationMessage", "pastTenseMessage"))
                call = {"type": "tool_call", "id": get(part, "toolCallId"), "name": get(part, "toolId"), "input": said}
                yield {"role": "assistant", "content": [{**call, "output": get(part, "resultDetails") or ""}]}
            elif get(part, "kind") is None or get(part, "kind") == "markdownContent":
                yield {"role": "assistant", "content": words(get(part, "value", "content"))}
            elif get(part, "kind") == "thinking":
                yield {"role": "assistant", "thought": words(get(part, "value"))}
            else:
                ledger.note(f"part of kind {get(part, 'kind')!s:.60}", f"requests[{number}]")
