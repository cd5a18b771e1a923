"""Postings from the text index: in which memories a term occurs, and how often.

FTS5 keeps them; reading them term by term, and not through a search, lets a process keep what it read.
"""

from __future__ import annotations

import sqlite3

import numpy as np

from reasoningbank.bm25 import Postings, Rows


def postings(connection: sqlite3.Connection, term: str) -> Postings:
    """Return where a term occurs."""
    # As two texts, not as a row for each occurrence: making those takes longer than all else.
    numbers, sizes = connection.execute(
        "SELECT group_concat(doc, ' '), CAST(group_concat(sz, '') AS BLOB) FROM temp.occurrences "
        "JOIN terms_docsize ON id = doc WHERE term = ?",
        (term,),
    ).fetchone()
    if numbers is None:
        return Postings(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))
    rows = np.fromstring(numbers, dtype=np.int64, sep=" ")
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    counts = np.diff(first, append=len(rows))
    return Postings(rows[first], counts.astype(np.int32), _varints(sizes)[first].astype(np.int32))


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
