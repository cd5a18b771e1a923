"""What the two legs find for a query, and how relevant each of it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reasoningbank.bm25 import best_first
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import EmbeddingError
from reasoningbank.relevance import (
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
from reasoningbank.services.engine import Engine
from reasoningbank.storage.filters import Filters
from reasoningbank.terms import query_terms
from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.verbatim import shared_grams, shared_words

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
    near, farthest = _nearest(engine, connection, query, filters, width)
    keyword = _keyword(engine, connection, query.text, filters, width)
    numbers = _passing(connection, near | keyword.keys(), filters)
    legs = _legs(engine, connection, query, numbers, keyword)
    fused = fuse(legs)
    overlap = _overlap(connection, query.text, numbers, fused.score)
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
    engine: Engine, connection: sqlite3.Connection, query: Query, filters: Filters, width: int
) -> tuple[set[int], float]:
    """Return the memories that own the nearest vectors, and the cosine of the farthest; -1 when there are no more."""
    if query.vector is None:
        return set(), -1.0
    allowed = _allowed(connection, filters) if filters.narrows else None
    pairs = engine.index.nearest(connection, query.vector, width, allowed)
    return {n for n, _ in pairs}, pairs[-1][1] if len(pairs) >= width else -1.0


def _allowed(connection: sqlite3.Connection, filters: Filters) -> Int64:
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT v.id FROM vectors AS v JOIN memories ON memories.n = v.memory WHERE {condition}", values
    )
    return np.array([row[0] for row in rows], dtype=np.int64)


def _keyword(
    engine: Engine, connection: sqlite3.Connection, text: str, filters: Filters, width: int
) -> dict[int, float]:
    """Return row number and BM25 score of the best matches."""
    rows, scores = engine.keywords.matches(connection, query_terms(text))
    if filters.narrows:
        passing = np.isin(rows, _passing(connection, rows.tolist(), filters), assume_unique=True)
        rows, scores = rows[passing], scores[passing]
    rows, scores = best_first(rows, scores, width)
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def _passing(connection: sqlite3.Connection, found: Iterable[int], filters: Filters) -> tuple[int, ...]:
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT n FROM memories WHERE n IN (SELECT value FROM json_each(?)) AND {condition} ORDER BY n",
        (json.dumps(list(found)), *values),
    )
    return tuple(n for (n,) in rows)


def _legs(
    engine: Engine, connection: sqlite3.Connection, query: Query, numbers: Sequence[int], keyword: dict[int, float]
) -> Legs:
    """Return the legs' arrays; each memory is represented by the vector of its that is nearest to the query."""
    scores = np.array([keyword.get(n, 0.0) for n in numbers], dtype=np.float32)
    dim = 1 if query.vector is None else len(query.vector)
    vectors = np.zeros((len(numbers), dim), dtype=np.float32)
    similarity = np.zeros(len(numbers), dtype=np.float32)
    if query.vector is None:
        return Legs(np.zeros(dim, dtype=np.float32), vectors, similarity, scores)
    place = {n: i for i, n in enumerate(numbers)}
    # The index of the table names the vectors, and the index in memory holds them: no row is read.
    rows = connection.execute(
        "SELECT memory, id FROM vectors WHERE generation = (SELECT generation FROM generations "
        "WHERE state = 'current') AND memory IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    ).fetchall()
    if not rows:
        return Legs(query.vector, vectors, similarity, scores)
    stored = engine.index.vectors(connection, [number for _, number in rows])
    cosines = np.clip(stored @ query.vector, 0.0, 1.0)
    for i in np.argsort(cosines, kind="stable").tolist():
        at = place[rows[i][0]]
        vectors[at], similarity[at] = stored[i], cosines[i]
    return Legs(query.vector, vectors, similarity, scores)


@dataclass(frozen=True, slots=True)
class _Overlap:
    """What the leading candidates' texts have in common with the query's; the others have nothing, and are trusted."""

    shared: Floats
    words: Floats
    trusted: Mask


def _overlap(connection: sqlite3.Connection, text: str, numbers: Sequence[int], score: Floats) -> _Overlap:
    nothing = np.zeros(len(numbers), dtype=np.float32)
    overlap = _Overlap(nothing, nothing.copy(), np.ones(len(numbers), dtype=bool))
    place = {numbers[i]: i for i in np.argsort(-score, kind="stable")[:TEXTS].tolist()}
    rows = connection.execute(
        "SELECT n, trusted, terms.text, applies_when || char(10) || title || char(10) || description || char(10) "
        "|| content FROM memories JOIN terms ON terms.rowid = n WHERE n IN (SELECT value FROM json_each(?))",
        (json.dumps(list(place)),),
    ).fetchall()
    at = [place[row[0]] for row in rows]
    overlap.trusted[at] = [bool(row[1]) for row in rows]
    overlap.words[at] = shared_words(query_terms(text), [row[2] for row in rows])
    overlap.shared[at] = shared_grams(text, [row[3] for row in rows])
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
