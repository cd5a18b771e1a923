"""Signals: the evidence about memories, one line each, and the tallies they fold into."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

SIGNAL_VERSION = 1
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()


class SignalKind(StrEnum):
    """What kind of evidence a signal is."""

    EXPLICIT = "explicit"
    USAGE = "usage"
    OUTCOME = "outcome"
    STABILITY = "stability"
    REPAIR = "repair"


class BadLineError(ValueError):
    """A line of the log that is not a signal this version can read; the message says why."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One piece of evidence about one memory.

    Attributes:
        id: unique.
        at: when it was given, aware UTC.
        memory: the memory's id.
        revision: of what the memory said then; evidence about an older text does not count for the new one.
        kind: explicit vote, usage, outcome of a run, stability of a change, or repair: whether what failed worked after
            the memory was handed out at the failure.
        polarity: +1 for, -1 against, 0 withdraws what (memory, ref, kind) said before.
        strength: in (0, 1].
        ref: the episode, session or vote it belongs to; there is one signal per (memory, ref, kind).
        source: the session or agent it came from.
        by: who judged.
        reason: in words, scrubbed.
        alone: an outcome judged for this memory alone. It does not close its episode, and the outcome of the whole
            episode does not replace it.
        validates: the kinds that an explicit vote confirms or refutes: those with a positive signal for the memory in
            the day before it. Written with the vote, so that folding the log again teaches the same.
    """

    id: str
    at: datetime
    memory: str
    revision: int
    kind: SignalKind
    polarity: int
    ref: str
    strength: float = 1.0
    source: str = ""
    by: str = ""
    reason: str = ""
    alone: bool = False
    validates: tuple[SignalKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """What a memory's signals of one kind, day, source and judge add up to.

    Attributes:
        day: days since 1970-01-01, UTC.
        positive: summed strength of the signals for.
        negative: summed strength of the signals against.
        last: time of the last one.
        superseded: outcomes of episodes that also have an explicit vote about the memory. The calibrated model leaves
            them out, since the vote says the same more directly; the spec model counts both.
    """

    kind: SignalKind
    day: int
    source: str
    by: str
    positive: float
    negative: float
    last: datetime
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """One piece of the evidence about a memory, and what was believed with it and all before it.

    Attributes:
        at: when it was given; of several that were rolled up, when the last was.
        kind: what kind of evidence; usage says nothing of a memory, but old evidence fades by it.
        positive, negative: its strength for and against the memory; of one piece, one of them is 0.
        ref: the run or vote it belongs to; "" of what was rolled up.
        by: who judged.
        source: the session or agent it came from.
        confidence: the belief's mean after it; `low` and `high`: its central 80 % interval.
    """

    at: datetime
    kind: SignalKind
    positive: float
    negative: float
    ref: str
    by: str
    source: str
    confidence: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a memory is believed: the pieces, in the order they were given, from what it started with.

    Attributes:
        confidence: what was believed before the first of the pieces; `low` and `high`: its central 80 % interval.
        standing: proven, provisional or rejected, by what is believed now and the setting `floor`.
        earlier: how many pieces came before those, and are in that belief.
    """

    memory: str
    confidence: float
    low: float
    high: float
    standing: str
    pieces: tuple[EvidencePiece, ...] = ()
    earlier: int = 0


def day_number(at: datetime) -> int:
    """Return the days from 1970-01-01 to `at`'s UTC day; negative before."""
    return at.astimezone(UTC).date().toordinal() - _EPOCH_ORDINAL


def as_utc(at: datetime) -> datetime:
    """Return `at` in UTC; a naive time is read as UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def time_text(at: datetime) -> str:
    """Return `at` as fixed-width ISO 8601 UTC with microseconds, so that texts sort as times do."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; a naive one is UTC. ValueError when it is none."""
    return as_utc(datetime.fromisoformat(text))


# dataclasses.asdict copies every value deeply.
_SIGNAL_FIELDS = tuple(field.name for field in fields(Signal))


def to_line(signal: Signal) -> bytes:
    """Return the signal as one line of the log, newline included."""
    record = (
        {"v": SIGNAL_VERSION} | {name: getattr(signal, name) for name in _SIGNAL_FIELDS} | {"at": time_text(signal.at)}
    )
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def from_line(line: bytes) -> Signal:
    r"""Read one line of the log, without its `\n`. A byte order mark and a final `\r` are tolerated.

    BadLineError, which says why, when it is not a signal of this version.
    """
    try:
        record = json.loads(line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r").decode())
    except (ValueError, RecursionError):
        raise BadLineError("not JSON") from None
    if not isinstance(record, dict):
        raise BadLineError("not a JSON object")
    if record.get("v") != SIGNAL_VERSION:
        raise BadLineError(f"version {record.get('v')!r}, not {SIGNAL_VERSION}")
    return _checked(record)


def _numbers(record: dict[str, Any]) -> tuple[int, float, int]:
    """Return polarity, strength and revision. JSON's true and false are Python's ints, and no numbers here."""
    polarity, strength, revision = record.get("polarity"), record.get("strength", 1.0), record.get("revision")
    if isinstance(polarity, bool) or polarity not in (-1, 0, 1):
        raise BadLineError("polarity is not -1, 0 or 1")
    if isinstance(strength, bool) or not isinstance(strength, (int, float)) or not 0.0 < strength <= 1.0:
        raise BadLineError("strength is not in (0, 1]")
    if isinstance(revision, bool) or not isinstance(revision, int) or not 0 <= revision < 2**63:
        raise BadLineError("revision is not a whole number that the database can hold")
    return int(polarity), float(strength), revision


def _checked(record: dict[str, Any]) -> Signal:
    def text(key: str, default: str | None = None) -> str:
        value = record.get(key, default)
        if not isinstance(value, str):
            raise BadLineError(f"{key} is not a text")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BadLineError(f"{key} holds half a surrogate pair, which the database cannot store") from None
        return value

    named, given = text("kind"), text("at")
    try:
        kind = SignalKind(named)
    except ValueError:
        raise BadLineError(f"unknown kind {named!r}") from None
    try:
        at = parse_time(given)
    except (ValueError, OverflowError):
        raise BadLineError(f"at {given!r} is not a time") from None
    polarity, strength, revision = _numbers(record)
    return Signal(
        id=text("id"),
        at=at,
        memory=text("memory"),
        revision=revision,
        kind=kind,
        polarity=polarity,
        ref=text("ref"),
        strength=strength,
        source=text("source", ""),
        by=text("by", ""),
        reason=text("reason", ""),
        alone=record.get("alone") is True,
        validates=_kinds(record.get("validates", [])),
    )


def _kinds(value: object) -> tuple[SignalKind, ...]:
    known = set(SignalKind)
    if not isinstance(value, list) or not all(isinstance(kind, str) and kind in known for kind in value):
        raise BadLineError("validates is not a list of kinds")
    return tuple(SignalKind(kind) for kind in value)
