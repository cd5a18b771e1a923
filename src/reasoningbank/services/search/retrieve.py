"""The way out: find candidates by both legs, fuse, gate, rank, choose; a memory is looked at when it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from reasoningbank.belief.calibrated import Parameters
from reasoningbank.embed.base import Embedder
from reasoningbank.filters import SERVED, Filters
from reasoningbank.memory import State, own
from reasoningbank.results import EXPIRED, HARMFUL, Hit, SearchResult
from reasoningbank.search.bm25 import best_first, once
from reasoningbank.search.cautious import Standings, cautious
from reasoningbank.search.ranking import DIVERSE, SECONDS_A_DAY, Candidates, Policy, Ranked, one_a_source, rank, total
from reasoningbank.search.relevance import (
    Floats,
    Legs,
    Mask,
    Relevance,
    about,
    fuse,
    gated,
    is_beyond,
    known_scale,
    leaders,
    settle,
    without_echoes,
)
from reasoningbank.search.selection import BLAMED, SELDOM, Prospects, alike, chances, exploring, select, surely_harms
from reasoningbank.search.verbatim import said_again, shared_pieces, shared_words
from reasoningbank.services.cache.columns import Table
from reasoningbank.services.cache.project import STATES
from reasoningbank.services.cache.queries import Query
from reasoningbank.services.engine import Engine
from reasoningbank.services.search import left_out
from reasoningbank.services.view import View
from reasoningbank.storage import records
from reasoningbank.vectors.base import Float32, Int64

ACTIVE = STATES.index(State.ACTIVE)
Places = npt.NDArray[np.intp]

FEWEST_CANDIDATES, CANDIDATES_A_HIT = 64, 8
# These look at nothing but the legs, so only the best by these are looked at.
BY_RELEVANCE, BY_SIMILARITY = ("relevance", "cautious"), ("similarity", "mmr")
FEWEST_LOOKED_AT, LOOKED_AT_A_HIT = 24, 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is to return.

    Attributes:
        floor, strict: confidence from which a memory is proven; proven ones only.
        cost: of handing one out, as a share of what one that helps is worth.
        among: of how many the strongest must be clearly the best; 0 for as many as there are.
    """

    k: int
    floor: float
    strict: bool
    filters: Filters
    policy: Policy
    cost: float = 0.0
    weak: str = "give"  # what becomes of hits of which none is clearly relevant: "omit", "mark" or "give"
    among: int = 0


def search(engine: Engine, text: str, wanted: Wanted) -> SearchResult:
    """Find the memories that fit a query; nothing is changed."""
    if engine.project() is None:
        return SearchResult()

    def attempt(embedder: Embedder) -> SearchResult:
        query = engine.queries.query(embedder, text)
        with engine.read() as view:
            return find(view, query, wanted)[0]

    return engine.with_embedder(attempt)


def find(view: View, query: Query, wanted: Wanted) -> tuple[SearchResult, tuple[int, ...]]:
    """Find the memories that fit a query, with their row numbers.

    Candidates widen until k of them survive the filters, the classes and the gate, or the bank is exhausted.

    Raises:
        EmbedderMismatchError: the vectors there are of another embedder.
    """
    if query.vector is not None:
        view.check_embedder(query.embedder)
    view.engine.cache.follow(view)
    # Counting reads every row: only a k that could be more than all there is needs it.
    many = records.count(view, SERVED) if wanted.k > FEWEST_CANDIDATES else wanted.k
    width = max(FEWEST_CANDIDATES, CANDIDATES_A_HIT * min(wanted.k, many))
    while True:
        pool = _pool(view, query, wanted, width)
        chosen = _best(view, pool, wanted)
        if pool.exhausted or chosen.done:
            said = None if query.vector is None else view.engine.cache.vectors.said.problem
            degraded = (*query.degraded, said) if said else query.degraded
            return SearchResult(chosen.hits, chosen.withheld, pool.weak, degraded, pool.strength), chosen.numbers
        width *= 4


# -- candidates ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates that pass the filters: aligned arrays, in ascending order of row number.

    Attributes:
        numbers: their row numbers.
        legs: what the two legs say of them.
        keep: which of them may be relevant at all.
        strength: of the strongest match and those that support it, from 0 to about 1; 0 without a vector.
        weak: even the strongest is doubtful; never without a vector, since then nothing tells.
        exhausted: there is nothing else that could be relevant.
        withheld: how many are left out, expired or since nothing passes the filters, by reason.
    """

    numbers: Int64
    legs: Legs
    relevance: Relevance
    keep: Mask
    strength: float
    weak: bool
    exhausted: bool
    withheld: dict[str, int]


def _pool(view: View, query: Query, wanted: Wanted, width: int) -> Pool:
    """Look at the best `width` of each leg."""
    cache, filters = view.engine.cache, wanted.filters
    passing = None if filters == SERVED else cache.passing(view, filters)
    near, farthest = _nearest(view, query, None if passing is None else passing.vectors, width)
    rows, scores, among = cache.matches(view, query.terms)
    if passing is not None:
        passes = passing.holds(rows)
        rows, scores, among = rows[passes], scores[passes], len(passing.memories)
    rows, scores = best_first(rows, scores, width)
    numbers = once(np.concatenate([near, rows]))
    keyword = np.zeros(len(numbers), dtype=np.float32)
    keyword[np.searchsorted(numbers, rows)] = scores
    facts = cache.candidates(view, numbers)
    served = facts["there"] & (facts["state"] == ACTIVE)
    served ^= (expired := served & (facts["expires"] <= view.engine.now().timestamp()))
    withheld = {EXPIRED: many} if (many := int(expired.sum())) else {}
    withheld |= {} if passing is None or len(passing.memories) else left_out.by_filters(view, filters)
    if not served.all():
        numbers, keyword, facts = numbers[served], keyword[served], facts[served]
    legs = _legs(view, query, facts, keyword)
    fused = fuse(legs, len(query.text))
    overlap = _overlap(view, query, numbers, leaders(fused))
    scale = known_scale(query.embedder.name, legs.vectors.shape[1]) or cache.vectors.scale(view)
    decided = gated(legs, overlap.shared, overlap.words, scale, wanted.among or among)
    fused = without_echoes(fused, np.where(overlap.trusted, 0.0, overlap.shared))
    blind = query.vector is None
    none = decided.unrelated and wanted.weak == "mark"
    return Pool(
        numbers=numbers,
        legs=legs,
        relevance=settle(fused, np.where(overlap.trusted, overlap.said, 0.0)),
        keep=decided.keep & (not none),
        strength=0.0 if blind else decided.strength,
        weak=decided.weak and not blind,
        exhausted=none or (is_beyond(farthest, scale) and (len(rows) < width or not blind)),
        withheld=withheld,
    )


def _nearest(view: View, query: Query, allowed: Int64 | None, width: int) -> tuple[Int64, float]:
    """Return the memories that own the nearest vectors, and the cosine of the farthest; -1 when there are no more."""
    if query.vector is None:
        return np.empty(0, dtype=np.int64), -1.0
    owners, cosines = view.engine.cache.vectors.nearest(view, query.vector, width, allowed)
    return owners, float(cosines[-1]) if len(owners) >= width else -1.0


def _legs(view: View, query: Query, facts: Table, keyword: Floats) -> Legs:
    """Return the legs' arrays; each memory is represented by the vector of its that is nearest to the query."""
    if query.vector is None:
        nothing = np.zeros(len(facts), dtype=np.float32)
        return Legs(np.zeros(1, dtype=np.float32), nothing[:, None], nothing, keyword)
    vectors, similarity = _vectors(view, query.vector, facts["first"])
    also = np.flatnonzero(facts["second"])
    if len(also):
        others, cosines = _vectors(view, query.vector, facts["second"][also])
        nearer = cosines > similarity[also]
        vectors[also[nearer]], similarity[also[nearer]] = others[nearer], cosines[nearer]
    return Legs(query.vector, vectors, similarity, keyword)


def _vectors(view: View, query: Float32, ids: Int64) -> tuple[Float32, Floats]:
    """Return the vectors with these ids, and their cosines with the query in [0, 1]; zeros where there is none."""
    # No row is read: the index in memory holds the vectors.
    vectors = view.engine.cache.vectors.vectors(view, ids, len(query))
    return vectors, np.clip(vectors @ query, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Overlap:
    """What the leading candidates' texts have in common with the query's; the others have nothing, and are trusted."""

    shared: Floats
    said: Floats
    words: Floats
    trusted: Mask


def _overlap(view: View, query: Query, numbers: Int64, rows: list[int]) -> _Overlap:
    nothing = np.zeros(len(numbers), dtype=np.float32)
    overlap = _Overlap(nothing, nothing.copy(), nothing.copy(), np.ones(len(numbers), dtype=bool))
    known = view.engine.cache.known(view, numbers[rows])
    there = known["n"] > 0
    at, known = np.array(rows, dtype=np.intp)[there], known[there]
    overlap.trusted[at] = known["source"] == 0
    overlap.words[at] = shared_words(query.terms, words := known["terms"].tolist())
    overlap.shared[at] = shared = shared_pieces(query.text, held := known["pieces"].tolist())
    overlap.said[at] = said_again(query.text, query.terms, shared, held, words)
    return overlap


# -- the best of them ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chosen:
    """The hits, their row numbers, how many were withheld by reason, and whether less relevant ones are of no use."""

    hits: tuple[Hit, ...]
    numbers: tuple[int, ...]
    withheld: dict[str, int]
    done: bool


def _best(view: View, pool: Pool, wanted: Wanted) -> Chosen:
    """Return the best `k` of a pool."""
    relevant = _in_order(pool, wanted.policy)
    looked_at = max(FEWEST_LOOKED_AT, LOOKED_AT_A_HIT * wanted.k)
    while True:
        chosen = _choose(view, pool, relevant[:looked_at], wanted)
        if chosen.done or looked_at >= len(relevant):
            if dropped := len(pool.numbers) - len(relevant):
                chosen.withheld["irrelevant"] = dropped
            chosen.withheld.update(pool.withheld)
            return chosen
        looked_at *= 4


def _in_order(pool: Pool, policy: Policy) -> Places:
    """Return the rows that pass the gate, the likeliest first where the policy tells which those are."""
    passed = np.flatnonzero(pool.keep)
    if policy in BY_RELEVANCE:
        passed = passed[np.argsort(-pool.relevance.total[passed], kind="stable")]
    elif policy in BY_SIMILARITY:
        passed = passed[np.argsort(-pool.legs.similarity[passed], kind="stable")]
    return passed


def _choose(view: View, pool: Pool, rows: Places, wanted: Wanted) -> Chosen:
    known = view.engine.cache.known(view, pool.numbers[rows])
    there = known["n"] > 0
    rows, known = rows[there], known[there]
    candidates = _candidates(view, pool, rows, known)
    withheld = _withheld(candidates, known, wanted, view.engine.cache.learned)
    stays = ~np.any(list(withheld.values()), axis=0)
    rows, known, candidates = rows[stays], known[stays], candidates.at(np.flatnonzero(stays))
    few, half_life = wanted.policy in DIVERSE, view.engine.settings.half_life_days
    many = wanted.k if few else len(candidates)
    ranked = rank(wanted.policy, candidates, k=many, vectors=pool.legs.vectors[rows], half_life=half_life)
    rows, known, chance = rows[ranked.rows], known[ranked.rows], (candidates.about * candidates.trust)[ranked.rows]
    counts = {reason: int(mask.sum()) for reason, mask in withheld.items()}
    if wanted.policy == "cautious":
        chosen, unproven = cautious(_standings(ranked, known), k=wanted.k, floor=wanted.floor, strict=wanted.strict)
        counts |= unproven
    else:
        chosen = _chosen(view, pool, rows, known, chance, wanted)
        counts["no gain"] = len(known) - len(chosen) if len(chosen) < wanted.k else 0
    hits = tuple(
        Hit(
            memory=own(known["memory"][at]),
            similarity=float(pool.legs.similarity[rows[at]]),
            keyword=float(pool.legs.keyword[rows[at]]),
            score=float(ranked.score[at]),
            confidence=float(known["mean"][at]),
            deviation=float(known["deviation"][at]),
            provisional=bool(known["mean"][at] < wanted.floor),
            about=float(chance[at]),
            why=ranked.why(at),
        )
        for at in chosen.tolist()
    )
    numbers = tuple(known["n"][chosen].tolist())
    counts = {reason: many for reason, many in counts.items() if many}
    return Chosen(hits, numbers, counts, len(hits) >= wanted.k or "no gain" in counts)


def _candidates(view: View, pool: Pool, rows: Places, known: Table) -> Candidates:
    now = view.engine.now().timestamp()
    return Candidates(
        number=known["n"],
        similarity=pool.legs.similarity[rows],
        relevance=(parts := pool.relevance.parts(rows)),
        about=about(total(parts), len(pool.numbers)),
        confidence=known["mean"],
        judged=known["judged"],
        usage=known["usage"],
        age=np.maximum(now - known["touched"], 0.0) / SECONDS_A_DAY,
        source=known["source"],
        trust=known["trust"],
    )


def _withheld(candidates: Candidates, known: Table, wanted: Wanted, learned: Parameters) -> dict[str, Mask]:
    """Return which candidates are withheld whatever else there is, by reason; the cautious choice has its own."""
    strangers, harmful = ~one_a_source(candidates), surely_harms(learned, known["n"], known["memory"])
    sure = {"untrusted source": strangers, HARMFUL: harmful & ~strangers}
    if wanted.policy == "cautious":
        return sure
    out = strangers | harmful
    rejected = ~out & (known["votes"] <= -BLAMED) & (known["high"] < min(SELDOM, wanted.floor))
    unproven = ~out & ~rejected & (known["mean"] < wanted.floor) & wanted.strict
    return sure | {"rejected": rejected, "provisional": unproven}


def _chosen(view: View, pool: Pool, rows: Places, known: Table, chance: Floats, wanted: Wanted) -> Places:
    """Return which of the ranked candidates are handed out: by policies that only rank, those that come first."""
    if wanted.policy != "relevance":
        return np.arange(min(len(rows), wanted.k))
    learned, vectors = view.engine.cache.learned, pool.legs.vectors[rows]
    harms = dict(learned.harms)
    harm = np.array([harms.get(n, 0.0) for n in known["n"].tolist()])
    prospects = Prospects(chances(learned, chance), known["mean"], known["high"], known["usage"], harm)
    # Without a vector nothing tells how relevant they are; and a search lists all that fits, also what says the same.
    cost = wanted.cost if vectors.any() else 0.0
    compared = vectors if cost else vectors[:, :0]
    return select(prospects, partial(alike, compared), k=wanted.k, cost=cost, explore=exploring(learned))


def _standings(ranked: Ranked, known: Table) -> Standings:
    best = float(ranked.score.max(initial=0.0)) or 1.0
    return Standings(
        ranked.score / best, known["mean"], known["deviation"], known["usage"], known["judged"], known["votes"] < 0.0
    )
