"""Rows of pins: memories that are shown whatever the task."""

from __future__ import annotations

from reasoningbank.storage.contract import Reading, Writing, column

ALWAYS = ""
"""The tag of a pin that holds whatever a recall asks for."""


def every_pin(reading: Reading) -> tuple[tuple[int, str], ...]:
    """Return every pin, as a memory's row number and the tag, in their order."""
    return tuple(reading.execute("SELECT memory, tag FROM pins ORDER BY memory, tag"))


def tags_of(reading: Reading, n: int) -> list[str]:
    """Return the tags under which a memory is pinned."""
    return column(reading, "SELECT tag FROM pins WHERE memory = ? ORDER BY tag", (n,))


def add(writing: Writing, n: int, tag: str) -> None:
    """Pin a memory; nothing changes when it is pinned so already."""
    writing.insert("pins", ("memory", "tag"), [(n, tag)], "ON CONFLICT (memory, tag) DO NOTHING")


def remove(writing: Writing, n: int, tag: str | None) -> bool:
    """Remove a memory's pin under a tag, or all of its pins where that is None; say whether there was one."""
    return writing.execute("DELETE FROM pins WHERE memory = ? AND tag = coalesce(?, tag)", (n, tag)).rowcount > 0


def hand_on(writing: Writing, old: int, new: int) -> None:
    """Pin a memory as another one is pinned, whose place it takes."""
    writing.execute(
        "INSERT INTO pins(memory, tag) SELECT ?, tag FROM pins WHERE memory = ? ON CONFLICT (memory, tag) DO NOTHING",
        (new, old),
    )
