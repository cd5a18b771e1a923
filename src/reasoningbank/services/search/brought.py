"""What the hits of a recall require, brought along as far as there is room."""

from __future__ import annotations

from dataclasses import replace

from reasoningbank.services.search.expand import conflicts, with_required
from reasoningbank.services.search.recall import Fitted, block_of
from reasoningbank.services.search.retrieve import Wanted
from reasoningbank.services.view import View


def with_brought(view: View, plain: Fitted, wanted: Wanted, max_tokens: int) -> Fitted:
    """Bring along what the hits that fit require, as far as it takes no room from them."""
    alone = plain.block.included
    shown = {hit.memory.id: hit for hit in plain.hits if hit.memory.id in alone}
    numbers = {memory_id: plain.numbers[memory_id] for memory_id in shown}
    brought = with_required(view, shown, numbers, floor=wanted.floor, strict=wanted.strict)
    opposed = (*conflicts(view, list(brought.numbers.values())), *plain.conflicts)
    count = len(brought.required)
    while True:
        kept = tuple(hit for hit in brought.hits if hit.memory.id not in brought.required[count:])
        shown_so = block_of(kept, max_tokens, opposed, doubtful=plain.doubtful)
        if not count or set(alone) <= set(shown_so.included):
            break
        count -= 1
    every = brought.hits + tuple(hit for hit in plain.hits if hit.memory.id not in alone)
    in_block = tuple(memory_id for memory_id in brought.required[:count] if memory_id in shown_so.included)
    return replace(
        plain,
        hits=every,
        offered=kept,
        numbers=plain.numbers | brought.numbers,
        block=shown_so,
        required=in_block,
        conflicts=opposed,
        withheld=brought.withheld,
    )
