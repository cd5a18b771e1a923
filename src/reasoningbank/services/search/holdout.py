"""Withholding lessons from a run for comparison: what is drawn is stored with the run's episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reasoningbank.belief.calibrated import Parameters
from reasoningbank.results import Hit
from reasoningbank.search.holdout import Holdout, chances, is_exempt, withheld
from reasoningbank.search.selection import success
from reasoningbank.services.search.above import SPAN
from reasoningbank.services.search.expand import among
from reasoningbank.services.search.recall import Fitted, Run, as_found, block_of
from reasoningbank.services.view import Edit
from reasoningbank.storage import pins, trials
from reasoningbank.storage.trials import Drawn


def hold_out(
    edit: Edit,
    holdout: Holdout | None,
    hits: Sequence[Hit],
    numbers: Mapping[str, int],
    *,
    ref: str,
    thread: str | None,
    learned: Parameters,
) -> frozenset[str]:
    """Draw which of the lessons that a run would be handed now are withheld from it, and store the draw.

    Nothing is drawn, or stored, where no lesson may be withheld; what is pinned never may. What comes later in a run or
    a thread stays in its arm, also without a hold-out by then.

    Args:
        hits: all that would be handed out.
        numbers: their row numbers, by id.
    """
    pinned = dict(pins.every_pin(edit))
    held = {numbers[hit.memory.id]: hit for hit in hits if not (hit.pinned or is_exempt(hit.memory))}
    unit = thread or ref
    before = trials.drawn(edit, unit)
    drawn = before or holdout
    # Of single lessons the project's own are tried: a row number of another level means nothing here.
    candidates = {
        n: hit for n, hit in held.items() if n not in pinned and (n < SPAN or (drawn is not None and drawn.of == "run"))
    }
    if not candidates:
        return frozenset()
    out = frozenset[str]() if before is None else _as_before(before, candidates)
    if holdout is None or trials.exists(edit, ref):
        return out
    chance = dict(zip(candidates, chances(holdout, tuple(candidates), dict(learned.harms)), strict=True))
    if before is None:
        share = {candidates[n].memory.id: own for n, own in chance.items()}
        out = withheld(holdout, trials.key(edit), unit, share)
    trials.add(
        edit,
        ref,
        unit=unit,
        of=holdout.of if before is None else before.of,
        rate=holdout.rate,
        first=before is None,
        expected=success(learned, [hit.confidence for hit in hits], [hit.about for hit in hits]),
        candidates=_drawn(candidates, chance, out),
    )
    return out


def _drawn(
    candidates: Mapping[int, Hit], chance: Mapping[int, float], out: frozenset[str]
) -> list[tuple[int, int, float, bool]]:
    """Return the rows of a draw; those of shared banks, which are withheld together, are one."""
    rows = {
        n if n < SPAN else trials.SHARED: (hit.memory.revision if n < SPAN else 0, chance[n], hit.memory.id in out)
        for n, hit in candidates.items()
    }
    return [(n, *row) for n, row in rows.items()]


def without_held_out(edit: Edit, fitted: Fitted, run: Run) -> Fitted:
    """Return what was found for a run without what is withheld from it."""
    shown = fitted.handed_out
    out = hold_out(edit, run.holdout, shown, fitted.numbers, ref=run.ref, thread=run.thread, learned=fitted.learned)
    if not out:
        return fitted
    # What did not fit before stays out: a run that lacks one lesson gets no other in its place.
    kept = tuple(hit for hit in shown if hit.memory.id not in out)
    opposed, pins = among(fitted.conflicts, {hit.memory.id for hit in kept}), edit.engine.settings.pin_tokens
    return replace(
        fitted,
        hits=kept + tuple(hit for hit in fitted.hits if hit not in shown),
        block=block_of(as_found(kept), run.max_tokens, opposed, pins, doubtful=fitted.doubtful),
        required=tuple(memory_id for memory_id in fitted.required if memory_id not in out),
        conflicts=opposed,
        held_out=len(out),
    )


def _as_before(before: Drawn, candidates: Mapping[int, Hit]) -> frozenset[str]:
    if before.of == "run":
        return frozenset(hit.memory.id for hit in candidates.values()) if before.held else frozenset()
    return frozenset(candidates[n].memory.id for n in before.withheld & candidates.keys())
