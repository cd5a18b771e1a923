"""Folding signals into evidence, tallies, validations and verdicts, inside the caller's write transaction.

A fold is a function of the lines in their order: folding the kept segments again gives the same rows. What a
(memory, ref, kind) said is counted once: a repeat changes nothing and an opposite signal replaces the first.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from enum import StrEnum

from reasoningbank.episode import Verdict
from reasoningbank.signals import Signal, SignalKind, day_number, time_text
from reasoningbank.storage.episodes import exists

# Weights are kept as whole millionths: sums are exact and do not depend on the order.
UNIT = 1_000_000


class Folded(StrEnum):
    """What became of a signal."""

    COUNTED = "counted"
    REPEATED = "repeated"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class _Contribution:
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


_COLUMNS = "memory, ref, kind, polarity, weight, superseded, day, at, source, judge, alone, validates, segment"


def fold(connection: sqlite3.Connection, signal: Signal, segment: int) -> Folded:
    """Count one signal that stands in `segment`, and set its episode's verdict when it is an outcome."""
    row = connection.execute("SELECT n, revision FROM memories WHERE id = ?", (signal.memory,)).fetchone()
    if row is None or row[1] != signal.revision:
        return Folded.ORPHAN
    if signal.kind is SignalKind.USAGE and not exists(connection, signal.ref):
        # The recall that handed it out was never acknowledged.
        return Folded.ORPHAN
    if signal.kind is SignalKind.OUTCOME and not signal.alone:
        _set_verdict(connection, signal)
    old = _evidence(connection, row[0], signal.ref, signal.kind)
    new = _contribution(row[0], signal, segment)
    if old is not None and (old.polarity, old.weight) == (new.polarity, new.weight):
        return Folded.REPEATED
    _replace(connection, old, new)
    connection.execute("INSERT INTO changes(op, memory) VALUES ('evidence', ?)", (new.memory,))
    return Folded.COUNTED


def _contribution(memory: int, signal: Signal, segment: int) -> _Contribution:
    return _Contribution(
        memory=memory,
        ref=signal.ref,
        kind=signal.kind.value,
        polarity=signal.polarity,
        weight=max(1, round(signal.strength * UNIT)) if signal.polarity else 0,
        superseded=0,
        day=day_number(signal.at),
        at=time_text(signal.at),
        source=signal.source,
        judge=signal.by,
        alone=int(signal.alone),
        validates=json.dumps([kind.value for kind in signal.validates]),
        segment=segment,
    )


def _evidence(connection: sqlite3.Connection, memory: int, ref: str, kind: SignalKind) -> _Contribution | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM evidence WHERE memory = ? AND ref = ? AND kind = ?", (memory, ref, kind.value)
    ).fetchone()
    return None if row is None else _Contribution(*row)


def _replace(connection: sqlite3.Connection, old: _Contribution | None, new: _Contribution) -> None:
    if old is not None:
        _add_to_tallies(connection, old, -1)
        _add_to_validations(connection, old, -1)
    if new.kind == SignalKind.OUTCOME:
        vote = _evidence(connection, new.memory, new.ref, SignalKind.EXPLICIT)
        new = _with(new, superseded=int(vote is not None and vote.polarity != 0))
    elif new.kind == SignalKind.EXPLICIT:
        _supersede_outcome(connection, new)
    connection.execute(
        f"INSERT OR REPLACE INTO evidence({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        tuple(getattr(new, name) for name in _Contribution.__slots__),
    )
    _add_to_tallies(connection, new, +1)
    _add_to_validations(connection, new, +1)


def _with(contribution: _Contribution, *, superseded: int) -> _Contribution:
    values = {name: getattr(contribution, name) for name in _Contribution.__slots__}
    return _Contribution(**(values | {"superseded": superseded}))


def _supersede_outcome(connection: sqlite3.Connection, vote: _Contribution) -> None:
    # A vote about the same run says more directly what the shared outcome only hints at.
    outcome = _evidence(connection, vote.memory, vote.ref, SignalKind.OUTCOME)
    superseded = int(vote.polarity != 0)
    if outcome is None or outcome.superseded == superseded:
        return
    _add_to_tallies(connection, outcome, -1)
    _add_to_tallies(connection, _with(outcome, superseded=superseded), +1)
    connection.execute(
        "UPDATE evidence SET superseded = ? WHERE memory = ? AND ref = ? AND kind = ?",
        (superseded, outcome.memory, outcome.ref, outcome.kind),
    )


def _add_to_tallies(connection: sqlite3.Connection, what: _Contribution, sign: int, rolled: int = 0) -> None:
    if what.polarity == 0:
        return
    amount = sign * what.weight
    positive, negative = (amount, 0) if what.polarity > 0 else (0, amount)
    key = (what.memory, what.kind, what.day, what.source, what.judge, what.superseded, rolled)
    connection.execute(
        "INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "positive = positive + excluded.positive, negative = negative + excluded.negative, "
        "last = max(last, excluded.last)",
        (*key, positive, negative, what.at),
    )
    if sign < 0:
        connection.execute(
            "DELETE FROM tallies WHERE memory = ? AND kind = ? AND day = ? AND source = ? AND judge = ? "
            "AND superseded = ? AND rolled = ? AND positive = 0 AND negative = 0",
            key,
        )


def _add_to_validations(connection: sqlite3.Connection, vote: _Contribution, sign: int) -> None:
    if vote.kind != SignalKind.EXPLICIT or vote.polarity == 0:
        return
    confirmed, refuted = (sign, 0) if vote.polarity > 0 else (0, sign)
    for kind in json.loads(vote.validates):
        connection.execute(
            "INSERT INTO validations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "confirmed = confirmed + excluded.confirmed, refuted = refuted + excluded.refuted",
            (vote.segment, kind, confirmed, refuted),
        )
    if sign < 0:
        connection.execute(
            "DELETE FROM validations WHERE segment = ? AND confirmed = 0 AND refuted = 0", (vote.segment,)
        )


def _set_verdict(connection: sqlite3.Connection, signal: Signal) -> None:
    verdict = {1: Verdict.SUCCESS, -1: Verdict.FAILURE, 0: Verdict.UNKNOWN}[signal.polarity]
    connection.execute(
        "UPDATE episodes SET verdict = ?, closed_at = ?, reason = ?, judge = ? WHERE ref = ?",
        (verdict.value, time_text(signal.at), signal.reason, signal.by, signal.ref),
    )


def withdraw_memory(connection: sqlite3.Connection, memory: int) -> None:
    """Take back all evidence about a memory: it is deleted, or says something else now."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM evidence WHERE memory = ?", (memory,)).fetchall()
    for row in rows:
        _add_to_validations(connection, _Contribution(*row), -1)
    connection.execute("DELETE FROM evidence WHERE memory = ?", (memory,))
    connection.execute("DELETE FROM tallies WHERE memory = ?", (memory,))


def roll_up(connection: sqlite3.Connection, segment: int) -> None:
    """Move a segment's contributions into the tallies for good, and mark it; the file can then be deleted.

    Episodes whose evidence goes are sealed: a later verdict could no longer be told from a repeat.
    """
    rows = connection.execute(f"SELECT {_COLUMNS} FROM evidence WHERE segment = ?", (segment,)).fetchall()
    for row in rows:
        contribution = _Contribution(*row)
        _add_to_tallies(connection, contribution, -1)
        _add_to_tallies(connection, contribution, +1, rolled=1)
    connection.execute(
        "UPDATE episodes SET sealed = 1 WHERE ref IN (SELECT ref FROM evidence WHERE segment = ?)", (segment,)
    )
    connection.execute("DELETE FROM evidence WHERE segment = ?", (segment,))
    connection.execute("UPDATE log_positions SET rolled = 1 WHERE segment = ?", (segment,))


def forget_fold(connection: sqlite3.Connection) -> None:
    """Drop all that the kept segments were folded into, so that they can be folded again from their beginning."""
    connection.execute("DELETE FROM tallies WHERE rolled = 0")
    connection.execute("DELETE FROM evidence")
    connection.execute("DELETE FROM validations WHERE segment IN (SELECT segment FROM log_positions WHERE rolled = 0)")
    connection.execute("UPDATE log_positions SET position = 0, bad = 0, orphans = 0 WHERE rolled = 0")
