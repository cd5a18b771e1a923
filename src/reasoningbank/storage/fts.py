"""The text index as SQLite's FTS5 keeps it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reasoningbank.search.bm25 import Postings, Rows
from reasoningbank.search.terms import match_expression
from reasoningbank.storage.contract import Reading, number
from reasoningbank.storage.words import Lengths

_MERGED = 500  # pages of a text index that are merged in one transaction: some hundredths of a second

# As a text, not as a row for each occurrence: making those takes longer than all else.
_POSTINGS = "SELECT coalesce(group_concat(doc, ' '), ''), count(*) FROM temp.occurrences WHERE term = ?"


class FtsWords:
    """The text indexes that one transaction sees; `Words` says what its calls do."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def sizes(self, terms: Sequence[str]) -> dict[str, int]:
        found = self._reading.execute(
            "SELECT term, doc FROM temp.vocabulary WHERE term IN (:terms)", {"terms": list(terms)}
        )
        return dict.fromkeys(terms, 0) | dict(found)

    def totals(self) -> tuple[int, int]:
        # The record of averages, from which FTS5's own bm25() has them. Counting would read a row for each memory.
        row = self._reading.execute("SELECT block FROM terms_data WHERE id = 1").fetchone()
        numbers = _varints(row[0]).tolist() if row else []
        return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)

    def lengths(self) -> Lengths:
        numbers, packed = self._reading.execute(
            "SELECT group_concat(id, ' '), CAST(group_concat(sz, '') AS BLOB) FROM "
            "(SELECT id, sz FROM terms_docsize ORDER BY id)"
        ).fetchone()
        if numbers is None:
            return Lengths(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
        return Lengths(np.fromstring(numbers, dtype=np.int64, sep=" "), _varints(packed).astype(np.int32))

    def postings(self, terms: Sequence[str], known: Lengths) -> dict[str, Postings]:
        # By one question.
        read = self._reading.execute(" UNION ALL ".join([_POSTINGS] * len(terms)), terms).fetchall() if terms else []
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

    def best_nodes(self, terms: Sequence[str], width: int) -> dict[int, float]:
        if not terms:
            return {}
        rows = self._reading.execute(
            "SELECT rowid, -rank FROM node_terms WHERE node_terms MATCH ? ORDER BY rank, rowid LIMIT ?",
            (match_expression(terms), width),
        )
        return {n: max(0.0, score) for n, score in rows}

    def forget(self, index: str, *, begin: bool) -> bool:
        before = number(self._reading, "SELECT total_changes()")
        pages = -_MERGED if begin else _MERGED
        self._reading.execute(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (pages,))
        # The command itself counts as one change (https://sqlite.org/fts5.html#the_merge_command).
        return number(self._reading, "SELECT total_changes()") - before >= 2


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
