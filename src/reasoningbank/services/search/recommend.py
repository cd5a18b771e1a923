"""A recommendation: the strategy that fits a task best, with what speaks for it."""

from __future__ import annotations

from collections.abc import Iterable

from reasoningbank.filters import Filters
from reasoningbank.results import Hit, KnownOf, Recommendation
from reasoningbank.services.cache.queries import without_secrets
from reasoningbank.services.engine import Engine
from reasoningbank.services.search import retrieve
from reasoningbank.services.search.retrieve import Wanted
from reasoningbank.signals import SignalKind, Tally
from reasoningbank.storage import records
from reasoningbank.verdict import Verdict


def recommend(engine: Engine, task: str) -> Recommendation:
    """Return the best strategy for a task and its runner-up. Nothing is changed or counted."""
    strategies = Filters(outcome=Verdict.SUCCESS)
    wanted = Wanted(k=2, floor=engine.settings.floor, strict=False, filters=strategies, policy="relevance")
    found = retrieve.search(engine, task, wanted)
    likeliest = sorted(found.hits, key=lambda hit: -hit.about * hit.confidence)
    best, second = (*likeliest, None, None)[:2]
    return Recommendation(
        task=without_secrets(task, engine.rules),
        strategy=best,
        evidence=None if best is None else _known_of(engine, best),
        runner_up=second,
        weak=found.weak or best is None,
        withheld=found.withheld,
        degraded=found.degraded,
    )


def _known_of(engine: Engine, hit: Hit) -> KnownOf:
    with engine.read() as view:
        n = records.find(view, hit.memory.id)
        return KnownOf() if n is None else summed(view.row(n).tallies)


def summed(tallies: Iterable[Tally]) -> KnownOf:
    """Return what is known of a memory, by kind, as sums of strengths."""
    found = dict.fromkeys(((kind, sign) for kind in SignalKind for sign in (1, -1)), 0.0)
    for tally in tallies:
        found[tally.kind, 1] += tally.positive
        found[tally.kind, -1] += tally.negative
    return KnownOf(
        uses=round(found[SignalKind.USAGE, 1]),
        votes_for=found[SignalKind.EXPLICIT, 1],
        votes_against=found[SignalKind.EXPLICIT, -1],
        successes=found[SignalKind.OUTCOME, 1],
        failures=found[SignalKind.OUTCOME, -1],
        survived=found[SignalKind.STABILITY, 1],
        reverted=found[SignalKind.STABILITY, -1],
    )
