"""Rows of links between memories, and of what speaks for new ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reasoningbank.links import OPPOSED, SYMMETRIC, CoUse, Link, Requires
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.stored_vectors import CURRENT

_COLUMNS = "a.id, b.id, l.type, l.strength, l.evidence, l.judge, l.at"
LessonRow = tuple[int, str, str, bytes]
_JOINED = "links AS l JOIN memories AS a ON a.n = l.source JOIN memories AS b ON b.n = l.target"


def put(
    writing: Writing, ends: tuple[int, int], type_: str, *, strength: float, evidence: str, by: str, now: datetime
) -> bool:
    """Set a link, and tell whether it is new. One of a symmetric type is the same from either end."""
    ends = known_ends(writing, ends, type_)
    changed = writing.execute(
        "UPDATE links SET strength = ?, evidence = ?, judge = ? WHERE source = ? AND target = ? AND type = ?",
        (strength, evidence, by, *ends, type_),
    ).rowcount
    if not changed:
        columns = ("source", "target", "type", "strength", "evidence", "judge", "at")
        writing.insert("links", columns, [(*ends, type_, strength, evidence, by, time_text(now))])
    return not changed


def known_ends(reading: Reading, ends: tuple[int, int], type_: str) -> tuple[int, int]:
    """Return the ends as they are stored: turned round where a symmetric link stands the other way."""
    turned = (ends[1], ends[0])
    there = "SELECT 1 FROM links WHERE source = ? AND target = ? AND type = ?"
    return turned if type_ in SYMMETRIC and reading.execute(there, (*turned, type_)).fetchone() else ends


def remove(writing: Writing, ends: tuple[int, int], type_: str | None) -> int:
    """Remove the links from one memory to another, of one type or of all; return how many."""
    if type_ is not None:
        found = (*known_ends(writing, ends, type_), type_)
        return writing.execute("DELETE FROM links WHERE source = ? AND target = ? AND type = ?", found).rowcount
    return writing.execute(
        "DELETE FROM links WHERE (source = :source AND target = :target) "
        "OR (source = :target AND target = :source AND type IN (:symmetric))",
        {"source": ends[0], "target": ends[1], "symmetric": sorted(SYMMETRIC)},
    ).rowcount


def between(reading: Reading, ends: tuple[int, int], type_: str) -> Link:
    """Return a link that is there."""
    link = f"SELECT {_COLUMNS} FROM {_JOINED} WHERE l.source = ? AND l.target = ? AND l.type = ?"
    return _link(reading.execute(link, (*known_ends(reading, ends, type_), type_)).fetchone())


def of_memory(reading: Reading, n: int) -> list[Link]:
    """Return the links of a memory: those from it first, then those to it, each by type, then by the other's age."""
    rows = reading.execute(
        f"SELECT {_COLUMNS} FROM {_JOINED} WHERE l.source = ? OR l.target = ? "
        "ORDER BY l.source <> ?, l.type, l.source, l.target",
        (n, n, n),
    )
    return [_link(row) for row in rows]


def ends_of(reading: Reading, numbers: Sequence[int]) -> list[tuple[int, int, str, float, str, str]]:
    """Return (source, target, type, strength, evidence, judge) of every link from or to one of these memories."""
    return reading.execute(
        "SELECT source, target, type, strength, evidence, judge FROM links "
        "WHERE source IN (:numbers) OR target IN (:numbers) ORDER BY source, target, type",
        {"numbers": list(numbers)},
    ).fetchall()


def leaving(reading: Reading, numbers: Sequence[int]) -> dict[int, list[Link]]:
    """Return the links from each of these memories."""
    rows = reading.execute(
        f"SELECT l.source, {_COLUMNS} FROM {_JOINED} WHERE l.source IN (:numbers) ORDER BY l.source, l.target, l.type",
        {"numbers": list(numbers)},
    )
    found: dict[int, list[Link]] = {}
    for source, *row in rows:
        found.setdefault(source, []).append(_link(row))
    return found


def _link(row: Sequence[str]) -> Link:
    source, target, type_, strength, evidence, by, at = row
    return Link(source, target, type_, float(strength), evidence, by, parse_time(at))


def requirements(reading: Reading, numbers: Sequence[int]) -> Requires:
    """Return what each of these memories requires, as (row number, strength); active memories only."""
    rows = reading.execute(
        "SELECT l.source, l.target, l.strength FROM links AS l JOIN memories AS m ON m.n = l.target "
        "WHERE l.type = 'requires' AND m.state = 'active' AND l.source IN (:numbers) "
        "ORDER BY l.source, l.target",
        {"numbers": list(numbers)},
    )
    found: dict[int, list[tuple[int, float]]] = {}
    for source, target, strength in rows:
        found.setdefault(source, []).append((target, strength))
    return found


def opposed(reading: Reading, numbers: Sequence[int]) -> list[Link]:
    """Return the links that say that two of these memories cannot both be followed, the strongest first."""
    rows = reading.execute(
        f"SELECT {_COLUMNS} FROM {_JOINED} WHERE l.source IN (:numbers) AND l.target IN (:numbers) "
        "AND l.type IN (:opposed) ORDER BY l.strength DESC, l.source, l.target, l.type",
        {"numbers": list(numbers), "opposed": list(OPPOSED)},
    )
    return [_link(row) for row in rows]


# -- suggestions ---------------------------------------------------------------------------------------------------

# What is active and expires at no time: what does is not linked for good, nor made a part of what does not.
_LASTING = "SELECT n FROM memories WHERE state = 'active' AND expires_at IS NULL"


def linked_pairs(reading: Reading) -> set[tuple[int, int]]:
    """Return the pairs of memories that a link joins, the older first."""
    pairs = reading.execute("SELECT DISTINCT source, target FROM links").fetchall()
    return {(min(pair), max(pair)) for pair in pairs}


def used_together(reading: Reading, fewest: int) -> list[tuple[int, int, CoUse]]:
    """Return the pairs of lasting memories that were handed out in at least `fewest` same runs, the older first."""
    pairs = reading.execute(
        "SELECT a.memory, b.memory, count(*), sum(CASE WHEN e.verdict = 'success' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN e.verdict = 'failure' THEN 1 ELSE 0 END) "
        "FROM served AS a JOIN served AS b ON b.ref = a.ref AND b.memory > a.memory "
        "JOIN episodes AS e ON e.ref = a.ref "
        f"WHERE a.memory IN ({_LASTING}) AND b.memory IN ({_LASTING}) "
        "GROUP BY a.memory, b.memory HAVING count(*) >= ? ORDER BY a.memory, b.memory",
        (fewest,),
    ).fetchall()
    runs = dict(reading.execute("SELECT memory, count(*) FROM served GROUP BY memory"))
    return [
        (one, other, CoUse(together, int(succeeded), int(failed), runs[one] + runs[other] - together))
        for one, other, together, succeeded, failed in pairs
    ]


def lesson_rows(reading: Reading) -> list[LessonRow]:
    """Return (row number, id, outcome, vector) of every lasting memory that is embedded, in the order recorded."""
    return reading.execute(
        "SELECT m.n, m.id, m.outcome, v.vector FROM memories AS m JOIN vectors AS v ON v.memory = m.n "
        f"WHERE m.n IN ({_LASTING}) AND v.role = 'lesson' "
        f"AND v.generation = {CURRENT} ORDER BY m.n"
    ).fetchall()


def ids_of(reading: Reading, numbers: Sequence[int]) -> dict[int, str]:
    """Return the ids of memories by row number."""
    return dict(reading.execute("SELECT n, id FROM memories WHERE n IN (:numbers)", {"numbers": list(numbers)}))
