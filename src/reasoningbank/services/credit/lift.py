"""What lessons do, from a project's hold-out."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from reasoningbank.measures.lift import by_memory, by_tag, overall
from reasoningbank.measures.lift_results import LiftReport
from reasoningbank.measures.lift_words import report_in_words
from reasoningbank.moments import FIRST, shifted
from reasoningbank.services.engine import Engine
from reasoningbank.storage import trials


def lift(engine: Engine, days: int | None, by: Literal["tag", "memory"] | None) -> LiftReport:
    """Compare the runs that were given lessons with those from which they were withheld. Changes nothing."""
    now = engine.now()
    since = None if days is None else shifted(now, -timedelta(days=days))
    with engine.read() as view:
        drawn = trials.trials(view, since or FIRST)
        found = set(view.model.parameters.harmful)
        harmful = [m for n, m in view.shown(n for n, _ in sorted(found)).items() if (n, m.revision) in found]
    whole = overall(drawn)
    return LiftReport(
        since=since,
        until=now,
        overall=whole,
        by=by,
        parts=by_tag(drawn) if by == "tag" else by_memory(drawn) if by == "memory" else (),
        harmful=tuple(memory.id for memory in harmful),
        words=report_in_words(whole, [memory.title for memory in harmful]),
    )
