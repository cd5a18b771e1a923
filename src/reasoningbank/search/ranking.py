"""Ranking: what each policy puts first.

Everything here is a pure function over aligned arrays: row i of each is the same candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating]
Parts: TypeAlias = dict[str, Floats]
"""The parts of each candidate's score, by name; a score is their sum."""
Policy = Literal["relevance", "cautious", "similarity", "four_factor", "weighted", "mmr"]

# What is taken for the confidence of a memory that nothing but its recorder's word is known of: the others decide.
UNKNOWN: Final = 0.7
LEAST_RELEVANCE: Final = 1e-6
MMR_LAMBDA: Final = 0.7
# Little enough that no fresh memory passes an old one that fits clearly better.
FRESHNESS_SHARE: Final = 0.2
# What is left of the score of a memory that is served in doubt.
DOUBT_KEEPS: Final = 0.5
SECONDS_A_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a policy knows of memories.

    Attributes:
        number: (n,) row numbers: equals stand in the order they were recorded.
        similarity: cosine with the query, in [0, 1]; the better of the lesson and the applies-when vector.
        relevance: the parts of its relevance, by name; they add up to at most 1. Comparable within one query only.
        about: the chance that the memory is about the query, by its relevance.
        confidence: the belief that it helps then, in [0, 1].
        judged: whether there is any evidence for that belief: a vote, an outcome, or stability.
        usage: how often it was handed out.
        age: days since it was last used, or else written.
        source: who brought it, when that is nobody trusted; 0 when it is trusted.
        trust: what is left of its score: 1, or DOUBT_KEEPS where it is in doubt and no evidence speaks for it yet.
    """

    number: npt.NDArray[np.int64]
    similarity: Floats
    relevance: Mapping[str, Floats]
    about: Floats
    confidence: Floats
    judged: npt.NDArray[np.bool_]
    usage: npt.NDArray[np.int64]
    age: Floats
    source: npt.NDArray[np.int64]
    trust: Floats

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.number)

    def at(self, rows: npt.NDArray[np.intp]) -> Candidates:
        """Return some of them, in the given order."""
        return Candidates(
            self.number[rows],
            self.similarity[rows],
            {name: part[rows] for name, part in self.relevance.items()},
            self.about[rows],
            self.confidence[rows],
            self.judged[rows],
            self.usage[rows],
            self.age[rows],
            self.source[rows],
            self.trust[rows],
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in their order: row numbers of the arrays, best first, with their scores and the parts of those."""

    rows: npt.NDArray[np.intp]
    score: Floats
    parts: Parts

    def why(self, place: int) -> dict[str, float]:
        """Return the parts of the score of the candidate in a place."""
        return {name: float(part[place]) for name, part in self.parts.items()}


def rank(
    policy: Policy,
    candidates: Candidates,
    *,
    k: int,
    vectors: Floats,
    half_life: float | None = None,
) -> Ranked:
    """Return the best `k` candidates by `policy`, best first; ties go to what was recorded first.

    Args:
        vectors: (n, dim) unit vectors, aligned with `candidates`; only `mmr` and `four_factor` look at them.
        half_life: days; of the freshness that counts FRESHNESS_SHARE of the score; None leaves it out.
    """
    parts_of, share = _POLICIES[policy]
    parts = parts_of(candidates)
    if half_life is not None:
        parts = {name: (1.0 - FRESHNESS_SHARE) * part for name, part in parts.items()}
        parts["freshness"] = FRESHNESS_SHARE * freshness(candidates.age, half_life)
        share *= 1.0 - FRESHNESS_SHARE
    parts = {name: candidates.trust * part for name, part in parts.items()}
    plain = total(parts)
    diversity: Floats = np.ones(len(candidates))
    if share and k < len(candidates):
        rows, diversity = pick_diverse(plain, share, vectors, k, candidates.number)
    else:
        rows = np.lexsort((candidates.number, -plain - share))[:k]
        diversity = diversity[rows]
    parts = {name: part[rows] for name, part in parts.items()} | ({"diversity": share * diversity} if share else {})
    return Ranked(rows, plain[rows] + share * diversity, parts)


def total(parts: Mapping[str, Floats]) -> npt.NDArray[np.float64]:
    """Return the sum of the parts of each candidate's score."""
    return np.asarray(sum(parts.values()), dtype=np.float64)


def one_a_source(candidates: Candidates) -> npt.NDArray[np.bool_]:
    """Tell which candidates stay when of each source that is not trusted only the most relevant one does.

    So no such source can fill a result, whatever it stores.
    """
    stays: npt.NDArray[np.bool_] = candidates.source == 0
    if not stays.all():
        order = np.lexsort((candidates.number, -total(candidates.relevance)))
        _, first = np.unique(candidates.source[order], return_index=True)
        stays[order[first]] = True
    return stays


# -- policies ------------------------------------------------------------------------------------------------------


def relevance_parts(candidates: Candidates) -> Parts:
    """The default: the chance that it is about the query, times that it helps then, as far as evidence tells.

    It is shared out among the parts of its relevance.
    """
    relevance = total(candidates.relevance)
    chance = np.where(relevance >= LEAST_RELEVANCE, candidates.about, 0.0)
    believed = np.where(candidates.judged, candidates.confidence, UNKNOWN)
    share = chance * believed / np.maximum(relevance, LEAST_RELEVANCE)
    return {name: share * part for name, part in candidates.relevance.items()}


def similarity_parts(candidates: Candidates) -> Parts:
    """Cosine alone. Source: contextd's specification."""
    return {"similarity": candidates.similarity}


def weighted_parts(candidates: Candidates) -> Parts:
    """Success 0.4, usage 0.3, recency 0.2, context 0.1. Source: agentic-flow's architecture."""
    return {
        "success": 0.4 * candidates.confidence,
        "usage": 0.3 * saturation(candidates.usage),
        "recency": 0.2 * recency(candidates.age),
        "context": 0.1 * candidates.similarity,
    }


def four_factor_parts(candidates: Candidates) -> Parts:
    """Semantic 0.4, reliability 0.3, recency 0.2; the last 0.1 is diversity. Source: claude-flow's architecture."""
    return {
        "semantic": 0.4 * candidates.similarity,
        "reliability": 0.3 * candidates.confidence,
        "recency": 0.2 * recency(candidates.age),
    }


def mmr_parts(candidates: Candidates) -> Parts:
    """Relevance for maximal marginal relevance: cosine, so that it has the scale of the redundancy.

    Source: Carbonell & Goldstein 1998, eq. 1, with (1 - redundancy) in place of -redundancy: the same order, in [0, 1].
    """
    return {"similarity": MMR_LAMBDA * candidates.similarity}


def recency(days: Floats) -> Floats:
    """Return 1.0 for today, falling by a factor e every ten days. Source: claude-flow's architecture."""
    return np.exp(-0.1 * np.maximum(0.0, days))


def saturation(count: npt.NDArray[np.int64]) -> Floats:
    """Return how much `count` uses count for: 0 for none, 0.5 for ten, towards 1; it does not depend on the bank."""
    saturated: Floats = count / (count + 10.0)
    return saturated


def freshness(days: Floats, half_life: float) -> Floats:
    """Return 1.0 for a memory used now, 0.5 after one half-life (in days), never above 1."""
    fresh: Floats = np.minimum(1.0, np.exp2(-days / half_life))
    return fresh


# Each policy's parts before diversity, and what full diversity adds.
_POLICIES: Mapping[Policy, tuple[Callable[[Candidates], Parts], float]] = {
    "relevance": (relevance_parts, 0.0),
    "cautious": (relevance_parts, 0.0),
    "similarity": (similarity_parts, 0.0),
    "four_factor": (four_factor_parts, 0.1),
    "weighted": (weighted_parts, 0.0),
    "mmr": (mmr_parts, 1.0 - MMR_LAMBDA),
}
POLICIES: Final = tuple(_POLICIES)
DIVERSE: Final = ("four_factor", "mmr")


def pick_diverse(
    plain: Floats, share: float, vectors: Floats, k: int, number: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the `k` rows that are picked greedily by `plain + share * diversity`, in order, and the diversity of each.

    Diversity is 1 minus the greatest cosine with a row picked before, in [0, 1]. Ties go to the smaller number.
    """
    by_number = np.argsort(number, kind="stable")
    diversity = np.ones(len(plain))
    left = np.ones(len(plain), dtype=bool)
    picked: list[int] = []
    had: list[float] = []
    for _ in range(min(k, len(plain))):
        score = np.where(left, plain + share * diversity, -np.inf)
        row = int(by_number[np.argmax(score[by_number])])
        picked.append(row)
        had.append(float(diversity[row]))
        left[row] = False
        diversity = np.minimum(diversity, 1.0 - np.clip(vectors @ vectors[row], 0.0, 1.0))
    return np.array(picked, dtype=np.intp), np.array(had)
