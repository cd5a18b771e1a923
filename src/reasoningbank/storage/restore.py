"""What an export says of a memory beside its text, put back into the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from reasoningbank.memory import State
from reasoningbank.signals import SignalKind, Tally, time_text
from reasoningbank.storage import trust
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.evidence import ADDED, TALLIES
from reasoningbank.storage.fold import UNIT

# Segments are numbered from 1: what was taught elsewhere stands in none of them, and folding again leaves it alone.
ELSEWHERE = 0


def restore_state(writing: Writing, n: int, state: State) -> None:
    """Put a memory that was just stored into the state it had."""
    writing.execute("UPDATE memories SET state = ? WHERE n = ?", (state.value, n))


def restore_archived(writing: Writing, n: int, before: State, why: str, now: datetime) -> None:
    """Take a memory that was just stored out of service again; it goes back to the state it had before."""
    restore_state(writing, n, State.ARCHIVED)
    trust.note_archived(writing, n, before, why, now)


def archived(reading: Reading, n: int) -> tuple[State, str] | None:
    """Return the state that an archived memory goes back to, and why it was archived; None when it was not."""
    row = reading.execute("SELECT state, why FROM archived WHERE memory = ?", (n,)).fetchone()
    return None if row is None else (State(row[0]), row[1])


def restore_blocked(writing: Writing, sources: Iterable[str], now: datetime) -> None:
    """Block the sources that are blocked in the bank that this one is a copy of."""
    for source in sources:
        trust.note_blocked(writing, source, now)


def restore_times(writing: Writing, n: int, created: datetime | None, updated: datetime | None) -> None:
    """Give a memory that was just stored the times it had; without them, those of now stay."""
    if created is not None:
        times = (time_text(created), time_text(updated or created), n)
        writing.execute("UPDATE memories SET created_at = ?, updated_at = ? WHERE n = ?", times)


def restore_tallies(writing: Writing, n: int, tallies: Iterable[Tally]) -> None:
    """Give a memory that was just stored its evidence, as if the segments of it had been rolled up here."""
    writing.insert(
        "tallies",
        TALLIES,
        [
            (
                n,
                t.kind.value,
                t.day,
                t.source,
                t.by,
                int(t.superseded),
                1,
                round(t.positive * UNIT),
                round(t.negative * UNIT),
                time_text(t.last),
            )
            for t in tallies
        ],
        ADDED,
    )


def taught(reading: Reading) -> dict[str, list[int]]:
    """Return how often votes confirmed and refuted each kind of evidence, by kind."""
    rows = reading.execute("SELECT kind, sum(confirmed), sum(refuted) FROM validations GROUP BY kind ORDER BY kind")
    return {kind: [int(confirmed), int(refuted)] for kind, confirmed, refuted in rows}


def restore_taught(writing: Writing, counts: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Take over what votes taught in the bank that this one is a copy of."""
    for kind, confirmed, refuted in counts:
        writing.insert(
            "validations",
            ("segment", "kind", "confirmed", "refuted"),
            [(ELSEWHERE, kind.value, confirmed, refuted)],
            "ON CONFLICT (segment, kind) DO UPDATE SET confirmed = excluded.confirmed, refuted = excluded.refuted",
        )
