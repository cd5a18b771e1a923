"""Rows of runs that had a chance of going without lessons, and of the lessons that could be withheld from them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from reasoningbank.measures.lift import Candidate, Trial
from reasoningbank.memory import fingerprint_text
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import meta
from reasoningbank.storage.contract import Reading, Writing

KEY = "holdout_key"
ALL = 2**62
SHARED = 0
"""The row number under which all lessons of shared banks stand that a run could be handed."""
_ENDED = {"success": True, "failure": False}

_TRIALS = (
    "SELECT e.ref, e.opened_at, e.task, e.verdict, e.tokens, t.unit, t.of, t.held, t.drawn, t.expected, "
    "(SELECT count(*) FROM steps AS s WHERE s.ref = e.ref), "
    "m.id, c.memory, c.revision, c.given, c.chance, m.tags, m.title, "
    "CASE WHEN c.revision = m.revision THEN 1 ELSE 0 END "
    "FROM trials AS t JOIN episodes AS e ON e.ref = t.ref JOIN candidates AS c ON c.ref = t.ref "
    "LEFT JOIN memories AS m ON m.n = c.memory "
    "WHERE e.ref IN (SELECT e.ref FROM trials AS t JOIN episodes AS e ON e.ref = t.ref WHERE e.opened_at >= ? "
    "ORDER BY e.opened_at DESC, e.ref LIMIT ?) ORDER BY e.opened_at, e.ref, c.memory"
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn in a unit before: the lessons that are withheld from it.

    Attributes:
        of: "run" when all lessons are held out or given alike, "memory" for single ones.
        held: whether its first draw withheld anything.
        withheld: row numbers of what was withheld.
    """

    of: str
    held: bool
    withheld: frozenset[int]


def key(writing: Writing) -> bytes:
    """Return the project's key, which is made at its first use; all processes agree on it."""
    known = meta.read(writing).get(KEY)
    if known is None:
        meta.put(writing, KEY, known := secrets.token_hex(16))
    return bytes.fromhex(known)


def drawn(reading: Reading, unit: str) -> Drawn | None:
    """Return what was drawn in a unit first, and all that was withheld from it; None if nothing was drawn yet."""
    first = reading.execute("SELECT of, held FROM trials WHERE unit = ? AND drawn = 1", (unit,)).fetchone()
    if first is None:
        return None
    rows = reading.execute(
        "SELECT c.memory FROM trials AS t JOIN candidates AS c ON c.ref = t.ref WHERE t.unit = ? AND c.given = 0",
        (unit,),
    )
    return Drawn(first[0], bool(first[1]), frozenset(n for (n,) in rows))


def exists(reading: Reading, ref: str) -> bool:
    """Tell whether something was drawn for a run."""
    return reading.execute("SELECT 1 FROM trials WHERE ref = ?", (ref,)).fetchone() is not None


def add(
    writing: Writing,
    ref: str,
    *,
    unit: str,
    of: str,
    rate: float,
    first: bool,
    expected: float,
    candidates: Iterable[tuple[int, int, float, bool]],
) -> None:
    """Store the draw of a run: of each candidate its row number, revision, chance to be withheld, and whether it was.

    Args:
        first: nothing was drawn in its unit before.
        expected: how likely the run is to succeed with all candidates, as it was believed.
    """
    rows = [(ref, n, revision, chance, int(not out)) for n, revision, chance, out in candidates]
    held = int(not all(row[-1] for row in rows))
    row = (ref, unit, of, rate, held, int(first), expected)
    writing.insert("trials", ("ref", "unit", "of", "rate", "held", "drawn", "expected"), [row])
    writing.insert("candidates", ("ref", "memory", "revision", "chance", "given"), rows)


def trials(reading: Reading, since: datetime, most: int = ALL) -> list[Trial]:
    """Return the runs that had a chance of going without lessons, opened at or after `since`, in that order.

    Args:
        most: only so many, the newest.
    """
    rows = reading.execute(_TRIALS, (time_text(since), most))
    found = []
    for run, candidates in groupby(rows, key=lambda row: row[:11]):
        _, opened_at, task, verdict, tokens, unit, of, held, first, expected, steps = run
        found.append(
            Trial(
                at=parse_time(opened_at),
                unit=unit,
                task=fingerprint_text("", task),
                of=of,
                held=bool(held),
                drawn=bool(first),
                expected=expected,
                succeeded=_ENDED.get(verdict),
                tokens=tokens,
                steps=steps or None,
                candidates=tuple(
                    Candidate(
                        number=n,
                        memory=id_ or "",
                        revision=revision,
                        title=title or "",
                        tags=tuple(json.loads(tags or "[]")),
                        given=bool(given),
                        chance=chance,
                        unchanged=bool(unchanged),
                    )
                    for *_, id_, n, revision, given, chance, tags, title, unchanged in candidates
                ),
            )
        )
    return found
