"""Answers that are exact whatever an engine's consistency: what it may not know yet is held here, and laid over it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reasoningbank.vectors.base import Float32, Int64, best_first, checked_query, cosines
from reasoningbank.vectors.faiss import FaissIndex
from reasoningbank.vectors.flat import FlatIndex
from reasoningbank.vectors.remote import Part, VectorEngine

TIMES, SPARE = 2, 16
"""So many times k and beyond are asked for at first; where a doubt is left, more are, until none is."""

DOUBT = 1e-4
"""How far an engine's own cosine may be from the exact one."""

GATHERED = 1_024
"""Up to so many allowed ids, their vectors are scored here, and no engine is asked."""

Exact = Callable[[Int64], tuple[Int64, Float32]]
"""Gives the ids and vectors of those of these ids that are still there, in any order: what it does not give is gone."""


def overlaid(
    held: FaissIndex | FlatIndex,
    engine: VectorEngine,
    part: Part,
    exact: Exact,
    query: Float32,
    k: int,
    *,
    allowed: Int64 | None = None,
    least: float = -math.inf,
) -> tuple[Int64, Float32]:
    """Find the `k` ids nearest to a query among those that are held and those that an engine has.

    The engine may lack what is held, and may still have what is gone, or an old vector of what is held. Its scores
    are used for nothing but for telling whether it has to be asked for more.

    Args:
        held: everything that the engine may not know yet.
        exact: the truth about everything else.
        query, k, allowed, least: as of `FaissIndex.search`, which also says what is returned.

    Raises:
        AwayError: the engine could not be asked.
        InvalidInputError: wrong shape, or a number that is not finite.
    """
    query = checked_query(query, part.dim)
    if k < 1:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    own, own_scores = held.search(query, k, allowed=allowed, least=least)
    if allowed is not None and len(allowed := np.unique(allowed)) <= GATHERED:
        return _best(exact(allowed), own, own_scores, query, k, least)
    count = TIMES * k + SPARE
    while True:
        found, rough = engine.nearest(part, query, count, allowed)
        ids, scores = _best(exact(found), own, own_scores, query, k, least)
        # A tie is a doubt as well: what was not looked at may have the smaller id.
        needed = max(least, float(scores[-1]) if ids.size == k else -math.inf)
        if found.size < count or float(rough[-1]) + DOUBT < needed:
            return ids, scores
        count *= 4


def _best(
    known: tuple[Int64, Float32], own: Int64, own_scores: Float32, query: Float32, k: int, least: float
) -> tuple[Int64, Float32]:
    """Return the best of what is held and of what the engine found, each once."""
    ids, rows = known
    scores = cosines(rows, query)
    new = (scores >= least) & ~np.isin(ids, own)
    return best_first(np.concatenate([own, ids[new]]), np.concatenate([own_scores, scores[new]]), k)
