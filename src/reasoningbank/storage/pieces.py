"""What a memory is believed by, piece by piece."""

from __future__ import annotations

from reasoningbank.signals import Tally
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.evidence import tally_of

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
