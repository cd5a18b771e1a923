"""Rows that lead nowhere: triggers keep them from coming about, and damage, a half restored file or a hand may not."""

from __future__ import annotations

from reasoningbank.storage.contract import Reading, Writing

_NO_MEMORY = "NOT IN (SELECT n FROM memories)"
_NO_NODE = "NOT IN (SELECT n FROM nodes)"

# In words; the table; which of its rows lead nowhere. A vector of another length than its generation's is no vector.
_LOOSE = (
    ("vectors belong to no memory", "vectors", f"memory {_NO_MEMORY}"),
    ("vectors of nodes belong to no node", "node_vectors", f"node {_NO_NODE}"),
    *(
        (
            f"vectors in {table} are not as long as their embedder's",
            table,
            f"EXISTS (SELECT 1 FROM generations AS g WHERE g.generation = {table}.generation "
            f"AND length({table}.vector) <> 4 * g.dim)",
        )
        for table in ("vectors", "node_vectors")
    ),
    ("links lead to no memory", "links", f"source {_NO_MEMORY} OR target {_NO_MEMORY}"),
    ("edges lead to no node", "edges", f"source {_NO_NODE} OR target {_NO_NODE}"),
    ("pointers of nodes lead nowhere", "pointers", f"node {_NO_NODE} OR memory {_NO_MEMORY}"),
    ("steps belong to no kept run", "steps", "ref NOT IN (SELECT ref FROM trajectories)"),
)


def loose_ends(reading: Reading) -> list[str]:
    """Return what leads nowhere, in words, with how much of it there is."""
    found = []
    for what, table, condition in _LOOSE:
        count = reading.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0]
        if count:
            found.append(f"{count} {what}")
    return found


def remove_loose_ends(writing: Writing) -> None:
    """Remove all that leads nowhere; vectors of the wrong length are made anew by `reembed`."""
    for _, table, condition in _LOOSE:
        writing.execute(f"DELETE FROM {table} WHERE {condition}")
