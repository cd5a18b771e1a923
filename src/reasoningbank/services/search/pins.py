"""Pins at a recall: what a person has shown always, or where a tag is asked for, beside what fits the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reasoningbank.memory import State
from reasoningbank.results import PINS, Hit
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.services.search.recall import Fitted, block_of
from reasoningbank.services.search.retrieve import Wanted
from reasoningbank.services.view import View
from reasoningbank.storage.pins import ALWAYS, every_pin


def with_pins(view: View, fitted: Fitted, wanted: Wanted, max_tokens: int) -> Fitted:
    """Put what is pinned before the rest, of which the same is shown as without."""
    found = {hit.memory.id: hit for hit in fitted.hits}
    held = _told_once(view, _pinned(view, wanted), [fitted.numbers[memory_id] for memory_id in found])
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
    every = view.each(lambda one, first: {n + first for n, tag in every_pin(one) if tag in named})
    rows = view.load(set().union(*every))
    beliefs, now, out = view.beliefs(rows.values()), view.engine.now(), set(wanted.filters.no_tags)
    hits = {}
    for n in sorted(rows, key=lambda n: (-beliefs[n].mean, n)):
        belief, row = beliefs[n], rows[n]
        memory = rescrubbed(row.believed(belief.mean), row.scrub_version, view.engine.rules)
        if memory.state is State.ACTIVE and not memory.has_expired(now) and out.isdisjoint(memory.tags):
            doubted = belief.mean < wanted.floor
            hits[n] = Hit(memory, 0.0, 0.0, 0.0, belief.mean, belief.deviation, doubted, pinned=True)
    return hits


def _told_once(view: View, held: dict[int, Hit], found: Sequence[int]) -> dict[int, Hit]:
    """Return what is pinned without what a nearer level says too, whether that is pinned or was found."""
    numbers = np.array(sorted({*held, *found}), dtype=np.int64)
    view.engine.cache.follow(view)
    there = set(numbers[view.engine.cache.candidates(view, numbers)["there"]].tolist())
    return {n: hit for n, hit in held.items() if n in there}
