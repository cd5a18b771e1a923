"""Ranking: what each policy puts first.

Everything here is a pure function. Arrays are aligned: row i of each is the same candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from reasoningbank.search.decay import freshness

Floats: TypeAlias = npt.NDArray[np.floating]
Policy = Literal["relevance", "similarity", "four_factor", "weighted", "mmr"]

# Random confidences then cost 0.002 nDCG@10 (docs/decisions/0030-fusion.md).
CONFIDENCE_NUDGE: Final = 0.04
MMR_LAMBDA: Final = 0.7
# Little enough that no fresh memory passes an old one that fits clearly better.
FRESHNESS_SHARE: Final = 0.2
SECONDS_A_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a policy knows of one memory.

    Attributes:
        similarity: cosine with the query, in [0, 1]; the better of the lesson and the applies-when vector.
        keyword: BM25 of the query's terms, at least 0.
        relevance: the parts of its relevance, by name; they add up to at most 1. Comparable within one query only.
        confidence: the belief that the memory helps, in [0, 1].
        touched: when it was last used, or else written; aware.
        source: who brought it, when that is nobody trusted; None when it is trusted.
    """

    id: str
    similarity: float
    keyword: float
    relevance: Mapping[str, float]
    confidence: float
    usage_count: int
    touched: datetime
    source: str | None = None

    @property
    def relevant(self) -> float:
        """Its relevance as one number, in [0, 1]."""
        return math.fsum(self.relevance.values())


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate in its place, with the score it is there for and the parts of that score."""

    candidate: Candidate
    score: float
    why: dict[str, float]


def rank(
    policy: Policy,
    candidates: Sequence[Candidate],
    *,
    k: int,
    now: datetime,
    vectors: Floats,
    half_life: timedelta | None = None,
) -> list[Ranked]:
    """Return the best `k` candidates by `policy`, best first; ties go to the smaller id.

    Args:
        vectors: (n, dim) unit vectors, aligned with `candidates`; only `mmr` and `four_factor` look at them.
        half_life: of the freshness that counts FRESHNESS_SHARE of the score; None leaves it out.
    """
    parts_of, share = _POLICIES[policy]
    parts = [parts_of(candidate, now) for candidate in candidates]
    if half_life is not None:
        fresh = [freshness(candidate.touched, now, half_life) for candidate in candidates]
        parts = [_with_freshness(own, f) for own, f in zip(parts, fresh, strict=True)]
        share *= 1.0 - FRESHNESS_SHARE
    if k < len(candidates) and share:
        return _diversified(candidates, parts, share, k, vectors)
    return _in_order(candidates, [p | {"diversity": share} for p in parts] if share else parts)[:k]


def _with_freshness(parts: Mapping[str, float], fresh: float) -> dict[str, float]:
    """Return the parts of a score, made smaller to leave room for freshness."""
    return {name: (1.0 - FRESHNESS_SHARE) * part for name, part in parts.items()} | {
        "freshness": FRESHNESS_SHARE * fresh
    }


def one_a_source(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, but of each source that is not trusted only the most relevant one.

    So no such source can fill a result, whatever it stores.
    """
    best: dict[str, Candidate] = {}
    for candidate in sorted((c for c in candidates if c.source is not None), key=lambda c: (-c.relevant, c.id)):
        best.setdefault(str(candidate.source), candidate)
    return [c for c in candidates if c.source is None or best[c.source] is c]


def relevance_parts(candidate: Candidate, _now: datetime) -> dict[str, float]:
    """The default: relevance, with confidence as a nudge that is worth at most CONFIDENCE_NUDGE of it."""
    parts = {**candidate.relevance, "confidence": CONFIDENCE_NUDGE * candidate.confidence}
    return {name: part / (1.0 + CONFIDENCE_NUDGE) for name, part in parts.items()}


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
# Each policy's parts before diversity, and what full diversity adds.
_POLICIES: Mapping[Policy, tuple[Parts, float]] = {
    "relevance": (relevance_parts, 0.0),
    "similarity": (similarity_parts, 0.0),
    "four_factor": (four_factor_parts, 0.1),
    "weighted": (weighted_parts, 0.0),
    "mmr": (mmr_parts, 1.0 - MMR_LAMBDA),
}
POLICIES: Final = tuple(_POLICIES)


def _in_order(candidates: Sequence[Candidate], parts: Sequence[dict[str, float]]) -> list[Ranked]:
    ranked = [Ranked(c, math.fsum(p.values()), p) for c, p in zip(candidates, parts, strict=True)]
    return sorted(ranked, key=lambda r: (-r.score, r.candidate.id))


def _diversified(
    candidates: Sequence[Candidate], parts: Sequence[dict[str, float]], share: float, k: int, vectors: Floats
) -> list[Ranked]:
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
