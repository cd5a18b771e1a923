"""Rows of fitted parameters, and of what they are fitted to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from reasoningbank.belief.calibrated import Parameters
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.worlds import ALONE, Start
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import meta
from reasoningbank.storage.contract import Reading, Writing, column


@dataclass(frozen=True, slots=True)
class Fit:
    """One fit of the parameters; `change` is the newest change of the project that it took into account."""

    parameters: Parameters
    change: int
    at: datetime


def load(reading: Reading, number: int) -> Fit:
    """Return the fit of this number, which is there."""
    return _fit(*reading.execute("SELECT change, at, record FROM parameters WHERE n = ?", (number,)).fetchone())


def newest(reading: Reading) -> Fit | None:
    """Return the fit in force, also one of this transaction; None when nothing was learned yet."""
    row = reading.execute("SELECT change, at, record FROM parameters ORDER BY n DESC LIMIT 1").fetchone()
    return None if row is None else _fit(*row)


def learned(reading: Reading) -> dict[str, Any] | None:
    """Return the parameters in force as a dictionary; None when nothing was learned yet."""
    number = reading.moment.fit
    return load(reading, number).parameters.record() if number else None


def history(reading: Reading) -> list[Fit]:
    """Return all fits, oldest first."""
    return [_fit(*row) for row in reading.execute("SELECT change, at, record FROM parameters ORDER BY n")]


def _fit(change: int, at: str, record: str) -> Fit:
    return Fit(Parameters.of(json.loads(record)), change, parse_time(at))


def add(writing: Writing, fit: Fit) -> None:
    """Put a fit into force."""
    writing.execute(
        "INSERT INTO parameters(change, at, record) VALUES (?, ?, ?)",
        (fit.change, time_text(fit.at), json.dumps(fit.parameters.record())),
    )


START = "start"


def start(reading: Reading) -> tuple[Start, int]:
    """Return where fits start, and the newest change that shared banks were told what was learned of; else -1."""
    known = meta.one(reading, START)
    if known is None:
        return ALONE, -1
    record = json.loads(known)
    return Start.of(record), record["change"]


def put_start(writing: Writing, start: Start, change: int) -> None:
    """Remember where fits start, and the newest change that shared banks were told what was learned of."""
    meta.put(writing, START, json.dumps(start.record() | {"change": change}))


def judged_last(reading: Reading, most: int) -> list[int]:
    """Return the row numbers of the memories that votes or outcomes are known of, those judged last, at most `most`."""
    # What was merged counts once, with what it was merged into.
    return column(
        reading,
        "SELECT coalesce(m.into_memory, t.memory) AS n FROM tallies AS t LEFT JOIN merged AS m ON m.memory = t.memory "
        "AND m.counts = 1 WHERE t.kind <> 'usage' GROUP BY n ORDER BY max(t.last) DESC, n LIMIT ?",
        (most,),
    )


def judged_runs(reading: Reading, most: int) -> list[JudgedRun]:
    """Return the newest runs with a verdict that were handed memories, or held out, at most `most`.

    What was handed lessons of shared banks, too, is left out: what came of it is not of the others alone.
    """
    rows = reading.execute(
        "SELECT e.ref, e.verdict = 'success', t.held, e.judge, s.memory, s.confidence, s.about "
        "FROM (SELECT ref, verdict, judge FROM episodes WHERE verdict IN ('success', 'failure') "
        "ORDER BY opened_at DESC, ref LIMIT ?) AS e "
        "LEFT JOIN trials AS t ON t.ref = e.ref LEFT JOIN served AS s ON s.ref = e.ref "
        "WHERE (s.ref IS NOT NULL OR t.held = 1) "
        "AND NOT EXISTS (SELECT 1 FROM shared_runs AS r WHERE r.ref = e.ref AND r.served <> '[]') "
        "ORDER BY e.ref, s.position",
        (most,),
    )
    runs = []
    for (_, succeeded, held, by), served in groupby(rows, key=lambda row: row[:4]):
        handed = [row[4:] for row in served if row[4] is not None]
        memories, confidences, about = zip(*handed, strict=True) if handed else ((), (), ())
        runs.append(JudgedRun(memories, confidences, about, bool(succeeded), bool(held), by))
    return runs
