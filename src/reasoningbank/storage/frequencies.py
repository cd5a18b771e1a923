"""In how many memories terms occur, from the text index itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'terms', 'row')"
"""For each connection once: a view of the text index, which takes no space and is never out of date."""

POSTINGS = 4_000
"""What a keyword search may read: about 2 ms on a quiet machine, however large the bank is."""


def rarest(connection: sqlite3.Connection, wanted: Sequence[str], postings: int = POSTINGS) -> list[str]:
    """Return the terms that tell most, the rarest first: as many as occur in up to `postings` memories together.

    The rarest one that occurs at all is always among them; terms that occur nowhere are not. In a bank of a few hundred
    memories all terms stay.
    """
    rows = connection.execute(
        "SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc, term",
        (json.dumps(list(wanted)),),
    )
    kept: list[str] = []
    for term, documents in rows:
        postings -= documents
        if kept and postings < 0:
            break
        kept.append(term)
    return kept
