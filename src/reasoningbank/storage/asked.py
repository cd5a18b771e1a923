"""What memories have that filters can ask for: keys of metadata with the kinds of their values, tags, sources."""

from __future__ import annotations

from reasoningbank.storage.contract import Reading, column
from reasoningbank.storage.filters import TYPES


def keys(reading: Reading) -> list[str]:
    """Return the keys of all memories' metadata, sorted."""
    return column(reading, "SELECT DISTINCT m.key FROM memories, json_each(memories.metadata) AS m ORDER BY m.key")


def kinds(reading: Reading, key: str) -> list[str]:
    """Return of which kinds the values under a key of metadata are: those that filters know, and "object"."""
    of_key = "SELECT DISTINCT m.type FROM memories, json_each(memories.metadata) AS m WHERE m.key = ?"
    types = set(column(reading, of_key, (key,)))
    known: list[str] = [kind for kind, names in TYPES.items() if types & set(names)]
    return [*known, "object"] if "object" in types else known


def tags(reading: Reading) -> list[str]:
    """Return the tags of all memories, sorted."""
    return column(reading, "SELECT DISTINCT t.value FROM memories, json_each(memories.tags) AS t ORDER BY t.value")


def sources(reading: Reading) -> list[str]:
    """Return who brought memories, and the sessions they came from, sorted."""
    return column(
        reading,
        "SELECT source_by FROM memories WHERE source_by IS NOT NULL "
        "UNION SELECT source_session FROM memories WHERE source_session IS NOT NULL",
    )
