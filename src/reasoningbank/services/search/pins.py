"""Pins at a recall: what a person has shown always, or where a tag is asked for, beside what fits the task."""

from __future__ import annotations

from dataclasses import replace

from reasoningbank.memory import State
from reasoningbank.results import PINS, Hit
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.services.search.recall import Fitted, block_of
from reasoningbank.services.search.retrieve import Wanted
from reasoningbank.services.view import View
from reasoningbank.storage.pins import ALWAYS, every_pin


def with_pins(view: View, fitted: Fitted, wanted: Wanted, max_tokens: int) -> Fitted:
    """Put what is pinned before the rest, of which the same is shown as without."""
    held, found = _pinned(view, wanted), {hit.memory.id: hit for hit in fitted.hits}
    every = found | {hit.memory.id: replace(found.get(hit.memory.id, hit), pinned=True) for hit in held.values()}
    beside = [hit for memory_id, hit in every.items() if memory_id not in found]
    # Of what a person pinned nothing is in doubt.
    doubtful = fitted.doubtful and bool(found)
    offered = [every[hit.memory.id] for hit in fitted.offered]
    shown = block_of(
        [*offered, *beside], max_tokens, fitted.conflicts, view.engine.settings.pin_tokens, doubtful=doubtful
    )
    over = len({hit.memory.id for hit in beside}.difference(shown.included))
    return replace(
        fitted,
        hits=tuple(every[memory_id] for memory_id in dict.fromkeys([*shown.included, *found])),
        numbers=fitted.numbers | {hit.memory.id: n for n, hit in held.items()},
        block=shown,
        doubtful=doubtful,
        withheld=fitted.withheld | ({PINS: over} if over else {}),
    )


def _pinned(view: View, wanted: Wanted) -> dict[int, Hit]:
    """Return what is pinned for a recall and served, by row number, what is believed most first."""
    named = {ALWAYS, *wanted.filters.tags, *wanted.filters.any_tags}
    rows = view.load({n for n, tag in every_pin(view) if tag in named})
    beliefs, now, out = view.beliefs(rows.values()), view.engine.now(), set(wanted.filters.no_tags)
    hits = {}
    for n in sorted(rows, key=lambda n: (-beliefs[n].mean, n)):
        belief, row = beliefs[n], rows[n]
        memory = rescrubbed(row.believed(belief.mean), row.scrub_version, view.engine.rules)
        if memory.state is State.ACTIVE and not memory.has_expired(now) and out.isdisjoint(memory.tags):
            doubted = belief.mean < wanted.floor
            hits[n] = Hit(memory, 0.0, 0.0, 0.0, belief.mean, belief.deviation, doubted, pinned=True)
    return hits
