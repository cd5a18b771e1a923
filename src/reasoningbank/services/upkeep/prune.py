"""Pruning of a bank: propose what to take out of service, and take it out."""

from __future__ import annotations

from datetime import datetime, timedelta

from reasoningbank.change import Change
from reasoningbank.results import Pruned
from reasoningbank.services.engine import Engine
from reasoningbank.services.view import View
from reasoningbank.storage import records, trust
from reasoningbank.storage.filters import Filters
from reasoningbank.upkeep.pruning import Kept, evidence_against, proposals

PAGE = 500


def prune(engine: Engine, now: datetime, *, dry_run: bool, unused_days: float) -> Pruned:
    """Propose what to archive; without `dry_run` archive it, all in one transaction."""
    unused = timedelta(days=min(unused_days, timedelta.max.days))
    if dry_run:
        with engine.read() as view:
            return Pruned(tuple(_propose(view, now, unused)))
    with engine.write(create=False) as edit:
        edit.catch_up()
        changes = _propose(edit, now, unused)
        for change in changes:
            n = records.find(edit, change.memories[0])
            trust.archive(edit, [] if n is None else [n], f"pruned: {change.reason}", now)
        return Pruned(tuple(changes), done=engine.project() is not None)


def _propose(view: View, now: datetime, unused: timedelta) -> list[Change]:
    kept: list[Kept] = []
    after = 0
    while numbers := records.page(view, Filters(), after, PAGE):
        rows = view.load(numbers)
        beliefs = view.beliefs(rows.values())
        for n, row in rows.items():
            against, blamed, judged = evidence_against(row.tallies)
            used, changed = row.memory.last_used, row.memory.updated_at
            kept.append(Kept(row.memory.id, beliefs[n].mean, against, blamed, judged, used, changed))
        after = numbers[-1]
    return proposals(kept, now, unused=unused, most=view.engine.settings.max_memories)
