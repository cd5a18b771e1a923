"""Relevance: how two legs, read together, say which memories fit a query, and whether any does.

Everything is a pure function over aligned arrays: row i of each is the same candidate. What was tried and what it gave:
docs/benchmarks/ranking.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

# Any precision: numpy decides which one a formula ends in, and the next one takes either.
Floats: TypeAlias = npt.NDArray[np.floating]
Mask: TypeAlias = npt.NDArray[np.bool_]

# The vector of a long query is of many things, and its words are still its words: from so many characters to so many.
DENSE_SHARE, DENSE_SHARE_OF_LONG, LONG_FROM, LONG_TO = 0.7, 0.3, 500, 1_000
# A leg's scores are stretched between its best and its WIDTH-th; cosines that lie closer than that are nearly equal.
WIDTH: Final = 64
LEAST_SPREAD: Final = 0.25
CENTRE_OF: Final = 40
CENTRE_SHARE: Final = 0.4
FEEDBACK: Final = 0.4
FEEDBACK_SHARPNESS: Final = 50.0
VERBATIM: Final = 1.2
FULL: Final = 1.0 + FEEDBACK + VERBATIM
# The texts of this many candidates are compared with the query word for word; some are of the best by keyword alone, so
# that a match of the one rare word is looked at however poor its cosine is.
LEADERS: Final = 20
LEADERS_BY_KEYWORD: Final = 4
# The chance that a memory is about the query, by its relevance: fitted to the dev halves of six retrieval sets, where
# often one document is right, and moved by 0.9 since others of its topic help, too (docs/benchmarks/choosing.md).
ABOUT_SLOPE: Final = 11.0
ABOUT_OFFSET: Final = -4.5
# Relevance is stretched between the best and the WIDTH-th: the last of a few may well be about the query, too.
ABOUT_OF_FEW: Final = 1.5
# Multiplications up to which OpenBLAS starts no threads.
ONE_THREAD: Final = 1 << 18

# The strength of a match: its cosine, as MiniLM would put it, and some of what it shares with the query.
VERBATIM_STRENGTH: Final = 0.3
WORDS_STRENGTH: Final = 0.2
KEEP_FROM: Final = 0.20
KEEP_WORDS: Final = 0.5
# A bank that has an answer has more than one memory that is somewhat near to the query.
SUPPORTERS: Final = 10
SUPPORT: Final = 0.5
# The strongest of more memories is stronger by chance, by the logarithm: so do the lines rise, up to those of many.
# Below the lower one nothing is about the query; below the upper one, most likely nothing.
A_LOG: Final = 0.065
UNRELATED_OF_ONE, UNRELATED_BELOW = 0.0, 0.42
WEAK_OF_ONE, WEAK_BELOW = 0.06, 0.46
FEW, MANY = 12, 1_000  # fewer than these were not measured, and the lines do not rise beyond the others
SAMPLE: Final = 64
FEWEST_TO_TELL: Final = 16


@dataclass(frozen=True, slots=True)
class Legs:
    """What the two legs say of the candidates.

    Attributes:
        query: (dim,) unit vector of the query; zeros when it could not be embedded.
        vectors: (n, dim) unit rows: of each candidate's vectors the one nearest to the query; zeros where it has none.
        similarity: (n,) their cosines with the query, in [0, 1].
        keyword: (n,) BM25 scores; 0 where no term matches, or where the leg did not list the candidate.
    """

    query: Floats
    vectors: Floats
    similarity: Floats
    keyword: Floats


@dataclass(frozen=True, slots=True)
class Centred:
    """The candidates' vectors without a common centre, as unit vectors. They are worked with, and never made.

    Attributes:
        vectors: (n, dim) unit rows, as they were.
        centre: (dim,) what is taken out of each.
        lengths: (n,) of what is left of each.
    """

    vectors: Floats
    centre: Floats
    lengths: Floats

    def products(self, row: Floats) -> Floats:
        """Return the (n,) inner products of the rows with one more."""
        products: Floats = (self.vectors @ row - self.centre @ row) / self.lengths
        return products

    def mixture(self, weights: Floats) -> Floats:
        """Return the (dim,) sum of the rows with these weights."""
        weights = weights / self.lengths
        mixed: Floats = weights @ self.vectors - weights.sum() * self.centre
        return mixed


@dataclass(frozen=True, slots=True)
class Fused:
    """What the two legs give together, before any text is looked at.

    Attributes:
        dense: (n,) the dense leg's share.
        keyword: (n,) the keyword leg's share; with `dense`, at most 1.
        centred: the candidates' vectors.
    """

    dense: Floats
    keyword: Floats
    centred: Centred

    @property
    def score(self) -> Floats:
        """(n,) both shares together, in [0, 1]."""
        return self.dense + self.keyword


@dataclass(frozen=True, slots=True)
class Relevance:
    """The parts of each candidate's relevance; they add up to at most 1. Comparable within one query only."""

    dense: Floats
    keyword: Floats
    verbatim: Floats
    feedback: Floats

    @property
    def total(self) -> Floats:
        """(n,) the relevance of each candidate, in [0, 1]."""
        return self.dense + self.keyword + self.verbatim + self.feedback

    def parts(self, rows: npt.NDArray[np.intp]) -> dict[str, Floats]:
        """Return the parts of these candidates, by name."""
        parts = {"dense": self.dense, "keyword": self.keyword, "verbatim": self.verbatim, "feedback": self.feedback}
        # A matrix product sums equal rows differently, depending on where they stand; equals must tie.
        return {name: np.round(part[rows].astype(np.float64), 6) for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Gate:
    """Which candidates may be relevant at all.

    Attributes:
        strength: of the strongest match and of those that support it, from 0, about 1 where memories surely are about
            the query.
        weak: even the strongest is doubtful.
        unrelated: nothing is about the query, as far as the embedder is known to tell.
    """

    keep: Mask
    strength: float
    weak: bool
    unrelated: bool


def fuse(legs: Legs, length: int = 0) -> Fused:
    """Return what the two legs give together for a query of so many characters."""
    candidates = centred(legs)
    dense, keyword = legs.similarity, legs.keyword
    if dense.any():
        query = legs.query - candidates.centre
        dense = scaled(candidates.products(query / math.sqrt(query @ query)), LEAST_SPREAD)
    if keyword.any():
        keyword = scaled(keyword, 0.0)
    long = min(max(0.0, (length - LONG_FROM) / (LONG_TO - LONG_FROM)), 1.0)
    share = DENSE_SHARE + long * (DENSE_SHARE_OF_LONG - DENSE_SHARE)
    return Fused(share * dense, (1.0 - share) * keyword, candidates)


def leaders(fused: Fused) -> list[int]:
    """Return the rows of the LEADERS candidates whose texts are worth a look, in no particular order."""
    score = fused.score
    by_keyword = np.argsort(-fused.keyword, kind="stable")[:LEADERS_BY_KEYWORD]
    score[by_keyword] += fused.keyword[by_keyword] > 0.0
    rows: list[int] = np.argsort(-score, kind="stable")[:LEADERS].tolist()
    return rows


def without_echoes(fused: Fused, shared: Floats) -> Fused:
    """Return the legs' shares without credit for repeating the query.

    A planted memory that copies the question it waits for is near to it in both legs. From half of the query on, the
    more it repeats, the less its nearness counts; a whole copy counts for nothing. `shared` is (n,) from shared_grams()
    for the memories of untrusted sources; 0 for all others.
    """
    credit = np.clip(2.0 * (1.0 - shared), 0.0, 1.0)
    return Fused(fused.dense * credit, fused.keyword * credit, fused.centred)


def settle(fused: Fused, shared: Floats) -> Relevance:
    """Return the final relevance: the legs, what is shared word for word, and feedback from those that lead then.

    `shared` is (n,), what each says of the query word for word, in [0, 1]; 0 where its text was not looked at, or is
    not trusted.
    """
    verbatim = VERBATIM * shared**3
    echoed = FEEDBACK * feedback(fused.score + verbatim, fused.centred)
    return Relevance(fused.dense / FULL, fused.keyword / FULL, verbatim / FULL, echoed / FULL)


def scaled(values: Floats, least_spread: float) -> Floats:
    """Return `values` in [0, 1]: the greatest is 1, the WIDTH-th greatest (or the least) and all below are 0.

    Values closer together than `least_spread` keep that distance. Equal values are all 1.
    """
    ordered = np.sort(values)
    greatest = ordered[-1]
    spread = max(float(greatest - ordered[-min(WIDTH, ordered.size)]), least_spread)
    if spread <= 0.0:
        return np.ones_like(values)
    stretched: Floats = np.maximum(1.0 - (greatest - values) / spread, 0.0)
    return stretched


def centred(legs: Legs) -> Centred:
    """Return the candidates' vectors without a share of the centre of those nearest to the query.

    What all of the nearest have in common does not tell them apart, and it favours the memories that are near to
    everything (hubs). Source: Suzuki et al. 2013, "Centering similarity measures to reduce hubs", applied locally.
    """
    vectors, similarity = legs.vectors, legs.similarity
    # With all that are as near as the last of them: the order of rows does not matter then.
    nearest = similarity >= np.sort(similarity)[-CENTRE_OF:].min(initial=1.0)
    centre = (nearest * np.float32(CENTRE_SHARE / max(1, int(nearest.sum())))) @ vectors
    # Of unit rows; those of zeros are near to nothing, whatever length they are said to have.
    lengths = np.sqrt(1.0 + centre @ centre - 2.0 * (vectors @ centre))
    return Centred(vectors, centre, lengths)


def inner_products(vectors: Floats) -> Floats:
    """Return the (n, n) inner products of rows, computed on the calling thread alone.

    In one product, BLAS would share the work among all cores: 0.1 ms of it, which becomes 10 where another process
    uses one of them. It does not for a few rows at a time.
    """
    count, dim = vectors.shape
    rows = max(1, ONE_THREAD // max(1, count * dim))
    slabs = np.zeros((-(-count // rows) * rows, dim), dtype=vectors.dtype)
    slabs[:count] = vectors
    products: Floats = np.matmul(slabs.reshape(-1, rows, dim), vectors.T).reshape(-1, count)[:count]
    return products


def feedback(score: Floats, candidates: Centred) -> Floats:
    """Return how near each candidate is to those that lead, in [0, 1]; a close race spreads the weight.

    Source: pseudo-relevance feedback with relevance-model weights (Lavrenko & Croft 2001), on vectors.
    """
    if not score.size:
        return score
    weights = np.exp(FEEDBACK_SHARPNESS * (score - score.max()))
    near: Floats = np.maximum(candidates.products(candidates.mixture(weights / weights.sum())), 0.0)
    return near


@dataclass(frozen=True, slots=True)
class Scale:
    """How to read an embedder's cosines.

    Attributes:
        unrelated: what texts have that have nothing to do with each other.
        related: from where on they certainly have.
        sure: texts that are related in meaning were measured to be told from others by it.
    """

    unrelated: float = 0.0
    related: float = 1.0
    sure: bool = False

    def read(self, similarity: Floats) -> Floats:
        """Return cosines as MiniLM would put them: 0 for unrelated texts."""
        return (similarity - self.unrelated) / (self.related - self.unrelated)


def known_scale(embedder: str, dim: int) -> Scale | None:
    """Return how to read the cosines of an embedder that was measured; None for others."""
    if embedder == "minilm":
        return Scale(sure=True)
    if embedder == "hash":
        # Hashes see shared words only, so less of a cosine says more; what collides by chance falls with the root of
        # the dimension.
        chance = min(0.5, 2.0 / math.sqrt(dim))
        return Scale(chance, chance + 0.45)
    return None


def measured_scale(sample: Floats) -> Scale:
    """Return how to read the cosines of an embedder that is not known, by what the bank's most unlike memories have.

    `sample` is (n, dim), some of the bank's unit vectors; with few of them, cosines are taken as they are.
    """
    if len(sample) < FEWEST_TO_TELL:
        return Scale()
    pairs = inner_products(sample)[np.triu_indices(len(sample), 1)]
    # np.quantile would load numpy.ma, which takes as long as a dozen searches.
    tenth = float(np.interp(0.1 * (pairs.size - 1), np.arange(pairs.size), np.sort(pairs)))
    return Scale(unrelated=min(max(tenth, 0.0), 0.9))


def gate(similarity: Floats, shared: Floats, words: Floats, scale: Scale, among: int = MANY) -> Gate:
    """Tell which candidates may be relevant at all. In doubt one is kept: whoever asks sees that it is weak.

    By their (n,) cosines in [0, 1], the (n,) results of shared_grams() and shared_words(), and how many memories they
    are the best of.
    """
    overlap = VERBATIM_STRENGTH * shared + WORDS_STRENGTH * words
    read = scale.read(similarity)
    keep = (np.maximum(similarity, read) + overlap >= KEEP_FROM) | (words >= KEEP_WORDS)
    strongest = float((read + overlap).max(initial=0.0))
    strength = (strongest + SUPPORT * _support(read)) / (1.0 + SUPPORT)
    by_chance = A_LOG * math.log(max(FEW, among))
    unrelated = scale.sure and strength < min(UNRELATED_BELOW, UNRELATED_OF_ONE + by_chance)
    return Gate(
        keep=keep,
        strength=strength,
        weak=strength < min(WEAK_BELOW, WEAK_OF_ONE + by_chance),
        unrelated=unrelated and not bool((words >= KEEP_WORDS).any()),
    )


def gated(legs: Legs, shared: Floats, words: Floats, scale: Scale, among: int = MANY) -> Gate:
    """Return which candidates pass the gate. Where there is no vector to tell by, a keyword match passes."""
    decided = gate(legs.similarity, shared, words, scale, among)
    blind = ~legs.vectors.any(axis=1) & (legs.keyword > 0.0)
    return replace(decided, keep=decided.keep | blind, unrelated=decided.unrelated and not bool(blind.any()))


def _support(read: Floats) -> float:
    """Return the mean of the greatest SUPPORTERS cosines, or of all where there are fewer."""
    greatest = np.maximum(np.sort(read)[-SUPPORTERS:], 0.0)
    return float(greatest.sum()) / max(1, greatest.size)


def is_beyond(farthest: float, scale: Scale) -> bool:
    """Tell whether memories that are still farther from the query than a cosine can no longer pass the gate by it."""
    return max(farthest, float(scale.read(np.array([farthest]))[0])) < KEEP_FROM


def about(relevance: Floats, among: int = WIDTH) -> npt.NDArray[np.float64]:
    """Return the chance that memories are about the query, in (0, 1), by their relevance in [0, 1] among so many."""
    offset = ABOUT_OFFSET + ABOUT_OF_FEW * max(0.0, 1.0 - among / WIDTH)
    chance: npt.NDArray[np.float64] = 1.0 / (1.0 + np.exp(-offset - ABOUT_SLOPE * relevance))
    return chance
