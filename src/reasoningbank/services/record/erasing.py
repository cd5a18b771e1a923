"""Deleting all that was recorded under one name, and the name: what a person may ask for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from reasoningbank.errors import InvalidInputError
from reasoningbank.services.engine import Engine
from reasoningbank.services.record import trust
from reasoningbank.services.search.recall import new_id
from reasoningbank.services.view import View
from reasoningbank.signals import Signal
from reasoningbank.status import Erased
from reasoningbank.storage import erasing, records
from reasoningbank.storage.trust import judged_by


def erase(engine: Engine, name: str, *, dry_run: bool) -> Erased:
    """Delete what was recorded under a name, and take the name out of what stays; with `dry_run` only count it."""
    with engine.read() as view:
        found, is_source = _found(view, name), trust.is_known(view, name)
    if not (found.memories or found.runs or found.jobs or found.nodes or is_source):
        raise InvalidInputError(
            f"nothing was recorded under {name!r}: give a `by`, a session, a thread, or the reference of a run"
        )
    if dry_run:
        return found
    # What it did to the lessons of others is taken back first, as it is of one who is distrusted.
    gone = trust.forget(engine, name).memories if is_source else ()
    with engine.write(create=False) as edit:
        edit.catch_up()
        refs, now = erasing.runs_of(edit, name), _found(edit, name)
        edit.reword_signals(partial(_nameless, name=name, other=(other := new_id()), refs=set(refs)))
        for n in erasing.lessons_of(edit, name, refs):
            records.delete(edit, n)
        erasing.erase_jobs(edit, erasing.jobs_of(edit, name, refs))
        erasing.erase_nodes(edit, erasing.nodes_of(edit, name))
        erasing.erase_runs(edit, refs)
        erasing.erase_name(edit, name, other, trust.why_retired(name, engine.rules))
    return replace(now, memories=(*gone, *now.memories), judged=found.judged, dry_run=False)


def _found(view: View, name: str) -> Erased:
    refs = erasing.runs_of(view, name)
    gone = erasing.lessons_of(view, name, refs)
    rows = view.load(gone)
    return Erased(
        name=name,
        memories=tuple(row.id for row in rows.values()),
        runs=tuple(refs),
        jobs=len(erasing.jobs_of(view, name, refs)),
        nodes=len(erasing.nodes_of(view, name)),
        judged=len({*judged_by(view, name)} - {*gone}),
        dry_run=True,
    )


def _nameless(signal: Signal, *, name: str, other: str, refs: Collection[str]) -> Signal:
    """Return a signal that counts the same, and neither names who said it nor says why."""
    if signal.ref not in refs and name not in (signal.by, signal.source, signal.ref):
        return signal
    return replace(
        signal,
        by="" if signal.by == name else signal.by,
        source="" if signal.source == name else signal.source,
        ref=other if signal.ref == name else signal.ref,
        reason="",
    )
