"""BM25 over postings: which memories hold the terms that are asked for, and how much that says.

Everything is a pure function over arrays. The numbers are those of FTS5's bm25(), bit for bit: constants, formula and
the order of summation are the same.

Source: Robertson & Zaragoza 2009, "The probabilistic relevance framework: BM25 and beyond".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.int32]
Scores: TypeAlias = npt.NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.75
# What a term weighs that more than half of the memories hold.
LEAST_WEIGHT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term occurs: aligned arrays, in ascending order of row number.

    Attributes:
        rows: (n,) row numbers of the memories that hold it.
        counts: (n,) how often each does.
        lengths: (n,) how many terms each has altogether.
    """

    rows: Rows
    counts: Counts
    lengths: Counts

    def __len__(self) -> int:
        """Return in how many memories the term occurs."""
        return len(self.rows)

    def holds(self, n: int) -> bool:
        """Tell whether a memory holds the term."""
        # Most that are asked about are newer than all of them.
        if not len(self.rows) or n > self.rows[-1]:
            return False
        return bool(self.rows[np.searchsorted(self.rows, n)] == n)

    def after(self, changes: Mapping[int, tuple[int, int]]) -> Postings:
        """Return the postings after some memories changed.

        By row number: how often each holds the term now (0: not, or it is gone), and how many terms it has.
        """
        keep = np.ones(len(self.rows), dtype=bool)
        newest = int(self.rows[-1]) if len(self.rows) else -1
        for n in changes:
            if n <= newest:
                keep &= self.rows != n
        now = [(n, count, length) for n, (count, length) in changes.items() if count]
        if not now and keep.all():
            return self
        rows = np.concatenate([self.rows[keep], np.array([n for n, _, _ in now], dtype=np.int64)])
        counts = np.concatenate([self.counts[keep], np.array([count for _, count, _ in now], dtype=np.int32)])
        lengths = np.concatenate([self.lengths[keep], np.array([length for _, _, length in now], dtype=np.int32)])
        order = np.argsort(rows, kind="stable")
        return Postings(rows[order], counts[order], lengths[order])


def within_budget(sizes: Mapping[str, int], budget: int) -> list[str]:
    """Return the terms that tell most, the rarest first: as many as occur in up to `budget` memories together.

    The rarest one that occurs at all is always among them; terms that occur nowhere are not. In a bank of a few hundred
    memories all terms stay. `sizes` says in how many memories each term occurs.
    """
    kept: list[str] = []
    for size, term in sorted((size, term) for term, size in sizes.items() if size):
        budget -= size
        if kept and budget < 0:
            break
        kept.append(term)
    return kept


def bm25(asked: Sequence[Postings], documents: int, terms: int) -> tuple[Rows, Scores]:
    """Return the memories that hold any of the terms, in ascending order of row number, and their scores.

    `asked` are the postings of each term; there are so many `documents`, which have so many `terms` altogether.
    """
    held = [postings for postings in asked if len(postings)]
    if not held:
        return np.empty(0, dtype=np.int64), np.empty(0)
    sizes = [len(postings) for postings in held]
    weights = np.repeat([_weight(size, documents) for size in sizes], sizes)
    rows = np.concatenate([postings.rows for postings in held])
    counts = np.concatenate([postings.counts for postings in held]).astype(np.float64)
    lengths = np.concatenate([postings.lengths for postings in held])
    scores = weights * (counts * (K1 + 1.0) / (counts + K1 * (1 - B + B * lengths / (terms / documents))))
    # Stable, so that each memory's scores are added up in the order of the terms.
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    first = np.ones(len(rows), dtype=bool)
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    summed = np.bincount(np.cumsum(first) - 1, weights=scores[order]).astype(np.float64, copy=False)
    return rows[first], summed


def _weight(size: int, documents: int) -> float:
    weight = math.log((documents - size + 0.5) / (size + 0.5))
    return weight if weight > 0.0 else LEAST_WEIGHT


def best_first(rows: Rows, scores: Scores, k: int) -> tuple[Rows, Scores]:
    """Return the `k` of these ascending rows with the greatest scores, best first; of equals the smaller first."""
    if 0 < k < len(rows):
        # All that are as good as the k-th stay: which of them are taken is a matter of their numbers.
        ahead = scores >= np.partition(scores, -k)[-k]
        rows, scores = rows[ahead], scores[ahead]
    order = np.argsort(-scores, kind="stable")[:k]
    return rows[order], scores[order]


def once(numbers: Rows) -> Rows:
    """Return each number once, in ascending order."""
    # np.unique would load numpy.ma, for 30 ms.
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    found: Rows = ordered[first]
    return found
