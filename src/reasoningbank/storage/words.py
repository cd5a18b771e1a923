"""The text index: in how many memories terms occur, where, how often, and how long memories are.

FTS5 keeps it. It is read term by term, and not through a search, so that a process can keep what it read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reasoningbank.search.bm25 import Counts, Postings, Rows
from reasoningbank.storage.contract import Reading, Writing, column, number

INDEXES = ("terms", "node_terms")
_MERGED = 500  # pages of a text index that are merged in one transaction: some hundredths of a second


def sizes(reading: Reading, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many memories each of these terms occurs."""
    found = reading.execute("SELECT term, doc FROM temp.vocabulary WHERE term IN (:terms)", {"terms": list(terms)})
    return dict.fromkeys(terms, 0) | dict(found)


def totals(reading: Reading) -> tuple[int, int]:
    """Return how many memories are indexed, and how many terms they have altogether."""
    # The record of averages, from which FTS5's own bm25() has them. Counting would read a row for each memory.
    row = reading.execute("SELECT block FROM terms_data WHERE id = 1").fetchone()
    numbers = _varints(row[0]).tolist() if row else []
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


# -- lengths -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many terms memories have: aligned arrays, in ascending order of row number."""

    rows: Rows
    counts: Counts

    def of(self, rows: Rows) -> Counts:
        """Return the lengths of memories that are among these."""
        if not len(self.rows):
            return np.zeros(len(rows), dtype=np.int32)
        found: Counts = self.counts[np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)]
        return found

    def after(self, changes: Mapping[int, int]) -> Lengths:
        """Return the lengths after some memories changed: by row number, how many terms each has now."""
        rows = np.array(sorted(changes), dtype=np.int64)
        changed = np.array([changes[n] for n in rows.tolist()], dtype=np.int32)
        place = np.searchsorted(self.rows, rows)
        known = np.zeros(len(rows), dtype=bool)
        within = place < len(self.rows)
        known[within] = self.rows[place[within]] == rows[within]
        counts = self.counts.copy()
        counts[place[known]] = changed[known]
        return Lengths(
            np.insert(self.rows, place[~known], rows[~known]), np.insert(counts, place[~known], changed[~known])
        )


def lengths(reading: Reading) -> Lengths:
    """Return how many terms each memory has."""
    numbers, packed = reading.execute(
        "SELECT group_concat(id, ' '), CAST(group_concat(sz, '') AS BLOB) FROM "
        "(SELECT id, sz FROM terms_docsize ORDER BY id)"
    ).fetchone()
    if numbers is None:
        return Lengths(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    return Lengths(np.fromstring(numbers, dtype=np.int64, sep=" "), _varints(packed).astype(np.int32))


# -- postings ------------------------------------------------------------------------------------------------------

# As a text, not as a row for each occurrence: making those takes longer than all else.
_POSTINGS = "SELECT coalesce(group_concat(doc, ' '), ''), count(*) FROM temp.occurrences WHERE term = ?"


def postings(reading: Reading, terms: Sequence[str], known: Lengths) -> dict[str, Postings]:
    """Return where each of these terms occurs, by one question; `known` has the lengths as of this transaction."""
    read = reading.execute(" UNION ALL ".join([_POSTINGS] * len(terms)), terms).fetchall() if terms else []
    joined = " ".join(numbers for numbers, occurrences in read if occurrences)
    found = np.fromstring(joined, dtype=np.int64, sep=" ") if joined else np.empty(0, dtype=np.int64)
    ends = np.cumsum([occurrences for _, occurrences in read])
    # An entry begins where the number changes, and where the next term's do.
    begins = np.concatenate([[True], found[1:] != found[:-1]])[: len(found)]
    begins[[end for end in ends.tolist() if end < len(found)]] = True
    first = np.flatnonzero(begins)
    rows, counts = found[first], np.diff(first, append=len(found)).astype(np.int32)
    held = known.of(rows)
    cuts = np.searchsorted(first, ends).tolist()
    parts = map(slice, [0, *cuts], cuts)
    # Copies: a part would hold on to all.
    return {
        term: Postings(rows[part].copy(), counts[part].copy(), held[part].copy())
        for term, part in zip(terms, parts, strict=True)
    }


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


# -- texts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Indexed:
    """The terms of one memory, with how often it has each, and how many it has altogether."""

    counts: Mapping[str, int]
    length: int


def indexed(reading: Reading, numbers: Collection[int]) -> dict[int, Indexed]:
    """Return the terms that these memories are indexed under; those that are gone have none."""
    split = {n: text.split() for n, text in texts(reading, numbers).items()}
    return {n: Indexed(Counter(split.get(n, ())), len(split.get(n, ()))) for n in numbers}


def texts(reading: Reading, numbers: Collection[int]) -> dict[int, str]:
    """Return the terms, separated by blanks, that those of these memories are indexed under that are there."""
    return dict(reading.execute("SELECT rowid, text FROM terms WHERE rowid IN (:numbers)", {"numbers": list(numbers)}))


def every_text(reading: Reading, index: str) -> dict[int, str]:
    """Return what every row of a text index (of INDEXES) holds, by row number."""
    return dict(reading.execute(f"SELECT rowid, text FROM {index}").fetchall())


def forget(writing: Writing, index: str, *, begin: bool) -> bool:
    """Merge some of a text index's segments, so that the words of what was deleted go; tell whether more are left.

    The first time with `begin`: what is merged then is all that there is now.
    """
    before = number(writing, "SELECT total_changes()")
    writing.execute(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (-_MERGED if begin else _MERGED,))
    # The command itself counts as one change (https://sqlite.org/fts5.html#the_merge_command).
    return number(writing, "SELECT total_changes()") - before >= 2


def put_anew(writing: Writing, index: str, rows: Iterable[tuple[int, str]]) -> None:
    """Make a text index hold these rows and no others; the feed is told of each, for those who keep what they read."""
    held = list(rows)
    if index == "terms":
        for n in sorted({*column(writing, "SELECT rowid FROM terms"), *(n for n, _ in held)}):
            writing.tell("put", n)
    writing.execute(f"DELETE FROM {index}")
    writing.insert(index, ("rowid", "text"), held)
