"""The text index as rows: a row for each term of a memory or a node, from which the same scores follow as from FTS5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reasoningbank.search.bm25 import Postings
from reasoningbank.storage.words import Lengths

if TYPE_CHECKING:
    from reasoningbank.storage.postgres.transaction import PostgresReading

# Those of FTS5's bm25() (https://sqlite.org/fts5.html#the_bm25_function), which a folder ranks nodes by.
_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6


class PostingWords:
    """The text indexes that one transaction sees; `Words` says what its calls do."""

    def __init__(self, reading: PostgresReading) -> None:
        self._reading = reading

    def sizes(self, terms: Sequence[str]) -> dict[str, int]:
        return self._sizes("postings", terms)

    def _sizes(self, table: str, terms: Sequence[str]) -> dict[str, int]:
        counted = f"SELECT term, count(*) FROM {table} WHERE term IN (:terms) GROUP BY term"
        return dict.fromkeys(terms, 0) | dict(self._reading.execute(counted, {"terms": list(terms)}).fetchall())

    def totals(self) -> tuple[int, int]:
        return self._totals("terms")

    def _totals(self, index: str) -> tuple[int, int]:
        # As of this moment, also inside a transaction that changes them.
        named = {"names": [f"{index} rows", f"{index} length"]}
        found = dict(self._reading.execute("SELECT name, last FROM counters WHERE name IN (:names)", named).fetchall())
        return found.get(f"{index} rows", 0), found.get(f"{index} length", 0)

    def lengths(self) -> Lengths:
        rows = self._reading.execute("SELECT rowid, length FROM terms ORDER BY rowid").fetchall()
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return Lengths(numbers[:, 0].copy(), numbers[:, 1].astype(np.int32))

    def postings(self, terms: Sequence[str], known: Lengths) -> dict[str, Postings]:
        read: dict[str, list[tuple[int, int]]] = {term: [] for term in terms}
        asked = "SELECT term, rowid, count FROM postings WHERE term IN (:terms) ORDER BY term, rowid"
        for term, n, count in self._reading.execute(asked, {"terms": list(terms)}) if terms else ():
            read[term].append((n, count))
        found = {}
        for term, pairs in read.items():
            numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            rows = numbers[:, 0].copy()
            found[term] = Postings(rows, numbers[:, 1].astype(np.int32), known.of(rows))
        return found

    def best_nodes(self, terms: Sequence[str], width: int) -> dict[int, float]:
        rows, length = self._totals("node_terms")
        sizes = self._sizes("node_postings", terms) if terms else {}
        scores: dict[int, float] = {}
        asked = (
            "SELECT p.term, p.rowid, p.count, t.length FROM node_postings AS p "
            "JOIN node_terms AS t ON t.rowid = p.rowid WHERE p.term IN (:terms) ORDER BY p.term, p.rowid"
        )
        for term, n, count, long in self._reading.execute(asked, {"terms": list(terms)}) if terms else ():
            idf = max(_LEAST_IDF, math.log((rows - sizes[term] + 0.5) / (sizes[term] + 0.5)))
            part = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * long * rows / max(1, length)))
            scores[n] = scores.get(n, 0.0) + idf * part
        return dict(sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:width])

    def forget(self, index: str, *, begin: bool) -> bool:  # noqa: ARG002 - as for files
        # What is deleted leaves its rows; the server's own vacuum takes them from its files.
        return False
