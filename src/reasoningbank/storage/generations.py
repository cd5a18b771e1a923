"""Rows of generations: the vectors of one embedder each, the current ones and those that a re-embedding fills."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class Generation(NamedTuple):
    """A generation, with the identity of the embedder whose vectors it holds, as it is stored."""

    number: int
    name: str
    revision: str
    dim: int
    pooling: str
    normalised: int


_READ = f"SELECT generation, {', '.join(Generation._fields[1:])} FROM generations"


def current(connection: sqlite3.Connection) -> Generation | None:
    """Return the generation that is searched; None before the first vector."""
    return _one(connection.execute(f"{_READ} WHERE state = 'current'"))


def filling(connection: sqlite3.Connection) -> Generation | None:
    """Return the generation that a re-embedding fills, if one does."""
    return _one(connection.execute(f"{_READ} WHERE state = 'filling'"))


def add(connection: sqlite3.Connection, embedder: tuple[str, str, int, str, bool], state: str) -> int:
    """Begin a generation, and return its number.

    Args:
        embedder: name, revision, dimension, pooling, and whether its vectors are normalised.
    """
    cursor = connection.execute(
        "INSERT INTO generations(name, revision, dim, pooling, normalised, state) VALUES (?, ?, ?, ?, ?, ?)",
        (*embedder, state),
    )
    return int(cursor.lastrowid or 0)


def _one(rows: sqlite3.Cursor) -> Generation | None:
    row = rows.fetchone()
    return None if row is None else Generation(*row)
