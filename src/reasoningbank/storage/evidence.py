"""Rows of evidence, tallies, validations, verdicts and log positions: what a fold starts from, and what it puts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reasoningbank.signals import Signal, SignalKind, Tally, parse_time
from reasoningbank.storage import episodes, merges
from reasoningbank.storage.contract import Reading, Rows, Writing, column
from reasoningbank.storage.fold import UNIT, Changes, Contribution, Facts, Known, add_validations, folded
from reasoningbank.storage.signal_log import Segment
from reasoningbank.verdict import Verdict

_COLUMNS = ", ".join(Contribution._fields)
_TALLY = ("memory", "kind", "day", "source", "judge", "superseded")
TALLIES = (*_TALLY, "rolled", "positive", "negative", "last")
_GROUPED = ", ".join(_TALLY)
_SAME_TALLY = " AND ".join(f"{column} = ?" for column in _TALLY)
_SUMS = (
    "sum(CASE WHEN polarity > 0 THEN weight ELSE 0 END), sum(CASE WHEN polarity < 0 THEN weight ELSE 0 END), max(at)"
)
ADDED = (
    "ON CONFLICT (memory, kind, day, source, judge, superseded, rolled) DO UPDATE SET "
    "positive = tallies.positive + excluded.positive, negative = tallies.negative + excluded.negative, "
    "last = CASE WHEN excluded.last > tallies.last THEN excluded.last ELSE tallies.last END"
)
_REPLACED = "ON CONFLICT (memory, ref, kind) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in Contribution._fields[3:]
)
COUNTED = (
    "ON CONFLICT (segment, kind) DO UPDATE SET "
    "confirmed = validations.confirmed + excluded.confirmed, refuted = validations.refuted + excluded.refuted"
)
VERDICTS = {1: Verdict.SUCCESS, -1: Verdict.FAILURE, 0: Verdict.UNKNOWN}

# Each is looked up by its own key, without a join: a server that knows little of a table yet, or keeps plans of many
# projects, would go through all of the project's rows for each memory. The columns are of the same types as those of
# the evidence.
_FACTS = (
    "WITH {about} "
    "SELECT 'memory', n, a.ref, (SELECT id FROM memories AS m WHERE m.n = a.n), "
    "(SELECT revision FROM memories AS m WHERE m.n = a.n), (SELECT count(*) FROM merged WHERE merged.memory = a.n), "
    "(SELECT max(s.sealed) FROM served AS s WHERE s.ref = a.ref AND s.memory = a.n), "
    "(SELECT count(*) FROM episodes AS e WHERE e.ref = a.ref AND e.sealed = 1), "
    "NULL, NULL, NULL, NULL, NULL, NULL FROM about AS a "
    f"UNION ALL SELECT 'evidence', {_COLUMNS} FROM evidence WHERE ref IN ({{refs}}) "
    "UNION ALL SELECT 'sealed', n, a.ref, kind, "
    "(SELECT polarity FROM sealed AS s WHERE s.memory = a.n AND s.ref = a.ref AND s.kind = k.kind), "
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM about AS a, kinds AS k"
)
_KINDS = ", ".join(f"('{kind.value}')" for kind in SignalKind if kind is not SignalKind.USAGE)
_OF_RUN = _FACTS.format(
    about=f"about(n, ref) AS (SELECT memory, ref FROM served WHERE ref = ?), kinds(kind) AS (VALUES {_KINDS})", refs="?"
)
_OF_PAIRS = (
    "asked(id, ref) AS (VALUES {pairs}), "
    "about(n, ref) AS (SELECT (SELECT n FROM memories AS m WHERE m.id = asked.id), ref FROM asked), "
    f"kinds(kind) AS (VALUES {_KINDS})"
)


def ask_facts(reading: Reading, ref: str) -> Rows:
    """Ask what is known of all memories that a run was handed, for `facts_of` to read."""
    return reading.execute(_OF_RUN, (ref, ref))


def facts_of(reading: Reading, signals: Sequence[Signal], asked: Rows | None = None) -> Facts:
    """Return what is known of the memories and runs that signals are about; one question for all of them.

    Or what `ask_facts` asked, where that is given.
    """
    if asked is None:
        about = list(dict.fromkeys((signal.memory, signal.ref) for signal in signals))
        refs = list(dict.fromkeys(ref for _, ref in about))
        pairs = _OF_PAIRS.format(pairs=", ".join(["(?, ?)"] * len(about)))
        sql = _FACTS.format(about=pairs, refs=", ".join("?" * len(refs)))
        asked = reading.execute(sql, [*(value for pair in about for value in pair), *refs])
    facts = Facts()
    for what, *row in asked:
        if what == "evidence":
            contribution = Contribution(*row)
            facts.evidence[contribution.key] = contribution
        elif row[3] is None:
            # A memory that is gone, or what was not rolled up.
            continue
        elif what == "sealed":
            facts.sealed[row[0], row[1], row[2]] = row[3]
        else:
            n, ref, memory_id, revision, merged, served, closed = row[:7]
            facts.memories[memory_id] = Known(n, revision, bool(merged))
            if served is not None:
                facts.served[n, ref] = bool(served)
            if closed:
                facts.closed.add(ref)
    return facts


def put(writing: Writing, changes: Changes) -> None:
    """Put what a fold decided, and tell it to the feed."""
    writing.insert("evidence", Contribution._fields, list(changes.evidence.values()), _REPLACED)
    added = [(*key, 0, *sums) for key, sums in changes.added.items() if key not in changes.anew]
    writing.insert("tallies", TALLIES, added, ADDED)
    for tally in changes.anew:
        # What is taken back may also have been its latest.
        _sum_anew(writing, _SAME_TALLY, tally)
    _put_validations(writing, changes.validations)
    for ref, said in changes.verdicts.items():
        episodes.set_verdict(writing, ref, VERDICTS[said.polarity], reason=said.reason, by=said.by, now=said.at)
    for n in changes.told:
        writing.tell("evidence", n)
    if changes.merged:
        merges.tell_results(writing, changes.merged)


def _sum_anew(writing: Writing, condition: str, values: Sequence[Any]) -> None:
    """Derive tallies anew from what is kept of their evidence."""
    writing.execute(f"DELETE FROM tallies WHERE {condition} AND rolled = 0", values)
    _sum(writing, 0, condition, values)


def _sum(writing: Writing, rolled: int, condition: str, values: Sequence[Any]) -> None:
    writing.execute(
        f"INSERT INTO tallies({', '.join(TALLIES)}) SELECT {_GROUPED}, {rolled:d}, {_SUMS} FROM evidence "
        f"WHERE {condition} AND polarity <> 0 GROUP BY {_GROUPED} {ADDED}",
        values,
    )


def _put_validations(writing: Writing, counts: dict[tuple[int, str], tuple[int, int]]) -> None:
    if not counts:
        return
    rows = [(*key, *many) for key, many in counts.items()]
    writing.insert("validations", ("segment", "kind", "confirmed", "refuted"), rows, COUNTED)
    writing.execute("DELETE FROM validations WHERE confirmed = 0 AND refuted = 0")


# -- looking -------------------------------------------------------------------------------------------------------


def evidence_in(reading: Reading, segment: int) -> list[Contribution]:
    """Return what stands in a segment and counts now, in the order of its times."""
    standing = f"SELECT {_COLUMNS} FROM evidence WHERE segment = ? ORDER BY at, memory, ref, kind"
    return list(map(Contribution._make, reading.execute(standing, (segment,))))


def tally_of(row: Sequence[Any]) -> Tally:
    """Return a tally of its kind, day, source, judge, superseded, positive, negative and last, as they are stored.

    ValueError where they say what none can.
    """
    kind, day, source, judge, superseded, positive, negative, last = row
    weights = int(positive) / UNIT, int(negative) / UNIT
    return Tally(SignalKind(kind), day, source, judge, *weights, parse_time(last), bool(superseded))


def tallies_of(rows: Rows) -> dict[int, tuple[Tally, ...]]:
    """Return the tallies of each memory that rows of a number and a tally are of."""
    found: dict[int, list[Tally]] = {}
    for n, *columns in rows:
        # A damaged one is made anew by a rebuild.
        with suppress(ValueError):
            found.setdefault(n, []).append(tally_of(columns))
    return {n: tuple(tallies) for n, tallies in found.items()}


def units_of(tally: Tally) -> tuple[int, int]:
    """Return what a tally weighs for and against, as it is stored."""
    return round(tally.positive * UNIT), round(tally.negative * UNIT)


def spoke_for(reading: Reading, n: int, since: str) -> tuple[SignalKind, ...]:
    """Return the kinds of signal, votes apart, that spoke for a memory after a time."""
    kinds = column(
        reading,
        "SELECT DISTINCT kind FROM evidence WHERE memory = ? AND polarity > 0 AND kind <> 'explicit' AND at > ? "
        "ORDER BY kind",
        (n, since),
    )
    return tuple(map(SignalKind, kinds))


# -- taking back, rolling up, folding again ------------------------------------------------------------------------


def withdraw(writing: Writing, memory: int) -> None:
    """Take back all evidence about a memory: it is deleted, or says something else now."""
    rows = writing.execute(f"SELECT {_COLUMNS} FROM evidence WHERE memory = ?", (memory,)).fetchall()
    validations: dict[tuple[int, str], tuple[int, int]] = {}
    for withdrawn in map(Contribution._make, rows):
        add_validations(validations, withdrawn, -1)
        writing.execute("UPDATE log_positions SET orphans = orphans + 1 WHERE segment = ?", (withdrawn.segment,))
    _put_validations(writing, validations)
    for table in ("evidence", "tallies", "sealed"):
        writing.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))
    writing.execute("UPDATE served SET sealed = 0 WHERE memory = ?", (memory,))


def unname(writing: Writing, name: str, other: str) -> None:
    """Let what a source said and judged count on under no name; `other` takes the place of references of its name."""
    named = {"name": name}
    asked = "SELECT memory FROM evidence WHERE source = :name OR judge = :name UNION SELECT memory FROM tallies "
    memories = column(writing, f"{asked} WHERE source = :name OR judge = :name", named)
    its_own = "rolled = 1 AND (source = :name OR judge = :name)"
    rolled = writing.execute(f"SELECT {', '.join(TALLIES)} FROM tallies WHERE {its_own}", named).fetchall()
    writing.execute(f"DELETE FROM tallies WHERE {its_own}", named)
    source, judge = TALLIES.index("source"), TALLIES.index("judge")
    nameless = [["" if at in (source, judge) and v == name else v for at, v in enumerate(row)] for row in rolled]
    for row in nameless:
        # Two that differ in the name alone are one now.
        writing.insert("tallies", TALLIES, [row], ADDED)
    for each in ("source", "judge"):
        writing.execute(f"UPDATE evidence SET {each} = '' WHERE {each} = ?", (name,))
    for table in ("evidence", "sealed", "served"):
        writing.execute(f"UPDATE {table} SET ref = ? WHERE ref = ?", (other, name))
    for n in memories:
        _sum_anew(writing, "memory = ?", (n,))
        writing.tell("evidence", n)


def roll_up(writing: Writing, segment: int) -> None:
    """Move a segment's contributions into the tallies for good, and mark it; the file can then be deleted.

    What it said is sealed: a later verdict could no longer be told from a repeat.
    """
    _sum(writing, 1, "segment = ?", (segment,))
    writing.execute(
        "INSERT INTO sealed(memory, ref, kind, polarity) SELECT memory, ref, kind, polarity FROM evidence "
        "WHERE segment = ? AND kind <> 'usage' "
        "ON CONFLICT (memory, ref, kind) DO UPDATE SET polarity = excluded.polarity",
        (segment,),
    )
    writing.execute(
        "UPDATE served SET sealed = 1 WHERE (ref, memory) IN "
        "(SELECT ref, memory FROM evidence WHERE segment = ? AND kind = 'usage')",
        (segment,),
    )
    writing.execute(
        "UPDATE episodes SET sealed = 1 WHERE ref IN (SELECT ref FROM evidence WHERE segment = ?)", (segment,)
    )
    affected = column(writing, "SELECT DISTINCT memory FROM evidence WHERE segment = ?", (segment,))
    writing.execute("DELETE FROM evidence WHERE segment = ?", (segment,))
    for memory in affected:
        _sum_anew(writing, "memory = ?", (memory,))
    writing.execute("UPDATE log_positions SET rolled = 1 WHERE segment = ?", (segment,))


def forget(writing: Writing) -> None:
    """Drop all that the kept segments were folded into, so that they can be folded again from their beginning."""
    changed = "SELECT DISTINCT memory FROM tallies WHERE rolled = 0 UNION SELECT into_memory FROM merged"
    for n in column(writing, changed):
        writing.tell("evidence", n)
    writing.execute("DELETE FROM tallies WHERE rolled = 0")
    writing.execute("DELETE FROM evidence")
    writing.execute("DELETE FROM validations WHERE segment IN (SELECT segment FROM log_positions WHERE rolled = 0)")
    writing.execute("UPDATE log_positions SET position = 0, checksum = NULL, bad = 0, orphans = 0 WHERE rolled = 0")


def put_again(writing: Writing, runs: Sequence[tuple[int, str]], said: Sequence[tuple[Signal, int]]) -> None:
    """Fold again what is said of memories in these runs, of all that is kept; `sum_again` has to follow.

    Args:
        runs: row numbers of memories, each with a run.
        said: all signals about them, in the order of the log, each with the number of its segment.
    """
    for run in runs:
        writing.execute("DELETE FROM evidence WHERE memory = ? AND ref = ?", run)
    if said:
        changes = folded(facts_of(writing, [signal for signal, _ in said]), said)
        writing.insert("evidence", Contribution._fields, list(changes.evidence.values()), _REPLACED)


def sum_again(writing: Writing, memories: Sequence[int]) -> None:
    """Sum the tallies of memories anew, and tell it to the feed."""
    for n in memories:
        _sum_anew(writing, "memory = ?", (n,))
        writing.tell("evidence", n)
    merges.tell_results(writing, memories)


def validate_again(writing: Writing, segment: int) -> None:
    """Count anew what the votes in a segment confirmed and refuted."""
    counts: dict[tuple[int, str], tuple[int, int]] = {}
    for contribution in evidence_in(writing, segment):
        add_validations(counts, contribution, +1)
    writing.execute("DELETE FROM validations WHERE segment = ?", (segment,))
    _put_validations(writing, counts)


# -- how far each segment of the log is counted ----------------------------------------------------------------------


class Position(NamedTuple):
    """How far a segment is counted, and what was found in it.

    Attributes:
        end: the offset behind the last line that is counted.
        checksum: of what is counted (CRC-32); None where a version before checksums counted it, or nothing is counted.
        bad: lines that cannot be read.
        orphans: lines about memories that are gone or say something else now.
        set_back: how often the position was behind the file's end.
        rolled: it counts for good, and its file may be gone.
    """

    segment: Segment
    end: int = 0
    checksum: int | None = None
    bad: int = 0
    orphans: int = 0
    set_back: int = 0
    rolled: bool = False


POSITIONS = (
    "SELECT segment, name, position, checksum, bad, orphans, set_back, rolled FROM log_positions ORDER BY segment"
)


def positions(reading: Reading, asked: Rows | None = None) -> list[Position]:
    """Return the positions of all segments, in the order of evidence; `asked`: POSITIONS, where it was asked before."""
    return [
        Position(Segment(n, name), end, checksum, bad, orphans, set_back, bool(rolled))
        for n, name, end, checksum, bad, orphans, set_back, rolled in asked or reading.execute(POSITIONS)
    ]


def kept(reading: Reading) -> list[Position]:
    """Return the positions of the segments that are not rolled up, in the order of evidence."""
    return [position for position in positions(reading) if not position.rolled]


def begin(writing: Writing, segment: Segment) -> None:
    """Begin to count a segment."""
    writing.insert("log_positions", ("segment", "name", "day"), [(segment.number, segment.name, segment.day)])


def move(writing: Writing, position: Position, *, bad: int = 0, orphans: int = 0) -> None:
    """Note how far a segment is counted now, and what was found on the way."""
    writing.execute(
        "UPDATE log_positions SET position = ?, checksum = ?, bad = bad + ?, orphans = orphans + ? WHERE segment = ?",
        (position.end, position.checksum, bad, orphans, position.segment.number),
    )


def count_set_back(writing: Writing, segment: Segment) -> None:
    """Note that counted lines were missing from a segment's file."""
    writing.execute("UPDATE log_positions SET set_back = set_back + 1 WHERE segment = ?", (segment.number,))
