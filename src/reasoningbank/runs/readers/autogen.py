"""Messages and events of AutoGen: who speaks is under `source`, what happened is the name of a class under `type`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import read_messages
from reasoningbank.runs.readers.values import get, is_list

SPOKEN = ("TextMessage", "MultiModalMessage", "StopMessage", "StructuredMessage", "HandoffMessage", "UserMessage",
          "AssistantMessage", "SystemMessage")  # fmt: skip
CALLS, RESULTS = "ToolCallRequestEvent", ("ToolCallExecutionEvent", "FunctionExecutionResultMessage")
SUMMARY = "ToolCallSummaryMessage"  # the results once more, in words
TYPES = frozenset((*SPOKEN, CALLS, *RESULTS, SUMMARY, "ThoughtEvent", "MemoryQueryEvent", "SelectSpeakerEvent",
                   "CodeGenerationEvent", "CodeExecutionEvent", "ModelClientStreamingChunkEvent"))  # fmt: skip
USERS = ("user", "user_proxy", "admin")


def fits(record: Any) -> bool:
    """Tell whether it is a list of AutoGen's messages, or a result that holds one."""
    messages = _messages_in(record)
    return is_list(messages) and any(
        get(message, "type") in TYPES and (get(message, "source") is not None or get(message, "type") in RESULTS)
        for message in islice(messages, 8)
    )


def _messages_in(record: Any) -> Any:
    return record if is_list(record) else get(record, "messages")


def read(record: Any) -> Iterator[Found]:
    """Read a conversation of a team as one run: the user asks, all others are the agent."""
    ledger = Ledger()
    found = read_messages(_read(list(_messages_in(record)), ledger), ledger=ledger)
    found.says = [record] if isinstance(record, Mapping) else []
    yield found


def _read(messages: list[Any], ledger: Ledger) -> Iterator[dict[str, Any]]:
    for number, message in enumerate(messages):
        kind, content = get(message, "type"), get(message, "content")
        at = {"timestamp": get(message, "created_at")}
        source = str(get(message, "source") or "")
        if kind == CALLS or (kind == "AssistantMessage" and is_list(content)):
            yield {"role": "assistant", "tool_calls": content, "thought": get(message, "thought"), **at}
        elif kind in RESULTS:
            yield {
                "role": "tool",
                "content": [{"type": "tool_result", **_fields(result)} for result in content or ()],
                **at,
            }
        elif kind == "ThoughtEvent":
            yield {"role": "assistant", "thought": content, **at}
        elif kind == "CodeExecutionEvent":
            result = get(message, "result")
            yield {"role": "tool", "content": get(result, "output"), "exit_code": get(result, "exit_code"), **at}
        elif kind in SPOKEN or (kind == SUMMARY and number == len(messages) - 1):
            asks = kind == "UserMessage" or (source.lower() in USERS and kind != "AssistantMessage")
            role = "system" if kind == "SystemMessage" else "user" if asks else "assistant"
            yield {"role": role, "content": content, **at}
        else:
            ledger.note(f"message of type {kind!s:.60}", f"messages[{number}]")


def _fields(result: Any) -> dict[str, Any]:
    return {name: get(result, name) for name in ("call_id", "name", "content", "is_error")}
