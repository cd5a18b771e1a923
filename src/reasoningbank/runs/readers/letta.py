"""Agent files of Letta (`.af`): an agent with its messages; it speaks through a tool, and users speak in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.messages import are_messages, read_messages
from reasoningbank.runs.readers.parts import call_of, role_of, words
from reasoningbank.runs.readers.values import get, is_list, unpacked

MARKS = frozenset(
    {"agent_type", "core_memory", "in_context_message_indices", "in_context_message_ids", "memory_blocks"}
)
SPEAKS = "send_message"


def fits(record: Any) -> bool:
    """Tell whether it is an agent with messages, or a file of agents."""
    return isinstance(record, Mapping) and any(map(_is_agent, _agents(record)))


def _agents(record: Mapping[str, Any]) -> list[Any]:
    agents: Any = record.get("agents")
    return list(agents) if is_list(agents) else [record]


def _is_agent(agent: Any) -> bool:
    return isinstance(agent, Mapping) and not MARKS.isdisjoint(agent) and are_messages(agent.get("messages"))


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read the messages of each agent as one run."""
    for agent in filter(_is_agent, _agents(record)):
        ledger = Ledger()
        found = read_messages(_messages(agent["messages"], ledger), ledger=ledger)
        found.fields = {"session": get(agent, "id", "name")}
        yield found


def _messages(messages: Any, ledger: Ledger) -> Iterator[dict[str, Any]]:
    spoken: set[str] = set()
    for number, message in enumerate(messages):
        role, content = role_of(message), words(get(message, "content", "text"))
        said = unpacked(content)
        at = {"timestamp": get(message, "created_at")}
        if role == "user" and isinstance(said, Mapping) and "type" in said:
            if said["type"] == "user_message":
                yield {"role": "user", "content": words(get(said, "message")), **at}
            else:
                ledger.note(f"event {said['type']!s:.60}", f"messages[{number}]")
        elif role == "assistant":
            yield from _acts(message, content, spoken, at)
        elif role == "tool" and get(message, "tool_call_id") not in spoken:
            packed = isinstance(said, Mapping) and "message" in said
            failed = packed and get(said, "status") not in (None, "OK")
            answer = words(get(said, "message")) if packed else content
            yield {"role": "tool", "tool_call_id": get(message, "tool_call_id"), "name": get(message, "name"),
                   "content": answer, "is_error": failed, **at}  # fmt: skip
        elif role != "tool":
            yield {"role": get(message, "role"), "content": content, **at}


def _acts(message: Any, thought: str, spoken: set[str], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what an agent does; beside a call its text is a thought, and what it sends by a tool is what it says."""
    calls: Any = get(message, "tool_calls")
    others = []
    said = []
    for call in calls if is_list(calls) else ():
        made = call_of(call)
        if made.tool == SPEAKS:
            spoken.add(made.id)
            function = get(call, "function") or call
            said.append(words(get(unpacked(get(function, "arguments")), "message")))
        else:
            others.append(call)
    if not calls:
        yield {"role": "assistant", "content": thought, **at}
    else:
        yield {"role": "assistant", "thought": thought, "tool_calls": others, "content": "\n".join(said), **at}
