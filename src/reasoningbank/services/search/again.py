"""Recall again: what was handed out under a reference before."""

from __future__ import annotations

from reasoningbank.episode import Served
from reasoningbank.memory import Memory
from reasoningbank.results import EXPIRED, HELD_OUT, Hit, Recall
from reasoningbank.screening.door import clean
from reasoningbank.services.search.expand import conflicts
from reasoningbank.services.search.recall import as_found, block_of
from reasoningbank.services.view import View
from reasoningbank.storage import episodes, records


def again(view: View, ref: str, max_tokens: int, expand_links: bool = False) -> Recall | None:
    """Return what was handed out under a reference before, without searching or counting anew; None if nothing was."""
    episode = episodes.load_episode(view, ref)
    if episode is None:
        return None
    numbers = records.numbers_of(view, [s.memory for s in episode.memories])
    shown, now = view.shown(numbers.values()).values(), view.engine.now()
    memories = {m.id: m for m in shown if not m.has_expired(now)}
    left_out = {HELD_OUT: len(episode.withheld), EXPIRED: len(shown) - len(memories)}
    hits = tuple(as_hit(s, memories[s.memory]) for s in episode.memories if s.memory in memories and not s.step)
    opposed = conflicts(view, list(numbers.values())) if expand_links else ()
    doubtful, pin_tokens = episodes.was_doubtful(view, ref), view.engine.settings.pin_tokens
    shown_so = block_of(as_found(hits), max_tokens, opposed, pin_tokens, doubtful=doubtful)
    return Recall(
        ref=ref,
        task=clean(episode.task, view.engine.rules),
        hits=hits,
        text=shown_so.text,
        tokens=shown_so.tokens,
        withheld={reason: many for reason, many in left_out.items() if many},
        weak=doubtful,
        repeated=True,
        shortened=shown_so.shortened,
        conflicts=opposed,
        held_out=episode.held_out,
    )


def as_hit(served: Served, memory: Memory) -> Hit:
    """Return a memory as it was handed out."""
    return Hit(
        memory=memory,
        similarity=served.similarity,
        keyword=served.keyword,
        score=served.score,
        confidence=served.confidence,
        deviation=served.deviation,
        provisional=served.provisional,
        about=served.about,
        pinned=served.pinned,
    )
