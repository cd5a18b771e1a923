"""The evidence about one memory, piece by piece, and what was believed after each."""

from __future__ import annotations

from reasoningbank.belief.belief import Belief, standing
from reasoningbank.services.cache.shown import shown_tallies
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.record import number_of
from reasoningbank.signals import Evidence, EvidencePiece, Tally
from reasoningbank.storage import records
from reasoningbank.storage.pieces import pieces_of


def evidence(engine: Engine, memory_id: str, limit: int) -> Evidence:
    """Return the newest `limit` pieces of the evidence about a memory, with what was believed after each."""
    with engine.read() as view:
        n = number_of(view, memory_id)
        model, initial = view.model, records.judged(view, [n])[n].initial_confidence
        pieces = pieces_of(view, n)
    earlier = max(0, len(pieces) - limit)
    tallies = [tally for _, tally in pieces]
    before, *beliefs = model.beliefs([(tallies[:end], initial) for end in range(earlier, len(pieces) + 1)])
    said = shown_tallies(tallies[earlier:], engine.rules)
    refs = [ref for ref, _ in pieces[earlier:]]
    shown = tuple(_piece(*each) for each in zip(refs, said, beliefs, strict=True))
    last = beliefs[-1] if beliefs else before
    stands = standing(last, engine.settings.floor).value
    return Evidence(memory_id, before.mean, before.low, before.high, stands, shown, earlier)


def _piece(ref: str, tally: Tally, belief: Belief) -> EvidencePiece:
    return EvidencePiece(
        at=tally.last,
        kind=tally.kind,
        positive=tally.positive,
        negative=tally.negative,
        ref=ref,
        by=tally.by,
        source=tally.source,
        confidence=belief.mean,
        low=belief.low,
        high=belief.high,
    )
