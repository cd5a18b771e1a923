"""Rows of generations: the vectors of one embedder each, the current ones and those that a re-embedding fills."""

from __future__ import annotations

from reasoningbank.storage.contract import Generation, Reading, Writing, number


def filling(reading: Reading) -> Generation | None:
    """Return the generation that a re-embedding fills, if one does. The current one is in the reading's moment."""
    row = reading.execute(
        f"SELECT generation, {', '.join(Generation._fields[1:])} FROM generations WHERE state = 'filling'"
    ).fetchone()
    return None if row is None else Generation(*row)


def add(writing: Writing, embedder: tuple[str, str, int, str, bool], state: str) -> int:
    """Begin a generation of an embedder (name, revision, dimension, pooling, normalised), and return its number."""
    new = number(writing, "SELECT coalesce(max(generation), 0) + 1 FROM generations")
    row = (new, *embedder[:4], int(embedder[4]), state)
    writing.insert("generations", ("generation", *Generation._fields[1:], "state"), [row])
    writing.refresh()
    return new


def drop(writing: Writing, generation: int) -> None:
    """Drop a generation that was being filled, with its vectors."""
    for table in ("vectors", "node_vectors", "generations"):
        writing.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))


def swap_in(writing: Writing, generation: int) -> None:
    """Make a filled generation the current one, and drop every other with its vectors."""
    writing.execute("DELETE FROM generations WHERE state = 'current'")
    writing.execute("UPDATE generations SET state = 'current' WHERE generation = ?", (generation,))
    for table in ("vectors", "node_vectors"):
        writing.execute(f"DELETE FROM {table} WHERE generation <> ?", (generation,))
    writing.refresh()
