"""Rows of generations: the vectors of one embedder each, the current ones and those that a re-embedding fills."""

from __future__ import annotations

from reasoningbank.storage.contract import Generation, Reading, Writing


def filling(reading: Reading) -> Generation | None:
    """Return the generation that a re-embedding fills, if one does. The current one is in the reading's moment."""
    row = reading.execute(
        f"SELECT generation, {', '.join(Generation._fields[1:])} FROM generations WHERE state = 'filling'"
    ).fetchone()
    return None if row is None else Generation(*row)


def add(writing: Writing, embedder: tuple[str, str, int, str, bool], state: str) -> int:
    """Begin a generation, and return its number.

    Args:
        embedder: name, revision, dimension, pooling, and whether its vectors are normalised.
    """
    last = writing.execute("SELECT coalesce(max(generation), 0) FROM generations").fetchone()[0]
    row = (last + 1, *embedder[:4], int(embedder[4]), state)
    writing.insert("generations", ("generation", *Generation._fields[1:], "state"), [row])
    writing.refresh()
    return int(last) + 1


def drop(writing: Writing, number: int) -> None:
    """Drop a generation that was being filled, with its vectors."""
    for table in ("vectors", "node_vectors", "generations"):
        writing.execute(f"DELETE FROM {table} WHERE generation = ?", (number,))


def swap_in(writing: Writing, number: int) -> None:
    """Make a filled generation the current one, and drop every other with its vectors."""
    writing.execute("DELETE FROM generations WHERE state = 'current'")
    writing.execute("UPDATE generations SET state = 'current' WHERE generation = ?", (number,))
    writing.execute("DELETE FROM vectors WHERE generation <> ?", (number,))
    writing.execute("DELETE FROM node_vectors WHERE generation <> ?", (number,))
    writing.refresh()
