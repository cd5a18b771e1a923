"""The way out: embed, search both ways, fuse, load, filter, rank."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from reasoningbank.confidence import Belief, Standing, standing
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import EmbedderMismatchError, EmbeddingError, InvalidInputError
from reasoningbank.memory import Memory, clean_text, is_blank
from reasoningbank.ranking import POLICIES, Candidate, Policy, fuse, gate, rank
from reasoningbank.results import Hit, SearchResult
from reasoningbank.scrub import scrub
from reasoningbank.services.engine import Engine
from reasoningbank.services.shown import look_up, own
from reasoningbank.storage import records
from reasoningbank.storage.filters import Filters
from reasoningbank.storage.frequencies import rarest
from reasoningbank.terms import match_expression, query_terms

Float32 = npt.NDArray[np.float32]

FEWEST_CANDIDATES = 64
CANDIDATES_A_HIT = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is to return.

    Attributes:
        floor: confidence from which a memory is proven.
        strict: proven memories only.
    """

    k: int
    floor: float
    strict: bool
    filters: Filters
    policy: Policy


@dataclass(frozen=True, slots=True)
class _Found:
    """A memory that a leg found, with what is known of it."""

    n: int
    memory: Memory
    belief: Belief
    similarity: float
    keyword: float


def checked_query(query: object) -> str:
    """Return a query that can be searched for, without secrets.

    Raises:
        InvalidInputError: it is no text, or holds nothing to search for.
    """
    if not isinstance(query, str) or is_blank(query):
        raise InvalidInputError(f"query {query!r:.80} holds nothing to search for: describe the task in words")
    return scrub(clean_text(query)).text


def checked_floor(floor: object) -> float:
    """Return a confidence floor.

    Raises:
        InvalidInputError: it is not a number from 0 to 1.
    """
    if isinstance(floor, bool) or not isinstance(floor, (int, float)) or not 0.0 <= floor <= 1.0:
        raise InvalidInputError(f"min_confidence {floor!r} is not a number from 0 to 1")
    return float(floor)


def checked_k(k: object) -> int:
    """Return how many hits are wanted.

    Raises:
        InvalidInputError: it is not a whole number of at least 1.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInputError(f"k {k!r} is not a whole number of at least 1: say how many memories are wanted")
    return k


def checked_policy(policy: str) -> Policy:
    """Return a policy's name.

    Raises:
        InvalidInputError: there is no such policy; all are named.
    """
    if policy not in POLICIES:
        raise InvalidInputError(f"no policy {policy!r}: use one of {', '.join(POLICIES)}")
    return cast(Policy, policy)


def search(engine: Engine, query: str, wanted: Wanted) -> SearchResult:
    """Find the memories that fit a query; nothing is changed.

    Candidates widen until k of them survive the filters, the classes and the gate, or the bank is exhausted.
    """
    with engine.read() as connection:
        if connection is None:
            return SearchResult()
    return engine.with_embedder(lambda embedder: _search(engine, embedder, query, wanted))


def _search(engine: Engine, embedder: Embedder, query: str, wanted: Wanted) -> SearchResult:
    vector, degraded = _embedded(engine, embedder, query)
    with engine.read() as connection:
        if connection is None:
            return SearchResult()
        if vector is not None:
            engine.generation(connection, embedder.identity)
        # Counting reads every row: only a k that could be more than all there is needs it.
        total = records.count(connection, Filters()) if wanted.k > FEWEST_CANDIDATES else wanted.k
        width = max(FEWEST_CANDIDATES, CANDIDATES_A_HIT * min(wanted.k, total))
        while True:
            found, exhausted = _candidates(engine, connection, query, vector, wanted.filters, width)
            result = _ranked(engine, found, wanted)
            if exhausted or len(result.hits) >= wanted.k:
                return SearchResult(result.hits, result.withheld, result.weak, degraded)
            width *= 4


def _embedded(engine: Engine, embedder: Embedder, query: str) -> tuple[Float32 | None, tuple[str, ...]]:
    try:
        return engine.embed_query(embedder, query), ()
    except EmbedderMismatchError:
        raise
    except EmbeddingError as error:
        return None, (f"the query was not embedded ({error}); searched by keyword only",)


def _candidates(
    engine: Engine, connection: sqlite3.Connection, query: str, vector: Float32 | None, filters: Filters, width: int
) -> tuple[list[_Found], bool]:
    """Return what the two legs find among `width` each, and whether that is all there is."""
    allowed = _allowed(connection, filters) if filters.narrows else None
    dense: dict[int, float] = {}
    dense_rows = 0
    if vector is not None:
        pairs = engine.nearest(connection, vector, width, allowed)
        dense_rows = len(pairs)
        for n, cosine in pairs:
            dense.setdefault(n, min(1.0, max(0.0, cosine)))
    keyword = _keyword(connection, query, filters, width)
    rows = look_up(engine, connection, list(dense.keys() | keyword.keys()))
    missing = [n for n in rows if n not in dense]
    if vector is not None and missing:
        dense |= _cosines(connection, vector, missing)
    found = [
        _Found(n, known.memory, known.belief, dense.get(n, 0.0), keyword.get(n, 0.0))
        for n, known in rows.items()
        if known.memory.state in filters.states
    ]
    return found, dense_rows < width and len(keyword) < width


def _allowed(connection: sqlite3.Connection, filters: Filters) -> npt.NDArray[np.int64]:
    condition, values = filters.clause()
    rows = connection.execute(
        f"SELECT v.id FROM vectors AS v JOIN memories ON memories.n = v.memory WHERE {condition}", values
    )
    return np.array([row[0] for row in rows], dtype=np.int64)


def _keyword(connection: sqlite3.Connection, query: str, filters: Filters, width: int) -> dict[int, float]:
    expression = match_expression(rarest(connection, query_terms(query)))
    if not expression:
        return {}
    condition, values = filters.clause()
    rows = connection.execute(
        "SELECT memories.n, -bm25(terms) FROM terms JOIN memories ON memories.n = terms.rowid "
        f"WHERE terms MATCH ? AND {condition} ORDER BY rank LIMIT ?",
        (expression, *values, width),
    )
    return {n: max(0.0, score) for n, score in rows}


def _cosines(connection: sqlite3.Connection, vector: Float32, numbers: list[int]) -> dict[int, float]:
    """Return the cosine of memories that only the keyword leg found."""
    found: dict[int, float] = {}
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(
        "SELECT memory, vector FROM vectors WHERE generation = (SELECT generation FROM generations "
        f"WHERE state = 'current') AND memory IN ({marks})",
        numbers,
    )
    for n, stored in rows:
        cosine = float(np.frombuffer(stored, dtype=np.float32) @ vector)
        found[n] = max(found.get(n, 0.0), min(1.0, max(0.0, cosine)))
    return found


def _ranked(engine: Engine, found: list[_Found], wanted: Wanted) -> SearchResult:
    withheld: Counter[str] = Counter()
    kept = _relevant(found, withheld)
    proven, provisional = [], []
    for candidate in kept.rows:
        stands = standing(candidate.belief, wanted.floor)
        if stands is Standing.PROVEN:
            proven.append(candidate)
        elif stands is Standing.REJECTED or wanted.strict:
            withheld[stands.value] += 1
        else:
            provisional.append(candidate)
    hits = _hits(engine, proven, wanted.k, wanted.policy, kept.relevance, provisional=False)
    left = wanted.k - len(hits)
    if left:
        hits += _hits(engine, provisional, left, wanted.policy, kept.relevance, provisional=True)
    return SearchResult(tuple(hits), dict(withheld), weak=kept.weak)


@dataclass(frozen=True, slots=True)
class _Relevant:
    rows: list[_Found]
    relevance: dict[int, float]
    weak: bool


def _relevant(found: list[_Found], withheld: Counter[str]) -> _Relevant:
    similarity = np.array([f.similarity for f in found], dtype=np.float32)
    keyword = np.array([f.keyword for f in found], dtype=np.float32)
    decided = gate(similarity)
    keep_rows = decided.keep | (keyword > 0.0)
    fused = fuse(similarity, keyword)
    rows = [f for f, keep in zip(found, keep_rows, strict=True) if keep]
    if len(rows) < len(found):
        withheld["irrelevant"] += len(found) - len(rows)
    return _Relevant(rows, {f.n: float(r) for f, r in zip(found, fused, strict=True)}, decided.weak)


def _hits(
    engine: Engine, found: list[_Found], k: int, policy: Policy, relevance: dict[int, float], *, provisional: bool
) -> list[Hit]:
    by_id = {f.memory.id: f for f in found}
    candidates = [
        Candidate(
            id=f.memory.id,
            similarity=f.similarity,
            keyword=f.keyword,
            relevance=relevance[f.n],
            confidence=f.belief.mean,
            usage_count=f.memory.usage_count,
            touched=f.memory.last_used or f.memory.updated_at,
        )
        for f in found
    ]
    vectors = np.zeros((len(found), 1), dtype=np.float32)
    hits = []
    for ranked in rank(policy, candidates, k=k, now=engine.now(), vectors=vectors):
        f = by_id[ranked.candidate.id]
        hits.append(
            Hit(
                memory=own(f.memory),
                similarity=f.similarity,
                keyword=f.keyword,
                score=ranked.score,
                confidence=f.belief.mean,
                deviation=f.belief.deviation,
                provisional=provisional,
                why=ranked.why,
            )
        )
    return hits
