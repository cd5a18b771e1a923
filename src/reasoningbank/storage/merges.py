"""Rows of merges: which memories became one, and whose evidence counts for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reasoningbank.signals import time_text
from reasoningbank.storage.contract import Reading, Writing, column

# Merged memories can be merged again: evidence goes all the way up.
_ALL_RESULTS = (
    "WITH RECURSIVE above(n) AS (SELECT into_memory FROM merged WHERE memory IN (:sources) "
    "UNION SELECT into_memory FROM merged JOIN above ON memory = above.n) SELECT n FROM above"
)


def put(writing: Writing, sources: Sequence[int], result: int, now: datetime) -> None:
    """Let the evidence about `sources` count for `result` from now on."""
    writing.insert(
        "merged",
        ("memory", "into_memory", "counts", "at"),
        [(source, result, 1, time_text(now)) for source in sources],
        "ON CONFLICT (memory) DO UPDATE SET into_memory = excluded.into_memory, counts = 1, at = excluded.at",
    )
    writing.tell("evidence", result)


def sources_of(reading: Reading, result: int) -> list[int]:
    """Return the memories that were merged into one, in the order they were recorded."""
    return column(reading, "SELECT memory FROM merged WHERE into_memory = ? ORDER BY memory", (result,))


def into(reading: Reading, numbers: Sequence[int]) -> dict[int, str]:
    """Return the ids of the memories that evidence about these counts for, by their row numbers."""
    counting = (
        "SELECT s.memory, m.id FROM merged AS s JOIN memories AS m ON m.n = s.into_memory "
        "WHERE s.counts = 1 AND s.memory IN (:numbers)"
    )
    return dict(reading.execute(counting, {"numbers": list(numbers)}).fetchall())


def served_by(reading: Reading, source: int) -> int | None:
    """Return the memory that is not archived and that one was merged into, at any depth; None when there is none."""
    found = column(
        reading,
        f"SELECT n FROM memories WHERE n IN ({_ALL_RESULTS}) AND state <> 'archived' ORDER BY n",
        {"sources": [source]},
    )
    return found[0] if found else None


def take_out(writing: Writing, sources: Sequence[int]) -> None:
    """Give each of these memories its evidence back, if it had been merged into another."""
    tell_results(writing, sources)
    writing.execute("DELETE FROM merged WHERE memory IN (:sources)", {"sources": list(sources)})


def stop_counting(writing: Writing, result: int) -> None:
    """Let what was merged into a memory no longer count for it: it says something else now."""
    writing.execute("UPDATE merged SET counts = 0 WHERE into_memory = ?", (result,))


def forget(writing: Writing, n: int) -> None:
    """Drop what is known of a memory's merges: it is deleted."""
    tell_results(writing, [n])
    writing.execute("DELETE FROM merged WHERE memory = ? OR into_memory = ?", (n, n))


def tell_results(writing: Writing, sources: Sequence[int]) -> None:
    """Tell the feed that the evidence changed of what these memories were merged into."""
    for n in column(writing, _ALL_RESULTS, {"sources": list(sources)}):
        writing.tell("evidence", n)
