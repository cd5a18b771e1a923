"""Ranking: how two legs become one relevance, what is relevant at all, and what the policies put first.

Everything here is a pure function. Arrays are aligned: row i of each is the same candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from reasoningbank.errors import InvalidInputError

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Policy = Literal["relevance", "similarity", "four_factor", "weighted", "mmr"]

DENSE_SHARE: Final = 0.7
CONFIDENCE_NUDGE: Final = 0.05
MMR_LAMBDA: Final = 0.7
# Below the floor a cosine says nothing; below the weak line it may still be by chance (docs/guides/retrieval.md).
SIMILARITY_FLOOR: Final = 0.25
WEAK_BELOW: Final = 0.40
SECONDS_A_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a policy knows of one memory.

    Attributes:
        similarity: cosine with the query, in [0, 1]; the better of the lesson and the applies-when vector.
        keyword: BM25 of the query's terms, at least 0.
        relevance: both fused, in [0, 1]; comparable within one query only.
        confidence: the belief that the memory helps, in [0, 1].
        touched: when it was last used, or else written; aware.
    """

    id: str
    similarity: float
    keyword: float
    relevance: float
    confidence: float
    usage_count: int
    touched: datetime


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate in its place, with the score it is there for and the parts of that score."""

    candidate: Candidate
    score: float
    why: dict[str, float]


@dataclass(frozen=True, slots=True)
class Gate:
    """Which candidates may be relevant at all, and whether even the best of them is doubtful."""

    keep: Mask
    weak: bool


def cosine(first: Floats, second: Floats) -> float:
    """Return the cosine of two vectors; 0.0 when one is zero or empty, or their lengths differ."""
    if first.shape != second.shape:
        return 0.0
    length = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
    return float(first @ second) / length if length > 0.0 else 0.0


def scaled(values: Floats) -> Floats:
    """Return `values` stretched so that the least is 0 and the greatest 1; all 0 when they are equal."""
    if not values.size:
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def fuse(similarity: Floats, keyword: Floats) -> Floats:
    """Return the fused relevance of each candidate, in [0, 1].

    Args:
        similarity: (n,) cosines in [0, 1].
        keyword: (n,) BM25 scores, 0 where no term matches.
    """
    if not keyword.any():
        return scaled(similarity)
    return DENSE_SHARE * scaled(similarity) + (1.0 - DENSE_SHARE) * scaled(keyword)


def gate(similarity: Floats) -> Gate:
    """Tell which candidates may be relevant, by their cosine with the query."""
    best = float(similarity.max()) if similarity.size else 0.0
    return Gate(keep=similarity >= SIMILARITY_FLOOR, weak=best < WEAK_BELOW)


def rank(policy: Policy, candidates: Sequence[Candidate], *, k: int, now: datetime, vectors: Floats) -> list[Ranked]:
    """Return the best `k` candidates by `policy`, best first; ties go to the smaller id.

    Args:
        vectors: (n, dim) unit lesson vectors, aligned with `candidates`; only `mmr` and `four_factor` look at them.

    Raises:
        InvalidInputError: there is no such policy.
    """
    if policy in _PLAIN:
        parts = [_PLAIN[policy](candidate, now) for candidate in candidates]
        return _in_order(candidates, parts)[:k]
    if policy in _DIVERSE:
        return _diversified(_DIVERSE[policy], candidates, k=k, now=now, vectors=vectors)
    raise InvalidInputError(f"no policy {policy!r}: use one of {', '.join(POLICIES)}")


def relevance_parts(candidate: Candidate, _now: datetime) -> dict[str, float]:
    """The default: fused relevance, with confidence as a nudge that is worth at most CONFIDENCE_NUDGE of it."""
    return {
        "relevance": candidate.relevance / (1.0 + CONFIDENCE_NUDGE),
        "confidence": CONFIDENCE_NUDGE * candidate.confidence / (1.0 + CONFIDENCE_NUDGE),
    }


def similarity_parts(candidate: Candidate, _now: datetime) -> dict[str, float]:
    """Cosine alone. Source: contextd's specification."""
    return {"similarity": candidate.similarity}


def weighted_parts(candidate: Candidate, now: datetime) -> dict[str, float]:
    """Success 0.4, usage 0.3, recency 0.2, context 0.1. Source: agentic-flow's architecture."""
    return {
        "success": 0.4 * candidate.confidence,
        "usage": 0.3 * saturation(candidate.usage_count),
        "recency": 0.2 * recency(days_between(candidate.touched, now)),
        "context": 0.1 * candidate.similarity,
    }


def four_factor_parts(candidate: Candidate, now: datetime) -> dict[str, float]:
    """Semantic 0.4, reliability 0.3, recency 0.2; the last 0.1 is diversity. Source: claude-flow's architecture."""
    return {
        "semantic": 0.4 * candidate.similarity,
        "reliability": 0.3 * candidate.confidence,
        "recency": 0.2 * recency(days_between(candidate.touched, now)),
    }


def mmr_parts(candidate: Candidate, _now: datetime) -> dict[str, float]:
    """Relevance for maximal marginal relevance: cosine, so that it has the scale of the redundancy.

    Source: Carbonell & Goldstein 1998, eq. 1, with (1 - redundancy) in place of -redundancy: the same order, in [0, 1].
    """
    return {"similarity": MMR_LAMBDA * candidate.similarity}


def recency(days: float) -> float:
    """Return 1.0 for today, falling by a factor e every ten days. Source: claude-flow's architecture."""
    return math.exp(-0.1 * max(0.0, days))


def saturation(count: int) -> float:
    """Return how much `count` uses count for: 0 for none, 0.5 for ten, towards 1; it does not depend on the bank."""
    return count / (count + 10.0)


def days_between(earlier: datetime, now: datetime) -> float:
    """Return the days from `earlier` to `now`."""
    return (now - earlier).total_seconds() / SECONDS_A_DAY


Parts = Callable[[Candidate, datetime], dict[str, float]]
_PLAIN: Mapping[str, Parts] = {
    "relevance": relevance_parts,
    "similarity": similarity_parts,
    "weighted": weighted_parts,
}
# The policies that diversify: the parts before diversity, and what full diversity adds.
_DIVERSE: Mapping[str, tuple[Parts, float]] = {
    "four_factor": (four_factor_parts, 0.1),
    "mmr": (mmr_parts, 1.0 - MMR_LAMBDA),
}
POLICIES: Final = ("relevance", "similarity", "four_factor", "weighted", "mmr")


def _in_order(candidates: Sequence[Candidate], parts: Sequence[dict[str, float]]) -> list[Ranked]:
    ranked = [Ranked(c, math.fsum(p.values()), p) for c, p in zip(candidates, parts, strict=True)]
    return sorted(ranked, key=lambda r: (-r.score, r.candidate.id))


def _diversified(
    how: tuple[Parts, float], candidates: Sequence[Candidate], *, k: int, now: datetime, vectors: Floats
) -> list[Ranked]:
    """Pick one after the other the candidate whose score, diversity included, is greatest.

    When all are wanted there is nothing to choose, so they come in plain order.
    """
    parts_of, share = how
    parts = [parts_of(candidate, now) for candidate in candidates]
    if k >= len(candidates):
        return _in_order(candidates, [p | {"diversity": share} for p in parts])
    plain = np.array([math.fsum(p.values()) for p in parts])
    picked = []
    for row, diversity in pick_diverse(plain, share, vectors, k, ids=[c.id for c in candidates]):
        why = parts[row] | {"diversity": share * diversity}
        picked.append(Ranked(candidates[row], math.fsum(why.values()), why))
    return picked


def pick_diverse(
    plain: npt.NDArray[np.float64], share: float, vectors: Floats, k: int, *, ids: Sequence[str]
) -> list[tuple[int, float]]:
    """Return (row, diversity) of the `k` rows that are picked greedily by `plain + share * diversity`, in order.

    Diversity is 1 minus the greatest cosine with a row picked before, in [0, 1]. Ties go to the smaller id.
    """
    by_id = np.argsort(np.array(ids), kind="stable")
    diversity = np.ones(len(plain))
    left = np.ones(len(plain), dtype=bool)
    picked = []
    for _ in range(min(k, len(plain))):
        score = np.where(left, plain + share * diversity, -np.inf)
        row = int(by_id[np.argmax(score[by_id])])
        picked.append((row, float(diversity[row])))
        left[row] = False
        diversity = np.minimum(diversity, 1.0 - np.clip(vectors @ vectors[row], 0.0, 1.0))
    return picked
