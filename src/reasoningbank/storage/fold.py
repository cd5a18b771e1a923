"""Folding signals into evidence, tallies, validations and verdicts, inside the caller's write transaction.

A fold is a function of the lines in their order: folding the kept segments again gives the same rows. What a
(memory, ref, kind) said is counted once: a repeat changes nothing and an opposite signal replaces the first.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from operator import attrgetter

from reasoningbank.episode import Verdict
from reasoningbank.signals import Signal, SignalKind, day_number, time_text
from reasoningbank.storage import merges

# Weights are kept as whole millionths: sums are exact and do not depend on the order.
UNIT = 1_000_000


class Folded(StrEnum):
    """What became of a signal."""

    COUNTED = "counted"
    REPEATED = "repeated"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What (memory, ref, kind) adds to the tallies; columns of `evidence`, in order."""

    memory: int
    ref: str
    kind: str
    polarity: int
    weight: int
    superseded: int
    day: int
    at: str
    source: str
    judge: str
    alone: int
    validates: str
    segment: int

    @property
    def tally(self) -> tuple[int, str, int, str, str, int]:
        """The key of the tally it is counted in."""
        return self.memory, self.kind, self.day, self.source, self.judge, self.superseded


_NAMES = tuple(field.name for field in fields(Contribution))
_COLUMNS = ", ".join(_NAMES)
# dataclasses.astuple copies every value deeply, which took a tenth of a report.
_values = attrgetter(*_NAMES)
_TALLY = "memory, kind, day, source, judge, superseded"
_SAME_TALLY = "memory = ? AND kind = ? AND day = ? AND source = ? AND judge = ? AND superseded = ?"
_SUMS = (
    "sum(CASE WHEN polarity > 0 THEN weight ELSE 0 END), sum(CASE WHEN polarity < 0 THEN weight ELSE 0 END), max(at)"
)
_ADDED = (
    "ON CONFLICT DO UPDATE SET positive = positive + excluded.positive, negative = negative + excluded.negative, "
    "last = max(last, excluded.last)"
)


Verdicts = dict[str, Signal]
"""The last outcome of each run, which says how its episode ended."""

_KNOWN = (
    "SELECT m.n, m.revision, EXISTS(SELECT 1 FROM merged WHERE memory = m.n), "
    "EXISTS(SELECT 1 FROM sealed AS s WHERE s.memory = m.n AND s.ref = :ref AND s.kind = :kind), "
    f"{', '.join(f'e.{name}' for name in _NAMES)} FROM memories AS m "
    "LEFT JOIN evidence AS e ON e.memory = m.n AND e.ref = :ref AND e.kind = :kind WHERE m.id = :id"
)


def fold(connection: sqlite3.Connection, signal: Signal, segment: int, verdicts: Verdicts) -> Folded:
    """Count one signal that stands in `segment`; put it among the verdicts when it says how its run ended."""
    row = connection.execute(_KNOWN, {"id": signal.memory, "ref": signal.ref, "kind": signal.kind.value}).fetchone()
    if row is None or row[1] != signal.revision:
        return Folded.ORPHAN
    n, _, merged, sealed, *contributed = row
    old = None if contributed[0] is None else Contribution(*contributed)
    if old is None and (known := _known_already(connection, n, signal, bool(sealed))) is not None:
        return known
    if signal.kind is SignalKind.OUTCOME and not signal.alone:
        verdicts[signal.ref] = signal
    new = _contribution(n, signal, segment)
    if old is not None and (old.polarity, old.weight) == (new.polarity, new.weight):
        return Folded.REPEATED
    _put(connection, old, new)
    connection.execute("INSERT INTO changes(op, memory) VALUES ('evidence', ?)", (n,))
    if merged:
        merges.tell_results(connection, [n])
    return Folded.COUNTED


def _known_already(connection: sqlite3.Connection, memory: int, signal: Signal, sealed: bool) -> Folded | None:
    """Say what becomes of a signal whose evidence is not at hand; None when it is new."""
    if signal.kind is not SignalKind.USAGE:
        return Folded.REPEATED if sealed else None
    served = connection.execute(
        "SELECT max(sealed) FROM served WHERE ref = ? AND memory = ?", (signal.ref, memory)
    ).fetchone()[0]
    if served is None:
        # The recall that handed it out was never acknowledged.
        return Folded.ORPHAN
    return Folded.REPEATED if served else None


def is_news(connection: sqlite3.Connection, memory: int, signal: Signal) -> bool:
    """Tell whether a signal would change what counts: what was rolled up can be neither repeated nor revised."""
    sealed, said = connection.execute(
        "SELECT EXISTS(SELECT 1 FROM episodes WHERE ref = :ref AND sealed) OR "
        "EXISTS(SELECT 1 FROM sealed WHERE memory = :memory AND ref = :ref AND kind = :kind), "
        "(SELECT polarity FROM evidence WHERE memory = :memory AND ref = :ref AND kind = :kind)",
        {"memory": memory, "ref": signal.ref, "kind": signal.kind.value},
    ).fetchone()
    return not sealed and said != signal.polarity


def _contribution(memory: int, signal: Signal, segment: int) -> Contribution:
    return Contribution(
        memory=memory,
        ref=signal.ref,
        kind=signal.kind.value,
        polarity=signal.polarity,
        weight=weight_of(signal),
        superseded=0,
        day=day_number(signal.at),
        at=time_text(signal.at),
        source=signal.source,
        judge=signal.by,
        alone=int(signal.alone),
        validates=json.dumps([kind.value for kind in signal.validates]),
        segment=segment,
    )


def weight_of(signal: Signal) -> int:
    """Return what a signal weighs, in millionths; nothing when it withdraws what was said before."""
    return max(1, round(signal.strength * UNIT)) if signal.polarity else 0


def evidence_of(connection: sqlite3.Connection, memory: int, ref: str, kind: SignalKind) -> Contribution | None:
    """Return what (memory, ref, kind) contributes now, as far as its segment is kept."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM evidence WHERE memory = ? AND ref = ? AND kind = ?", (memory, ref, kind.value)
    ).fetchone()
    return None if row is None else Contribution(*row)


def evidence_in(connection: sqlite3.Connection, segment: int) -> list[Contribution]:
    """Return what stands in a segment and counts now, in the order of its times."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM evidence WHERE segment = ? ORDER BY at, memory, ref, kind", (segment,)
    )
    return [Contribution(*row) for row in rows]


def _put(connection: sqlite3.Connection, old: Contribution | None, new: Contribution) -> None:
    if new.kind == SignalKind.OUTCOME and _has_vote(connection, new):
        new = replace(new, superseded=1)
    connection.execute(
        f"INSERT OR REPLACE INTO evidence({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _values(new)
    )
    if old is None:
        _add(connection, new)
    else:
        _add_to_validations(connection, old, -1)
        _sum_again(connection, old.tally)
        _sum_again(connection, new.tally)
    _add_to_validations(connection, new, +1)
    if new.kind == SignalKind.EXPLICIT:
        _supersede_outcome(connection, new)


def _has_vote(connection: sqlite3.Connection, outcome: Contribution) -> bool:
    same = (outcome.memory, outcome.ref, SignalKind.EXPLICIT.value)
    row = connection.execute(
        "SELECT polarity FROM evidence WHERE memory = ? AND ref = ? AND kind = ? UNION ALL "
        "SELECT polarity FROM sealed WHERE memory = ? AND ref = ? AND kind = ? LIMIT 1",
        (*same, *same),
    ).fetchone()
    return row is not None and row[0] != 0


def _supersede_outcome(connection: sqlite3.Connection, vote: Contribution) -> None:
    # A vote about the same run says more directly what the shared outcome only hints at.
    outcome = evidence_of(connection, vote.memory, vote.ref, SignalKind.OUTCOME)
    superseded = int(vote.polarity != 0)
    if outcome is None or outcome.superseded == superseded:
        return
    connection.execute(
        "UPDATE evidence SET superseded = ? WHERE memory = ? AND ref = ? AND kind = ?",
        (superseded, outcome.memory, outcome.ref, outcome.kind),
    )
    _sum_again(connection, outcome.tally)
    _sum_again(connection, replace(outcome, superseded=superseded).tally)


# -- tallies: sums over the evidence, and apart from it what was rolled up ----------------------------------------


def _add(connection: sqlite3.Connection, new: Contribution) -> None:
    if new.polarity == 0:
        return
    positive, negative = (new.weight, 0) if new.polarity > 0 else (0, new.weight)
    connection.execute(
        f"INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?) {_ADDED}", (*new.tally, positive, negative, new.at)
    )


def _sum_again(connection: sqlite3.Connection, tally: tuple[int, str, int, str, str, int]) -> None:
    """Derive one tally anew: what is taken back may also have been its latest."""
    connection.execute(f"DELETE FROM tallies WHERE {_SAME_TALLY} AND rolled = 0", tally)
    connection.execute(
        f"INSERT INTO tallies SELECT {_TALLY}, 0, {_SUMS} FROM evidence "
        f"WHERE {_SAME_TALLY} AND polarity <> 0 GROUP BY {_TALLY}",
        tally,
    )


def _add_to_validations(connection: sqlite3.Connection, vote: Contribution, sign: int) -> None:
    if vote.kind != SignalKind.EXPLICIT or vote.polarity == 0:
        return
    confirmed, refuted = (sign, 0) if vote.polarity > 0 else (0, sign)
    connection.executemany(
        "INSERT INTO validations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "confirmed = confirmed + excluded.confirmed, refuted = refuted + excluded.refuted",
        [(vote.segment, kind, confirmed, refuted) for kind in json.loads(vote.validates)],
    )
    if sign < 0:
        connection.execute(
            "DELETE FROM validations WHERE segment = ? AND confirmed = 0 AND refuted = 0", (vote.segment,)
        )


def set_verdicts(connection: sqlite3.Connection, verdicts: Verdicts) -> None:
    """Let episodes have ended as the last outcome of each says."""
    connection.executemany(
        "UPDATE episodes SET verdict = ?, closed_at = ?, reason = ?, judge = ? WHERE ref = ?",
        [
            (_VERDICTS[signal.polarity].value, time_text(signal.at), signal.reason, signal.by, ref)
            for ref, signal in verdicts.items()
        ],
    )


_VERDICTS = {1: Verdict.SUCCESS, -1: Verdict.FAILURE, 0: Verdict.UNKNOWN}


# -- taking back, rolling up, folding again ------------------------------------------------------------------------


def withdraw_memory(connection: sqlite3.Connection, memory: int) -> None:
    """Take back all evidence about a memory: it is deleted, or says something else now."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM evidence WHERE memory = ?", (memory,)).fetchall()
    for row in rows:
        withdrawn = Contribution(*row)
        _add_to_validations(connection, withdrawn, -1)
        connection.execute("UPDATE log_positions SET orphans = orphans + 1 WHERE segment = ?", (withdrawn.segment,))
    for table in ("evidence", "tallies", "sealed"):
        connection.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))
    connection.execute("UPDATE served SET sealed = 0 WHERE memory = ?", (memory,))


def roll_up(connection: sqlite3.Connection, segment: int) -> None:
    """Move a segment's contributions into the tallies for good, and mark it; the file can then be deleted.

    What it said is sealed: a later verdict could no longer be told from a repeat.
    """
    connection.execute(
        f"INSERT INTO tallies SELECT {_TALLY}, 1, {_SUMS} FROM evidence WHERE segment = ? AND polarity <> 0 "
        f"GROUP BY {_TALLY} {_ADDED}",
        (segment,),
    )
    connection.execute(
        "INSERT OR REPLACE INTO sealed SELECT memory, ref, kind, polarity FROM evidence "
        "WHERE segment = ? AND kind <> 'usage'",
        (segment,),
    )
    connection.execute(
        "UPDATE served SET sealed = 1 WHERE (ref, memory) IN "
        "(SELECT ref, memory FROM evidence WHERE segment = ? AND kind = 'usage')",
        (segment,),
    )
    connection.execute(
        "UPDATE episodes SET sealed = 1 WHERE ref IN (SELECT ref FROM evidence WHERE segment = ?)", (segment,)
    )
    affected = [n for (n,) in connection.execute("SELECT DISTINCT memory FROM evidence WHERE segment = ?", (segment,))]
    connection.execute("DELETE FROM evidence WHERE segment = ?", (segment,))
    for memory in affected:
        connection.execute("DELETE FROM tallies WHERE memory = ? AND rolled = 0", (memory,))
        connection.execute(
            f"INSERT INTO tallies SELECT {_TALLY}, 0, {_SUMS} FROM evidence WHERE memory = ? AND polarity <> 0 "
            f"GROUP BY {_TALLY}",
            (memory,),
        )
    connection.execute("UPDATE log_positions SET rolled = 1 WHERE segment = ?", (segment,))


def forget_fold(connection: sqlite3.Connection) -> None:
    """Drop all that the kept segments were folded into, so that they can be folded again from their beginning."""
    connection.execute(
        "INSERT INTO changes(op, memory) SELECT DISTINCT 'evidence', memory FROM tallies WHERE rolled = 0"
    )
    connection.execute("INSERT INTO changes(op, memory) SELECT DISTINCT 'evidence', into_memory FROM merged")
    connection.execute("DELETE FROM tallies WHERE rolled = 0")
    connection.execute("DELETE FROM evidence")
    connection.execute("DELETE FROM validations WHERE segment IN (SELECT segment FROM log_positions WHERE rolled = 0)")
    connection.execute("UPDATE log_positions SET position = 0, bad = 0, orphans = 0 WHERE rolled = 0")
