"""Project-wide facts: whose the project is, and what upkeep remembers."""

from __future__ import annotations

from reasoningbank.storage.contract import Reading, Writing


def read(reading: Reading) -> dict[str, str]:
    """Return every fact: tenant, project, created_at, and those that were put."""
    return dict(reading.execute("SELECT key, value FROM meta").fetchall())


def put(writing: Writing, key: str, value: str) -> None:
    """Remember a fact in place of the one before."""
    writing.insert("meta", ("key", "value"), [(key, value)], "ON CONFLICT (key) DO UPDATE SET value = excluded.value")


def drop(writing: Writing, key: str, value: str | None = None) -> None:
    """Forget a fact; with `value`, only while it is this."""
    writing.execute("DELETE FROM meta WHERE key = ? AND value = coalesce(?, value)", (key, value))
