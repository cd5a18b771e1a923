"""Which arm of a hold-out a conversation is in: what is withheld from its run must not come in by another door."""

from __future__ import annotations

from collections.abc import Mapping

from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.results import HELD_OUT


def is_held_out(bank: ReasoningBank, ref: str | None, thread: str | None) -> bool | None:
    """Tell whether all lessons are withheld from a run, or else from its conversation.

    None where nothing was recalled for it yet.
    """
    for named in ({"ref": ref}, {"thread": thread}):
        if any(named.values()):
            try:
                return bank.runs.get(**named).held_out_all
            except EpisodeNotFoundError:
                continue
    return None


def told(withheld: Mapping[str, int]) -> dict[str, int]:
    """Return what a model is told of what was left out: one that knew of the hold-out would behave otherwise."""
    return {reason: many for reason, many in withheld.items() if reason != HELD_OUT}
