"""Which arm of a hold-out a conversation is in: what is withheld from its run must not come in by another door."""

from __future__ import annotations

from collections.abc import Mapping

from reasoningbank.bank import ReasoningBank
from reasoningbank.episode import Episode
from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.results import HELD_OUT


def is_held_out(bank: ReasoningBank, ref: str | None, thread: str | None) -> bool | None:
    """Tell whether all lessons are withheld from a run, or else from its conversation.

    None where nothing was recalled for it yet.
    """
    found = run_of(bank, ref, thread)
    return None if found is None else found.held_out_all


def run_of(bank: ReasoningBank, ref: str | None, thread: str | None) -> Episode | None:
    """Return a run, or else the last one of its conversation; None where nothing was recalled for it yet."""
    for named in ({"ref": ref}, {"thread": thread}):
        if any(named.values()):
            try:
                return bank.runs.get(**named)
            except EpisodeNotFoundError:
                continue
    return None


def told(withheld: Mapping[str, int]) -> dict[str, int]:
    """Return what a model is told of what was left out: one that knew of the hold-out would behave otherwise."""
    return {reason: many for reason, many in withheld.items() if reason != HELD_OUT}
