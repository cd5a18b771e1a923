"""Ids by their beginning: those that the bank gave itself, for nobody types 36 characters."""

from __future__ import annotations

import re

from reasoningbank.storage.contract import Reading, column

# Where the ids of each kind stand.
COLUMNS = {
    "memory": ("memories", "id"),
    "run": ("episodes", "ref"),
    "node": ("nodes", "id"),
    "edge": ("edges", "id"),
    "job": ("jobs", "id"),
}
# A shorter beginning says too little; the ids of others, which may be anything, are known whole only: "pr-1" is not
# "pr-10".
SHORTEST = 4
_BEGINNING = re.compile(rf"[0-9a-f][0-9a-f-]{{{SHORTEST - 1},}}")
_OWN = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")


def ids_beginning(reading: Reading, kind: str, given: str, limit: int) -> list[str]:
    """Return the id of this kind that is given whole, else those that the bank gave and that begin so, sorted."""
    table, name = COLUMNS[kind]
    if whole := column(reading, f"SELECT {name} FROM {table} WHERE {name} = ?", (given,)):
        return whole
    if not _BEGINNING.fullmatch(given):
        return []
    # `g` comes behind every hexadecimal digit.
    between = f"SELECT {name} FROM {table} WHERE {name} >= ? AND {name} < ? ORDER BY {name}"
    return [found for found in column(reading, between, (given, f"{given}g")) if _OWN.fullmatch(found)][:limit]
