"""What came of a failure: evidence for exactly the memories that were handed out at it."""

from __future__ import annotations

from collections.abc import Sequence

from reasoningbank.diagnostics import Diagnostic
from reasoningbank.diagnostics.acts import WINDOW, act_of
from reasoningbank.services.engine import Engine
from reasoningbank.services.search.recall import new_id
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import signatures
from reasoningbank.storage.signatures import Failed


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
            credited += settle(engine, failed, 1, "the same succeeded afterwards")
    count_act(engine, open_)
    return tuple(credited)


def settle(engine: Engine, failed: Failed, polarity: int, reason: str) -> list[str]:
    """Say of the memories that were handed out at a failure whether it was repaired; return their ids."""
    how = "repaired" if polarity > 0 else "came back"
    if failed.settled == how:
        return []
    with engine.write(create=False) as edit:
        now = engine.now()
        signals = [
            Signal(
                id=new_id(),
                at=now,
                memory=memory_id,
                revision=revision,
                kind=SignalKind.REPAIR,
                polarity=polarity,
                ref=failed.ref,
                by="repair",
                reason=reason,
            )
            for memory_id, revision in signatures.served_at(edit, failed.ref, failed.step)
        ]
        edit.catch_up()
        edit.write_signals(signals, now, only_news=True)
        signatures.settle(edit, failed, how)
        return [signal.memory for signal in signals]
