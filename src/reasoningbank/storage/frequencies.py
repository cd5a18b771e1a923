"""In how many memories terms occur, from the text index itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'terms', 'row')"
"""For each connection once: a view of the text index, which takes no space and is never out of date."""

POSTINGS = 4_000
"""What a keyword search may read: about 2 ms on a quiet machine, however large the bank is."""


CommonTerms = dict[str, tuple[int, int]]
"""In how many memories a term was that occurs in too many to be asked for, and the newest change then."""


def rarest(
    connection: sqlite3.Connection,
    wanted: Sequence[str],
    common: CommonTerms,
    newest: int,
    *,
    postings: int = POSTINGS,
) -> list[str]:
    """Return the terms that tell most, the rarest first: as many as occur in up to `postings` memories together.

    The rarest one that occurs at all is always among them; terms that occur nowhere are not. In a bank of a few hundred
    memories all terms stay.

    Args:
        common: what earlier calls found out, and this one adds to. Counting a common term reads all of its entries; but
            a change moves a count by one at most, so that one which was far beyond `postings` still is.
        newest: the newest change that this transaction sees.
    """
    rows = _counted(connection, [t for t in wanted if not _is_beyond(common.get(t), newest, postings)])
    if not rows or rows[0][1] > postings:
        rows = _counted(connection, wanted)
    common.update((term, (documents, newest)) for term, documents in rows if documents > postings)
    kept: list[str] = []
    for term, documents in rows:
        postings -= documents
        if kept and postings < 0:
            break
        kept.append(term)
    return kept


def _is_beyond(known: tuple[int, int] | None, newest: int, postings: int) -> bool:
    return known is not None and known[0] - abs(newest - known[1]) > postings


def _counted(connection: sqlite3.Connection, wanted: Sequence[str]) -> list[tuple[str, int]]:
    return connection.execute(
        "SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc, term",
        (json.dumps(list(wanted)),),
    ).fetchall()
