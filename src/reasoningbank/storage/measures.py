"""What is in a project, in numbers, and the rows that say how well it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from itertools import groupby
from typing import Any

from reasoningbank.measures.criteria import DistilledRun, HandedOut, PastRun
from reasoningbank.memory import fingerprint_text
from reasoningbank.signals import parse_time, time_text
from reasoningbank.status import RunsOfDay
from reasoningbank.storage import revisions
from reasoningbank.storage.contract import Reading, by_state, column, number
from reasoningbank.storage.signal_log import Segment

# What was said by votes whose segment is gone is sealed.
_RUNS = (
    "SELECT e.ref, e.task, e.opened_at, e.verdict, e.tokens, s.confidence, coalesce(v.polarity, z.polarity, 0), "
    "s.about FROM episodes AS e LEFT JOIN served AS s ON s.ref = e.ref "
    "LEFT JOIN evidence AS v ON v.memory = s.memory AND v.ref = s.ref AND v.kind = 'explicit' "
    "LEFT JOIN sealed AS z ON z.memory = s.memory AND z.ref = s.ref AND z.kind = 'explicit' "
    "WHERE e.opened_at >= ? ORDER BY e.opened_at, e.ref, s.position"
)
_SUCCEEDED = {"success": True, "failure": False}
_VOTE = {1: True, -1: False}


def past_runs(reading: Reading, since: datetime) -> Iterator[PastRun]:
    """Yield the runs that were opened at or after `since`, in that order."""
    rows = reading.execute(_RUNS, (time_text(since),))
    for (_, task, opened_at, verdict, tokens), served in groupby(rows, key=lambda row: row[:5]):
        # A damaged row is left out, and so is what was handed out by one.
        with suppress(ValueError):
            yield PastRun(
                at=parse_time(opened_at),
                task=fingerprint_text("", task),
                succeeded=_SUCCEEDED.get(verdict),
                tokens=tokens,
                handed_out=tuple(
                    HandedOut(row[5], _VOTE.get(row[6]), row[7]) for row in served if isinstance(row[5], float)
                ),
            )


def runs_by_day(reading: Reading, since: datetime) -> list[RunsOfDay]:
    """Return how many runs were opened each day at or after `since`, by how they ended; days without any are left out.

    A partial success counts as unknown, as everywhere.
    """
    rows = reading.execute(
        "SELECT substr(opened_at, 1, 10), sum(CASE WHEN verdict = 'success' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN verdict = 'failure' THEN 1 ELSE 0 END), sum(CASE WHEN verdict IS NULL THEN 1 ELSE 0 END), "
        "count(*) FROM episodes WHERE opened_at >= ? AND opened_at < ':' GROUP BY 1 ORDER BY 1",
        (time_text(since),),
    )
    return [
        RunsOfDay(date.fromisoformat(day), won, lost, many - won - lost - waiting, waiting)
        for day, won, lost, waiting, many in rows
    ]


def failed_before(reading: Reading, since: datetime) -> set[str]:
    """Return the tasks that failed in a run opened before `since`, as `PastRun.task` tells them apart."""
    failed = "SELECT DISTINCT task FROM episodes WHERE verdict = 'failure' AND opened_at < ?"
    return {fingerprint_text("", task) for task in column(reading, failed, (time_text(since),))}


def distilled(reading: Reading, since: datetime) -> list[DistilledRun]:
    """Return what became of the queue's runs with a verdict that ended at or after `since`."""
    rows = reading.execute(
        "SELECT verdict, outcome, updated_at FROM jobs WHERE kind = 'run' AND status NOT IN ('queued', 'running') "
        "AND verdict IN ('success', 'failure') AND updated_at >= ?",
        (time_text(since),),
    )
    return [
        DistilledRun(verdict == "success", bool(json.loads(outcome).get("memories")), parse_time(at))
        for verdict, outcome, at in rows
    ]


def recorded(reading: Reading, since: datetime) -> dict[str, int]:
    """Return how many memories were recorded at or after `since`, by how."""
    by_how = "SELECT source_how, count(*) FROM memories WHERE created_at >= ? GROUP BY source_how ORDER BY source_how"
    return dict(reading.execute(by_how, (time_text(since),)))


def validated(reading: Reading) -> list[tuple[int, str, int, int]]:
    """Return (day, kind, confirmed, refuted) by the days of the log's segments, oldest first.

    What another bank taught stands in no segment and comes first, on the day of the first one.
    """
    rows = reading.execute(
        "SELECT coalesce(p.name, (SELECT min(name) FROM log_positions), ''), v.segment, v.kind, v.confirmed, v.refuted "
        "FROM validations AS v LEFT JOIN log_positions AS p ON p.segment = v.segment ORDER BY v.segment, v.kind"
    )
    return [(Segment(segment, name).day, kind, confirmed, refuted) for name, segment, kind, confirmed, refuted in rows]


def overview(reading: Reading) -> dict[str, Any]:
    """Return how much there is of everything, memories and nodes by state, and the format of the database."""
    return {
        "format": reading.format,
        "memories": by_state(reading, "memories"),
        "corrections": _corrections(reading),
        "nodes": by_state(reading, "nodes"),
        "vectors": number(reading, "SELECT count(*) FROM vectors WHERE generation = ?", (reading.moment.searched,)),
        "signals": number(reading, "SELECT count(*) FROM evidence"),
        "links": number(reading, "SELECT count(*) FROM links"),
        "edges": number(reading, "SELECT count(*) FROM edges"),
        "kept_runs": number(reading, "SELECT count(*) FROM trajectories"),
    }


def _corrections(reading: Reading) -> dict[str, int]:
    of_kind = "SELECT count(*) FROM archived WHERE why LIKE ?"
    counts = {
        "revisions": revisions.count(reading),
        "superseded": number(reading, of_kind, ("superseded: %",)),
        "retired": number(reading, of_kind, ("retired by %",)),
        "twins": number(reading, of_kind, ("said the same as %",)),
        "held_back": revisions.held_back(reading),
    }
    return {what: many for what, many in counts.items() if many}
