"""What a memory is believed by, piece by piece, and what was said to be counted so."""

from __future__ import annotations

import json
import uuid

from reasoningbank.signals import Signal, SignalKind, Tally, parse_time
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.evidence import tally_of
from reasoningbank.storage.fold import OUTCOME, UNIT, Contribution

# As records._TALLIES has it: with what was merged into the memory, and without blocked sources.
_PIECES = (
    "WITH RECURSIVE below(n) AS (SELECT n FROM memories WHERE n = :n "
    "UNION SELECT memory FROM merged JOIN below ON into_memory = below.n WHERE counts = 1), "
    "pieces(memory, ref, kind, day, source, judge, superseded, positive, negative, at) AS ("
    "SELECT memory, ref, kind, day, source, judge, superseded, CASE WHEN polarity > 0 THEN weight ELSE 0 END, "
    "CASE WHEN polarity < 0 THEN weight ELSE 0 END, at FROM evidence WHERE polarity <> 0 "
    "UNION ALL SELECT memory, '', kind, day, source, judge, superseded, positive, negative, last "
    "FROM tallies WHERE rolled = 1) "
    "SELECT p.ref, p.kind, p.day, p.source, p.judge, p.superseded, p.positive, p.negative, p.at "
    "FROM below JOIN pieces AS p ON p.memory = below.n WHERE p.source NOT IN (SELECT source FROM forgotten) "
    "AND p.judge NOT IN (SELECT source FROM forgotten) ORDER BY p.at, p.ref, p.kind"
)


def pieces_of(reading: Reading, n: int) -> list[tuple[str, Tally]]:
    """Return what counts for and against a memory, in the order it was given: the run or vote, and a tally of its own.

    What was rolled up belongs to no run any more: the pieces of a day and judge are one.
    """
    return [(ref, tally_of(columns)) for ref, *columns in reading.execute(_PIECES, {"n": n})]


def signal_of(reading: Reading, contribution: Contribution) -> Signal | None:
    """Return the signal that made a contribution, as far as it is known; None where its row is damaged."""
    row = reading.execute("SELECT id, revision FROM memories WHERE n = ?", (contribution.memory,)).fetchone()
    try:
        return None if row is None else _signal(reading, contribution, *row)
    except (ValueError, TypeError):
        return None


def _signal(reading: Reading, contribution: Contribution, memory: str, revision: int) -> Signal:
    verdict = None
    if contribution.kind == OUTCOME and not contribution.alone:
        verdict = reading.execute("SELECT reason FROM episodes WHERE ref = ?", (contribution.ref,)).fetchone()
    return Signal(
        id=str(uuid.uuid4()),
        at=parse_time(contribution.at),
        memory=memory,
        revision=revision,
        kind=SignalKind(contribution.kind),
        polarity=contribution.polarity,
        strength=contribution.weight / UNIT or 1.0,
        ref=contribution.ref,
        source=contribution.source,
        by=contribution.judge,
        reason="" if verdict is None else verdict[0],
        alone=bool(contribution.alone),
        validates=tuple(SignalKind(kind) for kind in json.loads(contribution.validates)),
    )
