"""How other tools say how a run ended, when something was, and how often it was found helpful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.signals import SignalKind, Tally, day_number
from reasoningbank.verdict import Verdict, outcome_of


def read_outcome(given: object) -> Verdict:
    """Return the outcome that a word, a truth value or a number states; success where nothing is said.

    InvalidInputError when it is none that is known: it is neither read as a success nor as a failure.
    """
    if given is None:
        return Verdict.SUCCESS
    outcome = outcome_of(given)
    if outcome is not None:
        return outcome
    raise InvalidInputError(f"outcome {given!r:.60} says neither success nor failure: say one of the two")


def source_time(record: Mapping[str, Any], *names: str) -> datetime | None:
    """Return the first of these times of another tool's record that can be read; a naive one is UTC."""
    for name in names:
        try:
            return as_utc(record.get(name))
        except (TypeError, ValueError):
            continue
    return None


def as_utc(given: object) -> datetime:
    """Return a time from ISO 8601 or Unix seconds (or milliseconds); TypeError or ValueError when it is neither."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return datetime.fromtimestamp(given / 1000 if given > 1e11 else given, UTC)
    if not isinstance(given, str):
        raise TypeError(given)
    read = datetime.fromisoformat(given)
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def votes_of(given: object) -> tuple[int, int]:
    """Return the counts for and against that a record brings, (0, 0) when it brings none."""
    match given:
        case {"positive": int(positive), "negative": int(negative)}:
            return positive, negative
    return 0, 0


def voted(votes: tuple[int, int], source: str, now: datetime) -> Iterator[Tally]:
    """Yield the votes that a playbook counts, as evidence of the source that they came with."""
    if any(votes):
        yield Tally(SignalKind.EXPLICIT, day_number(now), source, source, float(votes[0]), float(votes[1]), now)
