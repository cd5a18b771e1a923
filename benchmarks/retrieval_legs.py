"""What search is compared with: each leg alone, and the plain ways of putting them together.

The legs are those that the bank stores: its lesson vectors, and BM25 over its terms. Both are complete here: no gate,
no budget, no widening.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reasoningbank.search.terms import match_expression, query_terms

Floats = npt.NDArray[np.float64]
Combination = Callable[[Floats, Floats], Floats]
RRF_K = 60


class Legs:
    """The two legs of a bank's file, read from it.

    Args:
        documents: the ids of the documents that each memory stands for, by the memory's id.
    """

    def __init__(self, file: Path, documents: dict[str, list[str]]) -> None:
        self._connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        memories = self._connection.execute("SELECT n, id FROM memories WHERE state = 'active' ORDER BY n").fetchall()
        self._documents = [documents[memory] for _, memory in memories]
        self._row = {n: row for row, (n, _) in enumerate(memories)}
        self._vectors, self._owner = self._stored_vectors()

    def _stored_vectors(self) -> tuple[npt.NDArray[np.float32], list[int]]:
        rows = self._connection.execute(
            "SELECT memory, vector FROM vectors WHERE generation = (SELECT generation FROM generations "
            "WHERE state = 'current') ORDER BY id"
        )
        stored = [(self._row[n], np.frombuffer(vector, dtype=np.float32)) for n, vector in rows if n in self._row]
        return np.array([vector for _, vector in stored]), [row for row, _ in stored]

    def dense(self, query: npt.NDArray[np.float32]) -> Floats:
        """Return the cosine of each memory with a query's vector."""
        scores = np.zeros(len(self._row))
        np.maximum.at(scores, self._owner, self._vectors @ query)
        return scores

    def keyword(self, text: str) -> Floats:
        """Return the BM25 score of each memory for all of a query's terms."""
        scores = np.zeros(len(self._row))
        expression = match_expression(query_terms(text))
        if expression:
            for n, score in self._connection.execute(
                "SELECT rowid, -rank FROM terms WHERE terms MATCH ?", (expression,)
            ):
                if n in self._row:
                    scores[self._row[n]] = score
        return scores

    def ranking(self, scores: Floats, most: int) -> list[str]:
        """Return the documents of the best memories."""
        best = np.argsort(-scores, kind="stable")[:most]
        return [document for row in best for document in self._documents[row]][:most]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def stretched(scores: Floats) -> Floats:
    """Return scores between 0 and 1."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def minmax(share: float) -> Combination:
    """Return what adds so much of the dense leg and the rest of the keyword leg, both stretched."""
    return lambda dense, keyword: share * stretched(dense) + (1.0 - share) * stretched(keyword)


def rrf(dense: Floats, keyword: Floats) -> Floats:
    """Return reciprocal ranks added up. Source: Cormack et al. 2009."""
    ranks = [np.argsort(np.argsort(-scores, kind="stable"), kind="stable") for scores in (dense, keyword)]
    fused: Floats = 1.0 / (RRF_K + 1 + ranks[0]) + np.where(keyword > 0.0, 1.0 / (RRF_K + 1 + ranks[1]), 0.0)
    return fused


COMBINATIONS: dict[str, Combination] = {
    "dense": lambda dense, _: dense,
    "keyword": lambda _, keyword: keyword,
    "rrf": rrf,
    "minmax_0.5": minmax(0.5),
    "minmax_0.7": minmax(0.7),
}
