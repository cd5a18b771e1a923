"""What a line of our own format says beside the lesson: state, times, evidence, and what belongs to the bank.

Lines are read as what may come from anywhere: each value is checked, and what is not allowed is an InvalidInputError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import State, clean_text
from reasoningbank.signals import SignalKind, Tally, day_number, parse_time, time_text

FORMAT = "reasoningbank/1"

# Why a memory is archived that came so, when its line does not say.
IMPORTED = "imported"


def is_own(record: Mapping[str, Any]) -> bool:
    """Tell whether a line is of our own format."""
    given = record.get("format")
    if given == FORMAT:
        return True
    if isinstance(given, str) and given.startswith("reasoningbank/"):
        raise InvalidInputError(f"written by a newer version ({given}; this one reads {FORMAT}): update reasoningbank")
    return False


def read_state(given: object) -> State | None:
    """Return a state; None stays None."""
    if given is None:
        return None
    try:
        return State(str(given))
    except ValueError:
        raise InvalidInputError(f"state {given!r} is not one of {', '.join(State)}") from None


def read_time(record: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time that stands under a name; None when there is none."""
    given = record.get(name)
    if given is None:
        return None
    try:
        return parse_time(given)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} {given!r} is not an ISO 8601 time") from None


def read_archived(given: object) -> tuple[State | None, str]:
    """Return the state that an archived memory goes back to, if the line says so, and why it was archived."""
    if given is None:
        return None, IMPORTED
    if not isinstance(given, Mapping):
        raise InvalidInputError("archived is not an object")
    return read_state(given.get("from")), clean_text(str(given.get("why") or IMPORTED))


def read_names(given: object, name: str, *, blank: bool = False) -> tuple[str, ...]:
    """Return a list of names, of which none is empty unless it may be `blank`."""
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(each, str) and (each or blank) for each in given):
        raise InvalidInputError(f"{name} is not a list of names")
    return tuple(map(clean_text, given))


def objects(given: object, name: str) -> list[Mapping[str, Any]]:
    """Return a list of objects; none where nothing is given."""
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        raise InvalidInputError(f"{name} is not a list of objects")
    return given


def read_tally(given: Mapping[str, Any]) -> Tally:
    """Return evidence, as `tally_object` writes it."""
    last = read_time(given, "last")
    if last is None:
        raise InvalidInputError("evidence without its time 'last'")
    weights = {side: given.get(side, 0) for side in ("positive", "negative")}
    for side, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1e9:
            raise InvalidInputError(f"evidence with {side} {weight!r}, which is not a number from 0")
    return Tally(
        kind=read_kind(given.get("kind")),
        day=day_number(last),
        source=clean_text(str(given.get("source", ""))),
        by=clean_text(str(given.get("by", ""))),
        positive=float(weights["positive"]),
        negative=float(weights["negative"]),
        last=last,
        superseded=given.get("superseded") is True,
    )


def read_kind(given: object) -> SignalKind:
    """Return a kind of evidence."""
    try:
        return SignalKind(str(given))
    except ValueError:
        raise InvalidInputError(f"evidence of kind {given!r}, which is not one of {', '.join(SignalKind)}") from None


def read_taught(given: object) -> tuple[tuple[SignalKind, int, int], ...]:
    """Return how often votes confirmed and refuted each kind of evidence."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise InvalidInputError("taught is not an object")
    return tuple((read_kind(kind), *_counts(kind, counts)) for kind, counts in given.items())


def _counts(kind: str, counts: object) -> tuple[int, int]:
    match counts:
        case [int(confirmed), int(refuted)] if confirmed >= 0 and refuted >= 0:
            return confirmed, refuted
    raise InvalidInputError(f"taught {kind!r} is not two counts")


def tally_object(tally: Tally) -> dict[str, Any]:
    """Return evidence as an object of a line."""
    said = asdict(tally) | {"kind": tally.kind.value, "last": time_text(tally.last)}
    del said["day"]
    return said
