"""The text index: in how many memories terms occur, where, how often, and how long memories are.

It is read term by term, and not through a search, so that a process can keep what it read. Every engine keeps it in its
own way: `Words` is what is asked of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reasoningbank.storage.contract import Reading, Writing, column

if TYPE_CHECKING:
    from reasoningbank.search.bm25 import Counts, Postings, Rows


class Words(Protocol):
    """How an engine's text index is asked, inside one transaction."""

    def sizes(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many memories each of these terms occurs."""

    def totals(self) -> tuple[int, int]:
        """Return how many memories are indexed, and how many terms they have altogether."""

    def lengths(self) -> Lengths:
        """Return how many terms each memory has."""

    def postings(self, terms: Sequence[str], known: Lengths) -> dict[str, Postings]:
        """Return where each of these terms occurs; `known` has the lengths as of this transaction."""

    def best_nodes(self, terms: Sequence[str], width: int) -> dict[int, float]:
        """Return row number and BM25, at least 0, of the `width` nodes that match any of these terms best."""

    def forget(self, index: str, *, begin: bool) -> bool:
        """Take some of the words of what was deleted out of an index (of INDEXES); tell whether more are left.

        The first time with `begin`: what is looked at then is all that there is now.
        """


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


TEXTS = "SELECT rowid, text FROM terms WHERE rowid IN (:numbers)"
"""Asks for what `texts` gives, for who reads it later, together with other answers."""


def texts(reading: Reading, numbers: Collection[int]) -> dict[int, str]:
    """Return the terms, separated by blanks, that those of these memories are indexed under that are there."""
    return dict(reading.execute(TEXTS, {"numbers": list(numbers)}))


def every_text(reading: Reading, index: str) -> dict[int, str]:
    """Return what every row of a text index (of INDEXES) holds, by row number."""
    return dict(reading.execute(f"SELECT rowid, text FROM {index}").fetchall())


def put_anew(writing: Writing, index: str, rows: Mapping[int, str], after: int, last: int) -> None:
    """Make a text index hold these rows and no others of those numbered behind `after`, up to `last`.

    The feed is told of each, for those who keep what they read.
    """
    within = f"FROM {index} WHERE rowid > ? AND rowid <= ?"
    if index == "terms":
        for n in sorted({*column(writing, f"SELECT rowid {within}", (after, last)), *rows}):
            writing.tell("put", n)
    writing.execute(f"DELETE {within}", (after, last))
    writing.insert(index, ("rowid", "text"), list(rows.items()))
