"""Postings from the text index: in which memories a term occurs, and how often.

FTS5 keeps them; reading them term by term, and not through a search, lets a process keep what it read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from reasoningbank.search.bm25 import Counts, Postings, Rows

SPARSE, FEW = 8, 65_536
"""Lengths are kept by row number as long as one number in eight is in use, or there are few."""


def postings(
    connection: sqlite3.Connection, terms: Sequence[str], lengths: Counts | None = None
) -> dict[str, Postings]:
    """Return where each of these terms occurs.

    Args:
        lengths: from `every_length`, as of this transaction; without it, they are looked up one by one.
    """
    # As texts, not as a row for each occurrence: making those takes longer than all else.
    read = [connection.execute(_LOOKED_UP if lengths is None else _KNOWN, (term,)).fetchone() for term in terms]
    found = np.fromstring(" ".join(numbers for numbers, _, _ in read), dtype=np.int64, sep=" ")
    ends = np.cumsum([occurrences for _, _, occurrences in read])
    # An entry begins where the number changes, and where the next term's do.
    begins = np.concatenate([[True], found[1:] != found[:-1]])[: len(found)]
    begins[[end for end in ends.tolist() if end < len(found)]] = True
    first = np.flatnonzero(begins)
    rows, counts = found[first], np.diff(first, append=len(found)).astype(np.int32)
    if lengths is None:
        sizes = _varints(b"".join(sizes for _, sizes, _ in read))[first].astype(np.int32)
    else:
        sizes = lengths[rows]
    cuts = np.searchsorted(first, ends).tolist()
    parts = map(slice, [0, *cuts], cuts)
    # Copies: a part would hold on to all.
    return {
        term: Postings(rows[part].copy(), counts[part].copy(), sizes[part].copy())
        for term, part in zip(terms, parts, strict=True)
    }


_NUMBERS = "SELECT coalesce(group_concat(doc, ' '), '')"
_KNOWN = f"{_NUMBERS}, x'', count(*) FROM temp.occurrences WHERE term = ?"
_LOOKED_UP = (
    f"{_NUMBERS}, CAST(coalesce(group_concat(sz, ''), x'') AS BLOB), count(*) FROM temp.occurrences "
    "JOIN terms_docsize ON id = doc WHERE term = ?"
)


def every_length(connection: sqlite3.Connection) -> Counts | None:
    """Return how many terms each memory has, by row number; None where too few numbers are in use for that."""
    numbers, sizes, documents = connection.execute(
        "SELECT group_concat(id, ' '), CAST(group_concat(sz, '') AS BLOB), count(*) FROM terms_docsize"
    ).fetchone()
    if not documents:
        return np.empty(0, dtype=np.int32)
    rows = np.fromstring(numbers, dtype=np.int64, sep=" ")
    size = int(rows.max()) + 1
    if size > SPARSE * documents + FEW:
        return None
    lengths = np.zeros(size, dtype=np.int32)
    lengths[rows] = _varints(sizes)
    return lengths


def with_lengths(lengths: Counts, changes: Mapping[int, int]) -> Counts:
    """Return the lengths after some memories changed: by row number, how many terms each has now."""
    missing = max(changes, default=0) + 1 - len(lengths)
    changed = np.concatenate([lengths, np.zeros(missing, dtype=np.int32)]) if missing > 0 else lengths.copy()
    changed[list(changes)] = list(changes.values())
    return changed


def totals(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many memories are indexed, and how many terms they have altogether."""
    # The record of averages, from which FTS5's own bm25() has them. Counting would read a row for each memory.
    row = connection.execute("SELECT block FROM terms_data WHERE id = 1").fetchone()
    numbers = _varints(row[0]).tolist() if row else []
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _varints(packed: bytes) -> Rows:
    """Return the whole numbers of a sequence of SQLite's varints (seven bits each, the highest first)."""
    codes = np.frombuffer(packed, dtype=np.uint8)
    last = np.flatnonzero(codes < 0x80)
    first = np.concatenate([[0], last[:-1] + 1])
    numbers = np.zeros(len(last), dtype=np.int64)
    for place in range(int((last - first).max(initial=-1)) + 1):
        at = first + place
        more = at <= last
        numbers[more] = (numbers[more] << 7) | (codes[at[more]] & 0x7F)
    return numbers
