"""Lists of messages, of any framework: which dialect it is, and the run that it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.parts import CONTENT_FIELDS, NESTED, part_kind, role_of, turns_of, unwrapped, words
from reasoningbank.runs.readers.request import shows_how
from reasoningbank.runs.readers.spoken import read_spoken
from reasoningbank.runs.readers.turns import Turn, told
from reasoningbank.runs.readers.values import get, is_list, is_record

SAMPLE = 60  # messages that are looked at to tell what they are


def is_message(item: Any) -> bool:
    """Tell whether a record is a message: somebody known says something, or it is a tool's use or answer by itself."""
    if not is_record(item):
        return False
    message = unwrapped(item)
    content = any(get(message, name) is not None for name in (*CONTENT_FIELDS, "tool_calls", "toolCalls", "output"))
    if get(message, "role") is not None:
        return content or role_of(message) is not None
    if role_of(message) is not None and content:
        return True
    return get(message, "type") is not None and part_kind(message)[0] in ("call", "result", "thought")


def are_messages(items: Any) -> bool:
    """Tell whether a list holds messages: most of the first ones are."""
    if not is_list(items) or not items:
        return False
    sample = list(islice(items, 8))
    return 2 * sum(map(is_message, sample)) >= len(sample)


def read_messages(
    messages: Iterable[Any],
    task: str = "",
    *,
    place: str = "messages",
    ledger: Ledger | None = None,
    commands: bool = False,
) -> Found:
    """Read messages as a run.

    Args:
        task: what was asked, where it is said elsewhere; else the first thing a user says.
        place: where the messages are, for what is left out.
        commands: fenced commands in the text are acts, whatever follows them.
    """
    ledger = Ledger() if ledger is None else ledger
    listed = [unwrapped(message) for message in messages]
    turns = list(_turns(_with_speakers(listed), place, ledger))
    read_spoken(turns, ledger, always=commands)
    found = read_turns(turns, ledger, task)
    found.form = dialect(listed)
    return found


def read_turns(turns: Iterable[Turn], ledger: Ledger, task: str = "") -> Found:
    """Read turns as a run."""
    run = told(turns, ledger, task)
    return Found(run.task, list(run.steps), run.result, ledger=ledger)


def _turns(messages: Sequence[Any], place: str, ledger: Ledger) -> Iterator[Turn]:
    for number, message in enumerate(messages):
        at = f"{place}[{number}]"
        if is_demonstration(message):
            ledger.note("message of a demonstration", at)
            continue
        yield from turns_of(message, at, ledger)


def is_demonstration(message: Any) -> bool:
    """Tell whether a message says to show how another task was solved, or is of a user and begins like that."""
    flagged = get(message, "is_demo") is True or get(message, "message_type") == "demonstration"
    return flagged or (role_of(message) == "user" and shows_how(words(get(message, *CONTENT_FIELDS))))


def _with_speakers(messages: Sequence[Any]) -> Sequence[Any]:
    """Return the messages; where nobody is known to be the agent, whoever has an unknown role is one of several."""
    roles = [role_of(message) for message in messages]
    if "assistant" in roles or None not in roles:
        return messages
    return [
        {**message, "role": "assistant"}
        if role is None and isinstance(message, dict) and message.get("role")
        else message
        for role, message in zip(roles, messages, strict=True)
    ]


def _blocks(messages: Sequence[Any]) -> Iterator[Any]:
    for message in islice(messages, SAMPLE):
        content = get(message, *CONTENT_FIELDS)
        yield from content if is_list(content) else ()


def _names(messages: Sequence[Any]) -> set[str]:
    """Return what tells dialects apart: roles and types of messages, kinds and keys of their parts, telling fields."""
    names = set()
    for message in islice(messages, SAMPLE):
        names.add(f"role:{get(message, 'role') or ''}".lower())
        names.add(f"type:{get(message, 'type') or ''}")
        names.update(f"has:{name}" for name in FIELDS if get(message, name) is not None)
    for block in _blocks(messages):
        if isinstance(block, str):
            continue
        kind = get(block, "type", "block_type", "part_kind")
        names.add(f"part:{kind}" if kind is not None else "")
        names.update(f"key:{name}" for name in (*NESTED, "text") if kind is None and get(block, name) is not None)
    return names


FIELDS = (
    "tool_calls",
    "parts",
    "blocks",
    "additional_kwargs",
    "function_call",
    "response_metadata",
    "call_id",
    "content",
)
Test = Callable[[set[str]], bool]


def _any(*wanted: str) -> Test:
    return lambda names: any(name in names or (name[-1] == "*" and _starts(names, name[:-1])) for name in wanted)


def _starts(names: set[str], prefix: str) -> bool:
    return any(name.startswith(prefix) for name in names)


# The first whose test holds names the dialect. They are read alike: a name only says what was recognised.
DIALECTS: tuple[tuple[str, Test], ...] = (
    ("langchain", _any("type:human", "type:ai", "type:AIMessageChunk", "type:HumanMessage", "type:AIMessage")),
    ("llama-index", _any("has:blocks")),
    ("vercel-ui", _any("part:tool-*", "part:dynamic-tool", "part:step-start", "part:tool-invocation")),
    ("bedrock-converse", _any("key:toolUse", "key:toolResult", "key:reasoningContent", "key:cachePoint")),
    ("gemini", _any("key:functionCall", "key:functionResponse", "key:function_call", "key:function_response",
     "role:model")),
    ("openai-responses", _any("type:function_call", "type:function_call_output", "type:reasoning", "type:message",
                              "part:input_text", "part:output_text", "type:*_call", "type:local_shell_call",
                              "type:custom_tool_call", "type:web_search_call", "type:shell_call")),
    ("opentelemetry", _any("part:tool_call_response")),
    ("langchain", _any("part:server_tool_call", "part:server_tool_result", "part:non_standard")),
    ("anthropic", _any("part:tool_use", "part:tool_result", "part:thinking", "part:server_tool_use",
     "part:mcp_tool_use", "part:redacted_thinking")),
    ("openai-chat", _any("has:tool_calls", "has:function_call", "role:tool", "role:function", "role:developer")),
)  # fmt: skip


def dialect(messages: Sequence[Any]) -> str:
    """Return the name of the dialect that messages are in; plain ones, which all have in common, are "chat"."""
    names = _names(messages)
    if "part:tool-call" in names or "part:tool-result" in names:
        return "vercel-model"
    return next((name for name, test in DIALECTS if test(names)), "chat")
