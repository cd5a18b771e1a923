"""What a search looks at of its candidates, kept as long as it is true: that one is served, its vectors, its words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reasoningbank.search.verbatim import Pieces, pieces
from reasoningbank.services.cache.shelf import Shelf
from reasoningbank.storage.stored import Stored
from reasoningbank.storage.stored_vectors import current_generation
from reasoningbank.storage.text_index import indexed_text

CANDIDATES, LEADERS = 50_000, 5_000
"""Memories whose features, and whose wordings are kept: up to 10 MB of each with lessons of usual length."""


Features = tuple[str, tuple[int, ...]]
"""What is looked at of every candidate: its state, and the ids of its vectors. Plain, since there are so many."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What is looked at of the leading candidates.

    Attributes:
        terms: those it is indexed under, separated by blanks.
        pieces: of all its texts.
    """

    terms: str
    pieces: Pieces


class FeatureShelves:
    """The features and wordings of the memories that were candidates last."""

    def __init__(self) -> None:
        self._features: Shelf[Features] = Shelf(CANDIDATES)
        self._wordings: Shelf[Wording] = Shelf(LEADERS)

    def features(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Features]:
        """Return the features of those of these memories that are there, in the given order.

        Args:
            connection: inside a read transaction, never one that writes.
        """
        current = current_generation(connection)
        generation = current[0] if current else 0
        return self._features.look_up(
            connection, numbers, generation, lambda missing: _features(connection, missing, generation)
        )

    def wordings(self, connection: sqlite3.Connection, stored: Mapping[int, Stored]) -> dict[int, Wording]:
        """Return the wordings of these memories, in the given order.

        Args:
            connection: inside a read transaction, never one that writes.
        """

        def load(missing: Sequence[int]) -> dict[int, Wording]:
            said = pieces(["\n".join(stored[n].texts) for n in missing])
            terms = indexed_text(connection, missing)
            return {n: Wording(terms.get(n, ""), held) for n, held in zip(missing, said, strict=True)}

        return self._wordings.look_up(connection, list(stored), None, load)


def _features(connection: sqlite3.Connection, numbers: Sequence[int], generation: int) -> dict[int, Features]:
    wanted = json.dumps(numbers)
    vectors: dict[int, tuple[int, ...]] = {}
    # Both are answered from indexes alone: rows of memories are long, and most are never shown.
    for n, vector in connection.execute(
        "SELECT memory, id FROM vectors WHERE generation = ? AND memory IN (SELECT value FROM json_each(?)) "
        "ORDER BY memory, role",
        (generation, wanted),
    ):
        vectors[n] = (*vectors.get(n, ()), vector)
    hidden = dict(
        connection.execute(
            "SELECT n, state FROM memories WHERE state <> 'active' AND state IN ('archived', 'quarantined') "
            "AND n IN (SELECT value FROM json_each(?))",
            (wanted,),
        )
    )
    # One without a vector may be there all the same.
    for (n,) in connection.execute(
        "SELECT n FROM memories WHERE n IN (SELECT value FROM json_each(?))",
        (json.dumps([n for n in numbers if n not in vectors]),),
    ):
        vectors[n] = ()
    return {n: (hidden.get(n, "active"), held) for n, held in vectors.items()}
