"""What came of a failure: evidence for exactly the memories that were handed out at it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reasoningbank.diagnostics import Diagnostic
from reasoningbank.diagnostics.acts import WINDOW, act_of
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.recall import new_id
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import sharing, signatures
from reasoningbank.storage.signatures import Failed

REPAIRED, CAME_BACK = "repaired", "came back"
_SAID = {REPAIRED: "the same succeeded afterwards", CAME_BACK: "the same error came back"}


def came_back(past: Sequence[Failed], errors: Sequence[Diagnostic]) -> Failed | None:
    """Return the failure of the run that had one of these errors as its own."""
    keys = {one.exact for one in errors}
    return next((failed for failed in reversed(past) if keys & set(failed.keys.split())), None)


def count_act(engine: Engine, past: Sequence[Failed]) -> None:
    """Count an act of a run for those of its failures of which nothing is known yet."""
    if any(not failed.settled for failed in past):
        with engine.write(create=False) as edit:
            signatures.count_act(edit, past[0].ref)


def report_act(engine: Engine, ref: str, *, tool: str | None, command: str | None, succeeded: bool) -> tuple[str, ...]:
    """Note how an act of a run went; return the ids of the memories that got evidence from it."""
    with engine.read() as view:
        open_ = [failed for failed in signatures.failures_of(view, ref) if not failed.settled]
    if not open_:
        return ()
    act = act_of(tool, command)
    credited: list[str] = []
    for failed in open_:
        if failed.acts >= WINDOW:
            continue
        if succeeded and act and failed.act == act:
            credited += settle(engine, failed, REPAIRED)
    count_act(engine, open_)
    return tuple(credited)


def settle(engine: Engine, failed: Failed, how: str) -> list[str]:
    """Say of the memories that were handed out at a failure what came of it; return their ids.

    What was handed out from shared banks is among them: those are told of it later.
    """
    if failed.settled == how:
        return []
    with engine.write(create=False) as edit:
        now = engine.now()
        own = signatures.served_at(edit, failed.ref, failed.step)
        beside = [s.memory for s in sharing.handed(sharing.ask_run(edit, failed.ref)) if s.step == failed.step]
        edit.catch_up()
        edit.write_signals([of_repair(*one, failed.ref, how, now) for one in own], now, only_news=True)
        signatures.settle(edit, failed, how)
        return [*(memory_id for memory_id, _ in own), *beside]


def of_repair(memory_id: str, revision: int, ref: str, how: str, now: datetime) -> Signal:
    """Return the signal that says of a memory what came of the failure that it was handed out at."""
    return Signal(
        id=new_id(),
        at=now,
        memory=memory_id,
        revision=revision,
        kind=SignalKind.REPAIR,
        polarity=1 if how == REPAIRED else -1,
        ref=ref,
        by="repair",
        reason=_SAID[how],
    )
