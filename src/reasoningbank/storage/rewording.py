"""Saying otherwise what the kept log says, without a change to what it counts for."""

from __future__ import annotations

from collections.abc import Callable

from reasoningbank.signals import Signal
from reasoningbank.storage import evidence
from reasoningbank.storage.ledger import Ledger, Logged


def reword(ledger: Ledger, writing: Logged, said: Callable[[Signal], Signal]) -> int:
    """Put what `said` makes of each signal of the kept log into its place, and return how many it changed.

    The rows that the log was folded into are the caller's, in the same transaction. Where that does not commit, the
    log is mended from them, and it can be done again.
    """
    ledger.catch_up(writing)
    changed = 0
    for position in evidence.kept(writing):
        segment = position.segment
        if reworded := ledger.log.reword(segment, said):
            end = ledger.log.size(segment)
            evidence.move(writing, position._replace(end=end, checksum=ledger.log.checksum(segment, 0, end)))
            changed += reworded
    writing.positions = None
    return changed
