"""Memories and links as they may be shown: through the present scrubbing rules."""

from __future__ import annotations

from dataclasses import replace

from reasoningbank.links import Link
from reasoningbank.memory import Memory
from reasoningbank.screening.scrub import RULES_VERSION, scrub, scrub_value


def rescrubbed(memory: Memory, version: int) -> Memory:
    """Return a memory that went through the rules of `version` as one that went through the present ones."""
    if version >= RULES_VERSION:
        return memory
    return replace(
        memory,
        title=scrub(memory.title).text,
        content=scrub(memory.content).text,
        description=scrub(memory.description).text,
        applies_when=scrub(memory.applies_when).text,
        tags=tuple(scrub(tag).text for tag in memory.tags),
        metadata=scrub_value(memory.metadata)[0],
    )


def scrubbed_link(link: Link) -> Link:
    """Return the link with its evidence through the present rules."""
    return replace(link, evidence=scrub(link.evidence).text)
