"""What the two legs find for a query, and how relevant each of it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reasoningbank.embed.base import Embedder
from reasoningbank.errors import EmbeddingError
from reasoningbank.search.bm25 import best_first
from reasoningbank.search.relevance import (
    Floats,
    Gate,
    Legs,
    Mask,
    Relevance,
    Scale,
    fuse,
    gate,
    is_beyond,
    known_scale,
    settle,
    without_echoes,
)
from reasoningbank.search.terms import query_terms
from reasoningbank.search.verbatim import shared_pieces, shared_words
from reasoningbank.services.cache.features import Features
from reasoningbank.services.cache.filtered import Passing
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.shown import look_up
from reasoningbank.storage.filters import Filters
from reasoningbank.vectors.base import Float32

# The texts of this many leading candidates are compared with the query word for word.
TEXTS = 20


@dataclass(frozen=True, slots=True)
class Query:
    """A query as both legs need it.

    Attributes:
        vector: (dim,) unit vector; None when it could not be embedded.
        embedder: whose vector it is.
    """

    text: str
    vector: Float32 | None
    embedder: str


def embedded_query(engine: Engine, embedder: Embedder, text: str) -> tuple[Query, tuple[str, ...]]:
    """Return a query with its vector, and in words what did not work: without a vector, keywords still find."""
    name = embedder.identity.name
    try:
        return Query(text, engine.embed_query(embedder, text), name), ()
    except EmbeddingError as error:
        return Query(text, None, name), (f"the query was not embedded ({error}); searched by keyword only",)


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates that pass the filters: aligned arrays, in ascending order of row number.

    Attributes:
        numbers: their row numbers.
        vectors: (n, dim) of each memory's vectors the one nearest to the query.
        keep: which of them may be relevant at all.
        strength: of the strongest match and those that support it, from 0 to about 1; 0 without a vector.
        weak: even the strongest is doubtful; never without a vector, since then nothing tells.
        exhausted: there is nothing else that could be relevant.
    """

    numbers: tuple[int, ...]
    vectors: Floats
    similarity: Floats
    keyword: Floats
    relevance: Relevance
    keep: Mask
    strength: float
    weak: bool
    exhausted: bool


def find(engine: Engine, connection: sqlite3.Connection, query: Query, filters: Filters, width: int) -> Pool:
    """Look at the best `width` of each leg."""
    passing = engine.filtered.passing(connection, filters) if filters.narrows else None
    near, farthest = _nearest(engine, connection, query, passing, width)
    terms = query_terms(query.text)
    keyword = _keyword(engine, connection, terms, passing, width)
    features = engine.features.features(connection, sorted(near | keyword.keys()))
    candidates = {n: each for n, each in features.items() if each[0] in filters.states}
    numbers = tuple(candidates)
    legs = _legs(engine, connection, query, candidates, keyword)
    fused = fuse(legs)
    overlap = _overlap(engine, connection, query.text, terms, numbers, fused.score)
    scale = _scale(engine, connection, query.embedder, legs.vectors.shape[1])
    decided = gated(legs, overlap.shared, overlap.words, scale)
    fused = without_echoes(fused, np.where(overlap.trusted, 0.0, overlap.shared))
    return Pool(
        numbers=numbers,
        vectors=legs.vectors,
        similarity=legs.similarity,
        keyword=legs.keyword,
        relevance=settle(fused, np.where(overlap.trusted, overlap.shared, 0.0)),
        keep=decided.keep,
        strength=0.0 if query.vector is None else decided.strength,
        weak=decided.weak and query.vector is not None,
        exhausted=is_beyond(farthest, scale) and (len(keyword) < width or query.vector is not None),
    )


def _nearest(
    engine: Engine, connection: sqlite3.Connection, query: Query, passing: Passing | None, width: int
) -> tuple[set[int], float]:
    """Return the memories that own the nearest vectors, and the cosine of the farthest; -1 when there are no more."""
    if query.vector is None:
        return set(), -1.0
    allowed = None if passing is None else passing.vectors
    pairs = engine.index.nearest(connection, query.vector, width, allowed)
    return {n for n, _ in pairs}, pairs[-1][1] if len(pairs) >= width else -1.0


def _keyword(
    engine: Engine, connection: sqlite3.Connection, terms: Sequence[str], passing: Passing | None, width: int
) -> dict[int, float]:
    """Return row number and BM25 score of the best matches."""
    rows, scores = engine.keywords.matches(connection, terms)
    if passing is not None:
        passes = passing.holds(rows)
        rows, scores = rows[passes], scores[passes]
    rows, scores = best_first(rows, scores, width)
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def _legs(
    engine: Engine,
    connection: sqlite3.Connection,
    query: Query,
    candidates: Mapping[int, Features],
    keyword: dict[int, float],
) -> Legs:
    """Return the legs' arrays; each memory is represented by the vector of its that is nearest to the query."""
    scores = np.array([keyword.get(n, 0.0) for n in candidates], dtype=np.float32)
    dim = 1 if query.vector is None else len(query.vector)
    vectors = np.zeros((len(candidates), dim), dtype=np.float32)
    similarity = np.zeros(len(candidates), dtype=np.float32)
    if query.vector is None:
        return Legs(np.zeros(dim, dtype=np.float32), vectors, similarity, scores)
    ids = [number for _, held in candidates.values() for number in held]
    if not ids:
        return Legs(query.vector, vectors, similarity, scores)
    owner = np.repeat(np.arange(len(candidates)), [len(held) for _, held in candidates.values()])
    # No row is read: the index in memory holds the vectors.
    stored = engine.index.vectors(connection, ids)
    cosines = np.clip(stored @ query.vector, 0.0, 1.0)
    order = np.argsort(cosines, kind="stable")
    nearest = np.full(len(candidates), -1)
    # Of several that are assigned to one place, the last one stays.
    nearest[owner[order]] = order
    has = nearest >= 0
    vectors[has], similarity[has] = stored[nearest[has]], cosines[nearest[has]]
    return Legs(query.vector, vectors, similarity, scores)


@dataclass(frozen=True, slots=True)
class _Overlap:
    """What the leading candidates' texts have in common with the query's; the others have nothing, and are trusted."""

    shared: Floats
    words: Floats
    trusted: Mask


def _overlap(
    engine: Engine,
    connection: sqlite3.Connection,
    text: str,
    terms: Sequence[str],
    numbers: Sequence[int],
    score: Floats,
) -> _Overlap:
    nothing = np.zeros(len(numbers), dtype=np.float32)
    overlap = _Overlap(nothing, nothing.copy(), np.ones(len(numbers), dtype=bool))
    place = {numbers[i]: i for i in np.argsort(-score, kind="stable")[:TEXTS].tolist()}
    stored = {n: known.stored for n, known in look_up(engine, connection, list(place)).items()}
    wordings = engine.features.wordings(connection, stored)
    at = [place[n] for n in wordings]
    overlap.trusted[at] = [each.source.trusted for each in stored.values()]
    overlap.words[at] = shared_words(terms, [each.terms for each in wordings.values()])
    overlap.shared[at] = shared_pieces(text, [each.pieces for each in wordings.values()])
    return overlap


def gated(legs: Legs, shared: Floats, words: Floats, scale: Scale) -> Gate:
    """Return which candidates pass the gate. Where there is no vector to tell by, a keyword match passes."""
    decided = gate(legs.similarity, shared, words, scale)
    blind = ~legs.vectors.any(axis=1) & (legs.keyword > 0.0)
    return replace(decided, keep=decided.keep | blind)


def _scale(engine: Engine, connection: sqlite3.Connection, embedder: str, dim: int) -> Scale:
    known = known_scale(embedder, dim)
    if known is not None:
        return known
    return engine.index.scale(connection)
