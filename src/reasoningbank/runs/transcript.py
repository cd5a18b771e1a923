"""Chat messages of any framework, read as the steps of a run: by what they look like, importing none of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.outputs import error_line

ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "aimessagechunk", "model", "bot", "agent"), "assistant"),
    **dict.fromkeys(("tool", "function", "tool-response", "tool_result", "function_call_output"), "tool"),
    **dict.fromkeys(("system", "developer", "chatbot_instructions"), "system"),
    **dict.fromkeys(("tool-call", "function_call", "reasoning"), "assistant"),
    "remove": "skip",
}
THINKING_BLOCKS = frozenset({"thinking", "reasoning", "redacted_thinking"})
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_use"})
RESULT_BLOCKS = frozenset({"tool_result", "function_call_output", "function_response"})

# What harnesses put around a run: system prompts, reminders, boot files. It is about the agent, not about the task.
OPENING = re.compile(
    r"""(?ix) <(system[-_]reminder|system[-_]prompt|environment_context|environment_details|user_instructions|
        custom_instructions|available_tools|context_files|local-command-caveat)(?:\ [^>]{0,200})?>"""
)
# Files that tell an agent at the start of every session how to behave.
_BOOT_FILE = r"""(?: AGENTS | CLAUDE(?:\.local)? | GEMINI | SOUL | IDENTITY | BOOT(?:STRAP)? | HEARTBEAT | MEMORY |
    USER | TOOLS | copilot-instructions )\.md | \.cursorrules | \.windsurfrules | \.clinerules | system_prompt\.\w+"""
BOOT_FILE = re.compile(rf"""(?x) (?:^|[\s/\\"'`(=]) (?: {_BOOT_FILE} ) (?:$|[\s"'`:),}}\]])""")
BOOT_MESSAGE = re.compile(
    rf"""(?x) ^\s* (?:[#>*-]+\s*)? (?:(?i:contents?|file)(?:\ of)?:?\s+)? [`"'/\w.-]{{0,80}}? (?:{_BOOT_FILE}) \b"""
)
SYSTEM_TEXT = re.compile(
    r"(?i)^\s*(?:#+\s*)?(?:you are (?:an?|the) .{0,80}(?:assistant|agent|model)\b|system prompt\b)"
)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was read: the task, the steps as dictionaries of Step's fields, the last words, and what was left out."""

    task: str
    steps: tuple[dict[str, str], ...]
    result: str
    system_messages: int


@dataclass(slots=True)
class _Turn:
    """One message, taken apart."""

    role: str
    text: str = ""
    thought: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # (id, tool, arguments)
    results: list[tuple[str, str, bool]] = field(default_factory=list)  # (call id, text, is an error)


def read_messages(messages: Iterable[Any], *, task: str = "") -> Transcript:
    """Read chat messages as a run.

    Dictionaries and objects are read alike: `role` or `type` names the speaker (user/human, assistant/ai, tool,
    system/developer), content is a text or a list of blocks (images and other media are left out), tool calls may
    come in any of the common shapes, with or without content. System messages, and boot files that come as a user's,
    are no part of the run: they are counted, not kept. Without a `task` the first user message is the task. The last
    words of the assistant, with no tool call, are the result.

    Raises:
        InvalidInputError: a message has no role, or an unknown one.
    """
    run = _Run(task)
    for position, message in enumerate(messages):
        turn = _turn(message, position)
        if turn is not None:
            run.take(turn)
    return run.transcript()


class _Run:
    """Steps under construction: tool results find the step that called."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.steps: list[dict[str, str]] = []
        self.waiting: dict[int, str] = {}  # step number -> id of the call that has no result yet
        self.system_messages = 0
        self.last_words = ""

    def take(self, turn: _Turn) -> None:
        if turn.role == "system":
            self.system_messages += 1
            return
        for call, text, failed in turn.results:
            self._answer(call, text, failed=failed)
        if turn.role == "user" and turn.text:
            self._hear(without_blocks(turn.text))
        elif turn.role == "assistant":
            self._act(turn)

    def _hear(self, text: str) -> None:
        if not text or (not self.steps and is_boot_text(text)):
            self.system_messages += 1
            return
        if not self.task:
            self.task = text
        elif self.steps and not self.steps[-1].get("action") and not self.steps[-1].get("observation"):
            self.steps[-1]["observation"] = f"User: {text}"
        else:
            self.steps.append({"observation": f"User: {text}"})
        self.last_words = ""

    def _act(self, turn: _Turn) -> None:
        said = "\n".join(part for part in (turn.thought, turn.text) if part)
        for number, (call, tool, arguments) in enumerate(turn.calls):
            self.waiting[len(self.steps)] = call
            step = {"action": f"{tool}({arguments})", "tool": tool}
            if said and number == 0:
                step["thought"] = said
            self.steps.append(step)
        if not turn.calls and said:
            self.steps.append({"thought": said})
        self.last_words = turn.text if not turn.calls else ""

    def _answer(self, call: str, text: str, *, failed: bool) -> None:
        """Put a result where its call is: by id, else at the oldest call that waits, else in a step of its own."""
        found = [n for n, waiting in self.waiting.items() if call and waiting == call]
        number = (found or list(self.waiting) or [len(self.steps)])[0]
        self.waiting.pop(number, None)
        if number == len(self.steps):
            self.steps.append({})
        self.steps[number]["observation"] = text
        error = error_line(text, flagged=failed or None)
        if error:
            self.steps[number]["error"] = error
        self.last_words = ""

    def transcript(self) -> Transcript:
        if self.last_words and self.steps and self.steps[-1] == {"thought": self.steps[-1].get("thought")}:
            self.steps.pop()  # the last words are the result, not a step as well
        return Transcript(self.task, tuple(self.steps), self.last_words, self.system_messages)


def _get(source: Any, *names: str) -> Any:
    """Return the first of the keys or attributes that is there and says something."""
    for name in names:
        value = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        if value is not None and value != "":
            return value
    return None


def _turn(message: Any, position: int) -> _Turn | None:
    named = _get(message, "role") or _get(message, "type")
    label = str(getattr(named, "value", named)).lower()
    label = "none" if label == "message" else label
    role = ROLES.get(label)
    if role is None:
        raise InvalidInputError(
            f"message {position} has the role {label!r}: known are user/human, assistant/ai, tool, system/developer"
        )
    if role == "skip":
        return None
    turn = _Turn(role)
    if role == "tool":
        failed = str(_get(message, "status")) == "error" or bool(_get(message, "is_error"))
        text = _flat_text(_get(message, "content", "output", "blocks"))
        turn.results.append((_call_id(message), text, failed))
        return turn
    _read_content(turn, _get(message, "content", "blocks", "parts", "summary"))
    _read_calls(turn, message, label)
    return turn


def _call_id(message: Any) -> str:
    extra = _get(message, "additional_kwargs") or {}
    return str(_get(message, "tool_call_id", "call_id", "tool_use_id") or _get(extra, "tool_call_id") or "")


def _read_content(turn: _Turn, content: Any) -> None:
    if isinstance(content, str):
        turn.text = content.strip()
        return
    for block in content if isinstance(content, Sequence) else ():
        _read_block(turn, block)
    turn.text, turn.thought = turn.text.strip(), turn.thought.strip()


def _read_block(turn: _Turn, block: Any) -> None:
    """Read one content block. Media says nothing in text and is left out."""
    if isinstance(block, str):
        turn.text += f"\n{block}"
        return
    kind = str(_get(block, "type", "block_type") or "")
    for name in ("function_call", "functionCall", "function_response", "functionResponse"):
        nested = _get(block, name)
        if nested is not None:
            kind, block = ("function_call" if name.lower().endswith("call") else "function_response"), nested
    if kind in CALL_BLOCKS:
        turn.calls.append(_call(block))
    elif kind in RESULT_BLOCKS:
        text = _flat_text(_get(block, "content", "output", "response"))
        turn.results.append((_call_id(block), text, bool(_get(block, "is_error"))))
    elif kind in THINKING_BLOCKS:
        turn.thought += f"\n{_get(block, 'thinking', 'reasoning', 'text', 'content') or ''}"
    else:
        text = _get(block, "text", "refusal")
        turn.text += f"\n{text}" if isinstance(text, str) else ""


def _read_calls(turn: _Turn, message: Any, label: str) -> None:
    """Add the tool calls that stand beside the content, once each."""
    extra = _get(message, "additional_kwargs") or {}
    calls = _get(message, "tool_calls") or _get(extra, "tool_calls") or []
    old = _get(message, "function_call") or _get(extra, "function_call")
    if label in ("function_call", "tool-call") and _get(message, "name"):
        calls = [message]
    elif old is not None and not calls:
        calls = [old]
    seen = {call for call, _, _ in turn.calls if call}
    turn.calls.extend(call for call in map(_call, calls) if not call[0] or call[0] not in seen)
    if label == "reasoning":
        turn.text, turn.thought = "", turn.text


def _call(call: Any) -> tuple[str, str, str]:
    """Return (id, tool, arguments) of a tool call: OpenAI's, Anthropic's, LangChain's, LlamaIndex's or a plain one."""
    function = _get(call, "function") or call
    function = call if isinstance(function, str) else function
    arguments = _get(function, "arguments", "args", "input", "tool_kwargs", "parameters")
    name = _get(function, "name", "tool_name") or "tool"
    return str(_get(call, "id", "call_id", "tool_call_id") or ""), str(name), as_text(arguments)


def _flat_text(content: Any) -> str:
    if isinstance(content, Sequence) and not isinstance(content, str):
        turn = _Turn("tool")
        _read_content(turn, content)
        if turn.text or any(_get(block, "type", "block_type") for block in content if not isinstance(block, str)):
            return turn.text
    return as_text(content).strip()


def as_text(value: Any) -> str:
    """Return a text as it is, None as "", and anything else as compact JSON (or as Python writes it)."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def without_blocks(text: str) -> str:
    """Return `text` without the blocks that harnesses put into messages; one that is not closed stays."""
    if "<" not in text:
        return text
    kept, at = "", 0
    unclosed: set[str] = set()
    for opening in OPENING.finditer(text):
        name = opening[1].lower()
        if opening.start() < at or name in unclosed:
            continue
        closing = re.compile(f"(?i)</{name}>").search(text, opening.end())
        if closing is None:
            unclosed.add(name)  # nor is any later one: a text full of openings is still read in one pass
            continue
        kept, at = kept + text[at : opening.start()], closing.end()
    return (kept + text[at:]).strip() if at else text


def names_boot_file(action: str) -> bool:
    """Tell whether an action reads a file that is loaded at the start of every session."""
    return bool(BOOT_FILE.search(action))


def is_boot_text(text: str) -> bool:
    """Tell whether a message, or what was read, is a boot file or a system prompt."""
    return bool(BOOT_MESSAGE.match(text) or SYSTEM_TEXT.match(text))
