"""Project-wide facts: whose the project is, and what upkeep remembers."""

from __future__ import annotations

import json
from datetime import datetime

from reasoningbank.storage.contract import Reading, Writing


def read(reading: Reading) -> dict[str, str]:
    """Return every fact: tenant, project, created_at, and those that were put."""
    return dict(reading.execute("SELECT key, value FROM meta").fetchall())


def one(reading: Reading, key: str) -> str | None:
    """Return one fact; None when it was not put."""
    row = reading.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def put(writing: Writing, key: str, value: str) -> None:
    """Remember a fact in place of the one before."""
    writing.insert("meta", ("key", "value"), [(key, value)], "ON CONFLICT (key) DO UPDATE SET value = excluded.value")


def drop(writing: Writing, key: str, value: str | None = None) -> None:
    """Forget a fact; with `value`, only while it is this."""
    writing.execute("DELETE FROM meta WHERE key = ? AND value = coalesce(?, value)", (key, value))


# -- recalls that came too late, by day: they leave nothing else behind ------------------------------------------------

LATE = "late_recalls"
DAYS_KEPT = 400


def late_recalls(reading: Reading, since: datetime | None = None) -> int:
    """Return how many recalls came too late, since the day of `since` or in all that are still known."""
    first = "" if since is None else since.date().isoformat()
    return sum(many for day, many in _late(reading).items() if day >= first)


def count_late(writing: Writing, many: int, now: datetime) -> None:
    """Note that so many recalls came too late."""
    days = _late(writing)
    today = now.date().isoformat()
    days[today] = days.get(today, 0) + many
    put(writing, LATE, json.dumps(dict(sorted(days.items())[-DAYS_KEPT:])))


def _late(reading: Reading) -> dict[str, int]:
    days = one(reading, LATE)
    return {} if days is None else dict(json.loads(days))
