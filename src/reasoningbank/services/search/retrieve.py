"""The way out: embed, find candidates, load, rank."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from reasoningbank.belief.belief import Standing, standing
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Source, clean_text, is_blank
from reasoningbank.results import Hit, SearchResult
from reasoningbank.screening.scrub import scrub
from reasoningbank.search.ranking import POLICIES, Candidate, Policy, Ranked, one_a_source, rank
from reasoningbank.search.selection import Prospect, select
from reasoningbank.services.cache.known import Known
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.candidates import Pool, embedded_query, find
from reasoningbank.services.search.shown import look_up, own
from reasoningbank.storage import records
from reasoningbank.storage.filters import Filters

FEWEST_CANDIDATES = 64
CANDIDATES_A_HIT = 8
# These look at nothing but the legs, so only the best by these are loaded.
BY_RELEVANCE, BY_SIMILARITY = ("relevance",), ("similarity", "mmr")
FEWEST_LOADED = 24
LOADED_A_HIT = 4


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
    return policy


def search(engine: Engine, query: str, wanted: Wanted) -> SearchResult:
    """Find the memories that fit a query; nothing is changed.

    Candidates widen until k of them survive the filters, the classes and the gate, or the bank is exhausted.
    """
    if engine.project() is None:
        return SearchResult()
    return engine.with_embedder(lambda embedder: _search(engine, embedder, query, wanted))


def _search(engine: Engine, embedder: Embedder, text: str, wanted: Wanted) -> SearchResult:
    query, degraded = embedded_query(engine, embedder, text)
    with engine.read() as connection:
        if connection is None:
            return SearchResult()
        if query.vector is not None:
            engine.generation(connection, embedder.identity)
        # Counting reads every row: only a k that could be more than all there is needs it.
        total = records.count(connection, Filters()) if wanted.k > FEWEST_CANDIDATES else wanted.k
        width = max(FEWEST_CANDIDATES, CANDIDATES_A_HIT * min(wanted.k, total))
        while True:
            pool = find(engine, connection, query, wanted.filters, width)
            hits, withheld = _best(engine, connection, pool, wanted)
            if pool.exhausted or len(hits) >= wanted.k:
                return SearchResult(tuple(hits), withheld, pool.weak, degraded, pool.strength)
            width *= 4


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A candidate's row in the pool, with what is known of the memory."""

    row: int
    known: Known


def _best(
    engine: Engine, connection: sqlite3.Connection, pool: Pool, wanted: Wanted
) -> tuple[list[Hit], dict[str, int]]:
    """Return the best `k` of a pool, and how many were withheld for which reason."""
    relevant = _in_order(pool, wanted.policy)
    dropped = len(pool.numbers) - len(relevant)
    looked_at = max(FEWEST_LOADED, LOADED_A_HIT * wanted.k)
    while True:
        withheld = Counter({"irrelevant": dropped} if dropped else {})
        loaded = _loaded(engine, connection, pool, relevant[:looked_at])
        hits = _hits(engine, pool, loaded, wanted, withheld)
        if len(hits) >= wanted.k or looked_at >= len(relevant):
            return hits, dict(withheld)
        looked_at *= 4


def _in_order(pool: Pool, policy: Policy) -> Sequence[int]:
    """Return the rows that pass the gate, the likeliest first where the policy tells which those are."""
    passed = np.flatnonzero(pool.keep)
    if policy in BY_RELEVANCE:
        passed = passed[np.argsort(-pool.relevance.total[passed], kind="stable")]
    elif policy in BY_SIMILARITY:
        passed = passed[np.argsort(-pool.similarity[passed], kind="stable")]
    return passed.tolist()


def _loaded(engine: Engine, connection: sqlite3.Connection, pool: Pool, rows: Sequence[int]) -> list[_Loaded]:
    numbers = {pool.numbers[row]: row for row in rows}
    known = look_up(engine, connection, list(numbers))
    return [_Loaded(numbers[n], each) for n, each in known.items()]


def _hits(engine: Engine, pool: Pool, loaded: Sequence[_Loaded], wanted: Wanted, withheld: Counter[str]) -> list[Hit]:
    by_id = {each.known.stored.id: each for each in loaded}
    candidates = _candidates(pool, loaded)
    spread = one_a_source(candidates)
    if len(spread) < len(candidates):
        withheld["untrusted source"] += len(candidates) - len(spread)
    ranked = _ranked(engine, pool, by_id, spread, wanted)
    best = max((r.score for r in ranked), default=1.0) or 1.0
    chosen = select(
        [_prospect(by_id[r.candidate.id], r, best) for r in ranked],
        k=wanted.k,
        floor=wanted.floor,
        strict=wanted.strict,
    )
    withheld.update(chosen.withheld)
    proven = [_hit(by_id[r.candidate.id], r, provisional=False) for r in chosen.proven]
    return proven + [_hit(by_id[r.candidate.id], r, provisional=True) for r in chosen.provisional]


def _ranked(
    engine: Engine, pool: Pool, by_id: Mapping[str, _Loaded], candidates: Sequence[Candidate], wanted: Wanted
) -> list[Ranked]:
    """Rank proven candidates and the others, each among themselves: diversity is about what is shown together."""
    proven = [standing(by_id[c.id].known.belief, wanted.floor) is Standing.PROVEN for c in candidates]
    ranked, now, half_life = [], engine.now(), _half_life(engine)
    for stands, k in ((True, wanted.k), (False, len(candidates))):
        chosen = [c for c, is_proven in zip(candidates, proven, strict=True) if is_proven is stands]
        vectors = pool.vectors[[by_id[c.id].row for c in chosen]]
        ranked += rank(wanted.policy, chosen, k=k, now=now, vectors=vectors, half_life=half_life)
    return ranked


def _half_life(engine: Engine) -> timedelta | None:
    days = engine.settings.half_life_days
    return None if days is None else timedelta(days=days)


def _prospect(loaded: _Loaded, ranked: Ranked, best: float) -> Prospect[Ranked]:
    return Prospect(
        key=ranked,
        score=ranked.score / best,
        belief=loaded.known.belief,
        shown=loaded.known.stored.usage_count,
        judged=loaded.known.judged,
        blamed=loaded.known.blamed,
    )


def _candidates(pool: Pool, loaded: Sequence[_Loaded]) -> list[Candidate]:
    rows = [each.row for each in loaded]
    parts = pool.relevance.parts(rows)
    similarity, keyword = pool.similarity[rows].tolist(), pool.keyword[rows].tolist()
    return [
        Candidate(
            id=each.known.stored.id,
            similarity=similarity[i],
            keyword=keyword[i],
            relevance=parts[i],
            confidence=each.known.belief.mean,
            usage_count=each.known.stored.usage_count,
            touched=each.known.stored.touched,
            source=_stranger(each.known.stored.source),
        )
        for i, each in enumerate(loaded)
    ]


def _stranger(source: Source) -> str | None:
    return None if source.trusted else source.by or source.session or source.how


def _hit(loaded: _Loaded, ranked: Ranked, *, provisional: bool) -> Hit:
    return Hit(
        memory=own(loaded.known.memory),
        similarity=ranked.candidate.similarity,
        keyword=ranked.candidate.keyword,
        score=ranked.score,
        confidence=loaded.known.belief.mean,
        deviation=loaded.known.belief.deviation,
        provisional=provisional,
        why=ranked.why,
    )
