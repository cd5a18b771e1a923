"""What harnesses put around a run: system prompts, reminders, boot files. It is about the agent, not about the task."""

from __future__ import annotations

import re

BLOCKS = re.compile(
    r"""(?isx) <(system[-_]reminder|system[-_]prompt|environment_context|environment_details|user_instructions|
        custom_instructions|available_tools|context_files|local-command-caveat)(?:\ [^>]{0,200})?> .*? </\1>"""
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


def without_blocks(text: str) -> str:
    """Return `text` without the blocks that harnesses put into messages."""
    return BLOCKS.sub("", text).strip() if "<" in text else text


def names_boot_file(action: str) -> bool:
    """Tell whether an action reads a file that is loaded at the start of every session."""
    return bool(BOOT_FILE.search(action))


def is_boot_text(text: str) -> bool:
    """Tell whether a message, or what was read, is a boot file or a system prompt."""
    return bool(BOOT_MESSAGE.match(text) or SYSTEM_TEXT.match(text))
