"""Texts of a run: values as text, the line that says what went wrong, and what harnesses put around a run."""

from __future__ import annotations

import json
import re
from typing import Any

# What harnesses put around a run: system prompts, reminders, boot files. It is about the agent, not about the task.
OPENING = re.compile(
    r"""(?ix) <(system[-_]reminder|system[-_]prompt|environment_context|environment_details|user_instructions|
        custom_instructions|available_tools|context_files|local-command-caveat|session_context|hook_context)
        (?:\ [^>]{0,200})?>"""
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


def as_text(value: Any) -> str:
    """Return a text as it is, None as "", and anything else as compact JSON (or as Python writes it)."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except RecursionError:
        return "[nested too deeply]"


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
