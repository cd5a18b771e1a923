"""Times and spans of time as people write them: ISO 8601, and "7d"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.signals import as_utc

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""The first and the last time there is."""

_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(name: str, given: object) -> datetime:
    """Return a time in UTC, of a datetime, a date, or an ISO 8601 text; a naive one is UTC, a date its first moment.

    InvalidInputError, which names it, when it is none.
    """
    try:
        if isinstance(given, str):
            given = datetime.fromisoformat(given.strip())
        elif isinstance(given, date) and not isinstance(given, datetime):
            given = datetime.combine(given, time())
        if isinstance(given, datetime):
            return as_utc(given)
    except (ValueError, OverflowError):
        pass
    raise InvalidInputError(f"{name} {given!r:.80} is no time: give one such as 2026-01-15 or 2026-01-15T09:30:00Z")


def maybe(name: str, given: object) -> datetime | None:
    """Return a time as `moment` does; None stays None."""
    return None if given is None else moment(name, given)


def span(name: str, given: object) -> timedelta:
    """Return a span of time above 0, of a timedelta, a number of seconds, or a text such as "90m" or "7d".

    InvalidInputError, which names it, when it is none.
    """
    try:
        if isinstance(given, str) and (found := _SPAN.fullmatch(given.strip().lower())):
            given = timedelta(**{_UNITS[found[2]]: float(found[1])})
        elif isinstance(given, (int, float)) and not isinstance(given, bool):
            given = timedelta(seconds=given)
        if isinstance(given, timedelta) and given > timedelta():
            return given
    except (ValueError, OverflowError):
        pass
    raise InvalidInputError(f"{name} {given!r:.80} is no span of time: give one such as 90m, 12h, 7d or 2w, or seconds")


def after(now: datetime, name: str, given: object) -> datetime:
    """Return the time that lies a span after now; InvalidInputError when there is none, or no such span."""
    try:
        return now + span(name, given)
    except OverflowError:
        raise InvalidInputError(f"{name} {given!r:.80} ends behind the year 9999: give a shorter one") from None


def shifted(at: datetime, by: timedelta) -> datetime:
    """Return a time in UTC moved by a span; the first or the last there is where that leads beyond all times."""
    try:
        return at + by
    except OverflowError:
        return FIRST if by < timedelta() else LAST


def expiry(expires_at: Any, ttl: Any, now: datetime) -> Any:
    """Return from when on a lesson is not served, as it was given, or so long from now; None for never."""
    if ttl is None:
        return expires_at
    if expires_at is not None:
        raise InvalidInputError("expires_at and ttl both say until when it is served: give one of them")
    return after(now, "ttl", ttl)


def since(given: object, now: datetime) -> datetime:
    """Return the time from which on is asked for: a time, or so long ago as a span says."""
    ago = _ago(given, now)
    return moment("since", given) if ago is None else ago


def until(given: object, now: datetime) -> datetime:
    """Return the time before which is asked for: a time, the end of a day, or so long ago as a span says."""
    ago = _ago(given, now)
    if ago is not None:
        return ago
    start = moment("until", given)
    if not _is_day(given):
        return start
    return shifted(start, timedelta(days=1))


def _ago(given: object, now: datetime) -> datetime | None:
    if isinstance(given, timedelta) or (isinstance(given, str) and _SPAN.fullmatch(given.strip().lower())):
        # (The longest span of all has no negative.)
        return shifted(now, -min(span("since", given), LAST - FIRST))
    return None


def _is_day(given: object) -> bool:
    if not isinstance(given, str):
        return not isinstance(given, datetime)
    try:
        date.fromisoformat(given.strip())
    except ValueError:
        return False
    return True
