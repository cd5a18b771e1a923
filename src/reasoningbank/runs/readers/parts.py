"""Messages with parts, of any framework: one reader, and tables of the names that frameworks give to the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.outcome import CONTENT, MEDIA, answer, outcome_of
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.readers.values import TIMES, as_time, get, is_list, is_record, label
from reasoningbank.runs.transcript import as_text

ROLES = {
    **dict.fromkeys(("user", "human", "usermessage", "humanmessage", "customer", "humanmessagechunk"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "aimessage", "aimessagechunk", "assistantmessage", "model", "bot", "agent", "gpt", "gemini",
         "chatgpt", "bing", "bard", "llm", "toolcall", "functioncall", "reasoning", "chatbot", "claude"),
        "assistant",
    ),
    **dict.fromkeys(
        ("tool", "function", "toolmessage", "functionmessage", "toolresponse", "toolresult", "functioncalloutput",
         "ipython", "observation", "environment", "functionresponse", "toolmessagechunk"),
        "tool",
    ),
    **dict.fromkeys(
        ("system", "developer", "chatbotinstructions", "systemmessage", "developermessage", "chatsystemmessage"),
         "system"
    ),
    **dict.fromkeys(("remove", "removemessage", "exit"), "skip"),
}  # fmt: skip
TEXTS = frozenset({"text", "inputtext", "outputtext", "refusal", "markdown", "plaintext", "agentmessage", "message"})
THOUGHTS = frozenset({
    "thinking", "reasoning", "redactedthinking", "reasoningcontent", "reasoningtext", "thought", "summarytext",
    "redactedreasoning", "think", "agentreasoning",
})  # fmt: skip
# Any kind that ends so is a tool's use or its answer: what providers run themselves comes under ever new names.
CALL = re.compile(r"(?:tooluse|toolcall|functioncall|call|toolrequest|toolinvocation|executablecode)$")
RESULT = re.compile(
    r"(?:toolresult|toolresponse|calloutput|functionresponse|functionresult|toolreturn|executionresult|callresult|"
    r"callresponse|retryprompt|tooloutput)$"
)
# Calls that the provider answers itself; no result follows in a message of its own.
HOSTED = frozenset({"websearchcall", "filesearchcall", "codeinterpretercall", "imagegenerationcall", "mcpcall"})
# Structure, which says nothing of the run.
STRUCTURE = frozenset({
    "stepstart", "stepfinish", "cachepoint", "sourceurl", "sourcedocument", "source", "itemreference", "citation",
    "compaction", "mcplisttools", "mcpapprovalrequest", "mcpapprovalresponse", "ghostsnapshot", "guardcontent",
    "snapshot", "patch", "data", "thoughtsignature", "start", "finish", "other",
})  # fmt: skip
# Kinds that stand as a key, with what they hold under it.
NESTED = (
    "functionCall", "function_call", "functionResponse", "function_response", "toolUse", "toolResult",
    "reasoningContent", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
    "toolInvocation", "tool_use", "tool_result", "inlineData", "inline_data", "fileData", "file_data", "image",
    "document", "video", "cachePoint", "guardContent", "image_url",
)  # fmt: skip
PLAIN_CALLS = frozenset(
    {"toolcall", "functioncall", "function", "tooluse", "toolinvocation", "toolrequest", "call", "tool"}
)
CALL_IDS = ("call_id", "callId", "callID", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id")
NAMES = ("name", "toolName", "tool_name", "function_name", "tool", "server_tool_name")
ARGUMENTS = (
    "arguments", "args", "input", "tool_kwargs", "parameters", "params", "kwargs", "tool_input", "toolInput",
    "rawInput", "action", "operation", "queries", "query", "code", "command",
)  # fmt: skip
# Beside the content of an assistant's message.
CALL_FIELDS = ("tool_calls", "toolCalls", "toolInvocations", "tool_invocations", "invalid_tool_calls")
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "thoughts", "thought", "reasoningContent")
RESULT_FIELDS = ("tool_responses", "tool_returns", "tool_results")
CONTENT_FIELDS = ("content", "blocks", "parts", "summary", "text", "value")


def role_of(message: Any) -> str | None:
    """Return who speaks: user, assistant, tool, system or skip; None when its name is not known, or there is none."""
    named = label(get(message, "role") or get(message, "type") or "")
    return ROLES.get(named)


def part_kind(part: Any) -> tuple[str, str, Any]:
    """Return what a part is (text, thought, call, result, media, structure, or "" if not known), its name, its body."""
    named = get(part, "type", "block_type", "part_kind")
    body = part
    for name in NESTED:
        nested = get(part, name)
        if nested is not None and (is_record(nested) or (named is None and nested is not False)):
            if named is None or label(name) == label(named) or label(named) in ("toolcall", "toolinvocation"):
                named, body = name, nested
            break
    kind = label(named) if named is not None else ""
    if not kind and get(part, "text") is not None:
        kind = "text"
    if kind in ("text", "") and get(part, "thought") is True:
        kind = "thought"
    # The AI SDK's parts for its interface have the tool's name in their kind.
    return ("call" if str(named).startswith("tool-") and "state" in keys(part, 99) else _sort(kind)), kind, body


def _sort(kind: str) -> str:
    for sort, kinds in (("text", TEXTS), ("thought", THOUGHTS), ("media", MEDIA), ("structure", STRUCTURE)):
        if kind in kinds:
            return sort
    if RESULT.search(kind):
        return "result"
    if CALL.search(kind) or kind == "dynamictool":
        return "call"
    return "structure" if kind.startswith("data") or kind.endswith("userprompt") else ""


def turns_of(message: Any, place: str, ledger: Ledger) -> list[Turn]:
    """Take one message apart; none, and a note, when nobody known says it and it is no part of a message either.

    What an assistant says after the answer of a tool that its own message holds is a turn of its own.
    """
    role = role_of(message)
    alone = get(message, "role") is None and part_kind(message)[0] in ALONE
    if alone or role == "assistant" or role in ("user", "system"):
        turns = [Turn("assistant" if alone else str(role), place=place)]
        content = [message] if alone else get(message, *CONTENT_FIELDS)
        _read_content(turns, content, place, ledger)
        if not alone:
            _read_beside(turns[0], message)
    elif role == "tool":
        turns = [Turn("tool", place=place)]
        _read_tool_message(turns[0], message)
    else:
        if role is None:
            said = str(get(message, "role") or get(message, "type") or "")
            ledger.note(f"message of unknown role {said!r:.60}" if said else "message without a role", place)
        return []
    at = _time(message, place, ledger)
    for turn in turns:
        turn.text, turn.thought, turn.at = turn.text.strip(), turn.thought.strip(), at
    return turns


ALONE = ("call", "result", "thought", "media", "structure")


def _time(message: Any, place: str, ledger: Ledger) -> Any:
    said = get(message, *TIMES)
    at = as_time(said)
    if said is not None and at is None:
        ledger.note("time without a zone, or no time", place)
    return at


def _read_tool_message(turn: Turn, message: Any) -> None:
    """Read a message by a tool: one answer, or a list of parts that are answers."""
    content = get(message, *CONTENT)
    if is_list(content) and any(part_kind(part)[0] == "result" for part in content if is_record(part)):
        turn.results.extend(result_of(part_kind(part)[2]) for part in content if part_kind(part)[0] == "result")
        return
    turn.results.append(result_of(message))


def _read_content(turns: list[Turn], content: Any, place: str, ledger: Ledger) -> None:
    if not is_list(content):
        content = [content] if content is not None else []
    for number, part in enumerate(content):
        if turns[-1].role == "assistant" and turns[-1].results and _begins_anew(part):
            turns.append(Turn("assistant", place=place))
        _read_part(turns[-1], part, f"{place}.content[{number}]", ledger)


def _begins_anew(part: Any) -> bool:
    return isinstance(part, (str, int, float)) or part_kind(part)[0] in ("text", "thought", "call")


def _read_part(turn: Turn, part: Any, place: str, ledger: Ledger) -> None:
    if isinstance(part, (str, int, float)):
        turn.text += f"\n{part}"
        return
    sort, kind, body = part_kind(part)
    if sort == "text":
        turn.text += f"\n{words(get(body, 'text', 'refusal', 'content', 'value', 'markdown', 'message'))}"
    elif sort == "thought":
        said = get(body, "thinking", "reasoning", "text", "content", "summary", "reasoningText", "thought")
        turn.thought += f"\n{words(said)}"
    elif sort == "call":
        _read_call(turn, body, kind)
    elif sort == "result":
        turn.results.append(result_of(body))
    elif sort == "media":
        ledger.note(kind, place)
    elif not sort:
        what = f"part of unknown kind {kind!r:.60}" if kind else f"part with the keys {', '.join(keys(part))}"
        ledger.note(what, place, maybe_tool=True)


def keys(record: Any, most: int = 8) -> list[str]:
    """Return the first names of a record's fields."""
    names = (
        list(map(str, record))
        if isinstance(record, Mapping)
        else list(vars(record))
        if hasattr(record, "__dict__")
        else []
    )
    return [name[:60] for name in names[:most]] + (["…"] if len(names) > most else [])


def words(value: Any) -> str:
    """Return the text of a value that is a text, a part with a text, or a list of these."""
    if is_list(value):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, Mapping):
        inner = get(value, "text", "value", "content", "reasoningText", "summary", "description")
        return words(inner) if isinstance(inner, (str, Mapping)) else ""
    return value if isinstance(value, str) else as_text(get(value, "text")) if value is not None else ""


def _read_call(turn: Turn, body: Any, kind: str) -> None:
    call = call_of(body, kind)
    result = get(body, "output", "outputs", "results", "result", "errorText")
    wrong = label(get(body, "status") or get(body, "state") or "") in ("error", "failed", "outputerror")
    if result is None and not wrong:
        turn.calls.append(call if kind not in HOSTED else Call(call.id, call.tool, call.action, waits=False))
        return
    turn.calls.append(call)
    text, outcome = answer(result)
    outcome = outcome_of(body).or_else(outcome)
    turn.results.append(Result(call.id, call.tool, text or outcome.said, outcome))


def _read_beside(turn: Turn, message: Any) -> None:
    """Add what stands beside the content: calls, once each, thoughts, and answers."""
    extra = get(message, "additional_kwargs") or {}
    calls = list(_listed(message, extra, CALL_FIELDS))
    old = get(message, "function_call", "functionCall") or get(extra, "function_call")
    if old is not None and not calls:
        calls = [old]
    seen = {call.id for call in turn.calls if call.id}
    for call in calls:
        nested = get(call, "toolInvocation") or call
        if call_of(nested).id not in seen:
            _read_call(turn, nested, "toolcall")
    for name in THOUGHT_FIELDS:
        said = get(message, name) or get(extra, name)
        if said is not None and turn.role == "assistant":
            thought = words(said)
            turn.thought += f"\n{thought}" if thought not in turn.thought else ""
            break
    turn.results.extend(map(result_of, _listed(message, extra, RESULT_FIELDS)))


def _listed(message: Any, extra: Any, names: Iterable[str]) -> Iterator[Any]:
    for name in names:
        value = get(message, name) or get(extra, name)
        if is_list(value):
            yield from value


def call_of(call: Any, kind: str = "toolcall") -> Call:
    """Read a tool call of any framework."""
    function = get(call, "function") or call
    nested = get(call, "toolCall", "value")
    if nested is not None and is_record(nested) and get(call, *NAMES) is None:
        inner: Any = get(nested, "value")
        function = nested if inner is None else inner
    is_name = isinstance(function, str)
    name: Any = function if is_name else get(function, *NAMES)
    arguments = get(call if is_name else function, *ARGUMENTS)
    named = get(call, "type", "part_kind")
    own = re.sub(r"^tool-|_(?:tool_)?call$", "", named) if isinstance(named, str) else kind
    tool = name if isinstance(name, str) else "tool" if label(own) in PLAIN_CALLS else own
    return Call(str(get(call, *CALL_IDS) or ""), tool, f"{tool}({as_text(arguments)})")


def result_of(body: Any) -> Result:
    """Read a tool's answer of any framework."""
    extra = get(body, "additional_kwargs") or {}
    call = get(body, *CALL_IDS[:-1]) or get(extra, "tool_call_id") or get(body, "id")
    words_of = get(body, *CONTENT)
    if words_of is None and any(get(body, name) is not None for name in ("stdout", "stderr")):
        words_of = body
    text, outcome = answer(words_of)
    outcome = outcome_of(body).or_else(outcome)
    name = get(body, "name", "toolName", "tool_name")
    return Result(str(call or ""), name if isinstance(name, str) else "", text or outcome.said, outcome)


def unwrapped(record: Any) -> Any:
    """Return the message inside a record that carries one: under `message`, `payload`, `data`, `kwargs` and the like.

    What the message does not say itself, such as who speaks and when, it takes from the record around it.
    """
    for _ in range(3):
        inner = _inside(record) if isinstance(record, Mapping) else None
        if inner is None:
            return record
        record = inner
    return record


def _inside(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message that a record carries, None if it is none but itself."""
    kwargs = record.get("kwargs")
    if record.get("lc") is not None and isinstance(kwargs, Mapping):
        path: Any = record.get("id")
        own = path[-1] if is_list(path) and path else ""
        return {**kwargs, "type": kwargs["type"] if role_of({"type": kwargs.get("type")}) else own}
    name = next((name for name in WRAPPERS if isinstance(record.get(name), Mapping)), None)
    if name is None or any(record.get(field) is not None for field in ("content", "parts", "tool_calls", "blocks")):
        return None
    around = {key: record[key] for key in ("role", "type", *TIMES, "is_demo") if record.get(key) is not None}
    return {**around, **record[name]}


WRAPPERS = ("message", "payload", "data", "item", "msg", "entry", "raw_item")
