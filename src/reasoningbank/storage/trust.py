"""Rows of what is out of service, archived memories and blocked sources, and of what an export says of memories."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from reasoningbank.links import SUPERSEDES
from reasoningbank.memory import DOUBT, State
from reasoningbank.signals import SignalKind, Tally, time_text
from reasoningbank.storage import merges, sameness
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.evidence import ADDED, TALLIES
from reasoningbank.storage.filters import json_text
from reasoningbank.storage.fold import UNIT
from reasoningbank.storage.records import set_state

# Segments are numbered from 1: what was taught elsewhere stands in none of them, and folding again leaves it alone.
ELSEWHERE = 0

# How the reasons begin for which memories are archived: those that a later lesson of the same text is judged by.
PRUNED, BLOCKED, MERGED = "pruned: ", "forgotten: ", "merged: "


def archive(writing: Writing, numbers: Sequence[int], why: str, now: datetime) -> list[int]:
    """Take memories out of service, remembering the state they were in; those archived already are left alone."""
    done = []
    for n in numbers:
        row = writing.execute("SELECT state FROM memories WHERE n = ?", (n,)).fetchone()
        if row is None or row[0] == State.ARCHIVED.value:
            continue
        note_archived(writing, n, State(row[0]), why, now)
        set_state(writing, n, State.ARCHIVED, now)
        done.append(n)
    return done


def note_archived(writing: Writing, n: int, before: State, why: str, now: datetime) -> None:
    """Remember why a memory is out of service, and the state that it goes back to."""
    writing.insert(
        "archived",
        ("memory", "state", "why", "at"),
        [(n, before.value, why, time_text(now))],
        "ON CONFLICT (memory) DO UPDATE SET state = excluded.state, why = excluded.why, at = excluded.at",
    )


def restore(writing: Writing, numbers: Sequence[int], now: datetime) -> list[int]:
    """Put archived memories back into the state they were in, but for those that another one in service says too."""
    done = []
    for n in numbers:
        row = writing.execute("SELECT state FROM archived WHERE memory = ?", (n,)).fetchone()
        if row is not None and sameness.twin_of(writing, n) is None:
            writing.execute("DELETE FROM archived WHERE memory = ?", (n,))
            writing.execute("DELETE FROM links WHERE target = ? AND type = ?", (n, SUPERSEDES))
            writing.execute("DELETE FROM taken_back WHERE memory = ?", (n,))
            merges.take_out(writing, [n])
            set_state(writing, n, State(row[0]), now)
            done.append(n)
    return done


def settle(writing: Writing, n: int, findings: Sequence[str]) -> None:
    """Keep what was found in a memory as what a person decided about."""
    writing.execute("UPDATE memories SET findings = ? WHERE n = ?", (json_text(list(findings)), n))


def to_review(reading: Reading, limit: int) -> list[int]:
    """Return the quarantined memories, then the active ones in doubt, each in the order they were recorded."""
    wanted = "state = ? OR (state = ? AND instr(findings, ?) > 0)"
    asked = f"SELECT n FROM memories WHERE {wanted} ORDER BY state = ?, n LIMIT ?"
    quarantined, active = State.QUARANTINED.value, State.ACTIVE.value
    return column(reading, asked, (quarantined, active, f'"{DOUBT}', active, limit))


def came_again(writing: Writing, n: int) -> None:
    """Count that the lesson of an archived memory came again, and was held back."""
    writing.execute("UPDATE archived SET times = times + 1 WHERE memory = ?", (n,))


def retired_by(reading: Reading, why: str) -> list[int]:
    """Return the memories that are archived for what begins so, alone or with what was wrong with them."""
    begun = f"{why}: "
    asked = "SELECT memory FROM archived WHERE why = ? OR substr(why, 1, ?) = ? ORDER BY memory"
    return column(reading, asked, (why, len(begun), begun))


def archived_because(reading: Reading, why: str) -> list[int]:
    """Return the memories that are archived for a reason, but for those that were deleted since."""
    return column(reading, "SELECT n FROM archived JOIN memories ON n = memory WHERE why = ? ORDER BY n", (why,))


def metadata_of_archived(reading: Reading, why: str) -> list[dict[str, Any]]:
    """Return the metadata of the memories that are archived for a reason."""
    archived = "SELECT m.metadata FROM archived AS a JOIN memories AS m ON m.n = a.memory WHERE a.why = ?"
    return [json.loads(metadata) for metadata in column(reading, archived, (why,))]


def of_source(reading: Reading, source: str) -> list[int]:
    """Return the memories that a source brought: by its name, or by its session."""
    theirs = "SELECT n FROM memories WHERE source_by = ? OR source_session = ? ORDER BY n"
    return column(reading, theirs, (source, source))


def set_trusted(writing: Writing, numbers: Iterable[int], now: datetime, *, trusted: bool) -> list[int]:
    """Let memories count as what trusted sources brought, or as what others did; return those that were not so."""
    at, changed = time_text(now), []
    for n in numbers:
        values = (int(trusted), at, n, int(not trusted))
        if writing.execute(
            "UPDATE memories SET trusted = ?, updated_at = ? WHERE n = ? AND trusted = ?", values
        ).rowcount:
            writing.tell("put", n)
            changed.append(n)
    return changed


def brought(reading: Reading) -> list[tuple[str, str, int, int]]:
    """Return (source, state, memories, how many of them are untrusted) of all that brought memories."""
    return reading.execute(
        "SELECT coalesce(source_by, source_session, '') AS source, state, count(*), sum(1 - trusted) "
        "FROM memories GROUP BY 1, 2"
    ).fetchall()


def judges(reading: Reading) -> dict[str, int]:
    """Return how many memories each source judged."""
    named = "SELECT source AS name, memory FROM tallies UNION SELECT judge, memory FROM tallies"
    return dict(reading.execute(f"SELECT name, count(*) FROM ({named}) AS named WHERE name <> '' GROUP BY name"))


def take_back(writing: Writing, source: str, retired: Sequence[int], now: datetime) -> list[int]:
    """Serve again what a source retired, and remember that; return what is served by it."""
    asked = "SELECT memory, why FROM archived WHERE memory IN (:retired)"
    why = dict(writing.execute(asked, {"retired": list(retired)}).fetchall()) if retired else {}
    served = restore(writing, retired, now)
    rows = [(source, n, why[n]) for n in served]
    columns = ("source", "memory", "why")
    writing.insert("taken_back", columns, rows, "ON CONFLICT (source, memory) DO UPDATE SET why = excluded.why")
    return served


def retire_again(writing: Writing, source: str, now: datetime) -> list[int]:
    """Archive what is served since a source is blocked, for what it had said; return what is not served any more."""
    rows = writing.execute("SELECT memory, why FROM taken_back WHERE source = ? ORDER BY memory", (source,)).fetchall()
    writing.execute("DELETE FROM taken_back WHERE source = ?", (source,))
    return [n for memory, why in rows for n in archive(writing, [memory], why, now)]


def forget_retired(writing: Writing, source: str, why: str) -> None:
    """Forget what a source said of what it retired: `why` such memories are archived, without its words, is kept."""
    writing.execute("DELETE FROM taken_back WHERE source = ?", (source,))
    still = {"why": why, "numbers": retired_by(writing, why)}
    writing.execute("UPDATE archived SET why = :why WHERE memory IN (:numbers)", still)


def block(writing: Writing, source: str, now: datetime) -> int:
    """Let a source's signals count for nothing; return how many memories they are about."""
    note_blocked(writing, [source], now)
    return _tell_judged(writing, source)


def unblock(writing: Writing, source: str) -> int:
    """Let a source's signals count again; return how many memories they are about."""
    writing.execute("DELETE FROM forgotten WHERE source = ?", (source,))
    return _tell_judged(writing, source)


def _tell_judged(writing: Writing, source: str) -> int:
    judged = judged_by(writing, source)
    for n in judged:
        writing.tell("evidence", n)
        merges.tell_results(writing, [n])
    return len(judged)


def judged_by(reading: Reading, source: str) -> list[int]:
    """Return the memories that a source's signals are about: its own, or those that it judged."""
    return column(reading, "SELECT DISTINCT memory FROM tallies WHERE source = ? OR judge = ?", (source, source))


def note_blocked(writing: Writing, sources: Iterable[str], now: datetime) -> None:
    """Let the signals of sources count for nothing from now on."""
    rows = [(source, time_text(now)) for source in sources]
    writing.insert("forgotten", ("source", "at"), rows, "ON CONFLICT (source) DO NOTHING")


def blocked(reading: Reading) -> list[str]:
    """Return the names of the sources that are blocked, sorted."""
    return column(reading, "SELECT source FROM forgotten ORDER BY source")


def blocked_among(reading: Reading, sources: Collection[str]) -> set[str]:
    """Return which of these sources are blocked."""
    if not sources:
        return set()
    return set(column(reading, "SELECT source FROM forgotten WHERE source IN (:sources)", {"sources": list(sources)}))


def state_of(reading: Reading, n: int) -> State:
    """Return the state of a memory that is there."""
    return State(reading.execute("SELECT state FROM memories WHERE n = ?", (n,)).fetchone()[0])


# -- what an export says of a memory beside its text -----------------------------------------------------------------


def archived(reading: Reading, n: int) -> tuple[State, str] | None:
    """Return the state that an archived memory goes back to, and why it was archived; None when it was not."""
    row = reading.execute("SELECT state, why FROM archived WHERE memory = ?", (n,)).fetchone()
    return None if row is None else (State(row[0]), row[1])


def restore_times(writing: Writing, n: int, created: datetime | None, updated: datetime | None) -> None:
    """Give a memory that was just stored the times it had; without them, those of now stay."""
    if created is not None:
        times = (time_text(created), time_text(updated or created), n)
        writing.execute("UPDATE memories SET created_at = ?, updated_at = ? WHERE n = ?", times)


def restore_tallies(writing: Writing, n: int, tallies: Iterable[Tally]) -> None:
    """Give a memory that was just stored its evidence, as if the segments of it had been rolled up here."""
    rows = []
    for t in tallies:
        weights = round(t.positive * UNIT), round(t.negative * UNIT)
        rows.append((n, t.kind.value, t.day, t.source, t.by, int(t.superseded), 1, *weights, time_text(t.last)))
    writing.insert("tallies", TALLIES, rows, ADDED)


def taught(reading: Reading) -> dict[str, list[int]]:
    """Return how often votes confirmed and refuted each kind of evidence, by kind."""
    rows = reading.execute("SELECT kind, sum(confirmed), sum(refuted) FROM validations GROUP BY kind ORDER BY kind")
    return {kind: [int(confirmed), int(refuted)] for kind, confirmed, refuted in rows}


def restore_taught(writing: Writing, counts: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Take over what votes taught in the bank that this one is a copy of."""
    writing.insert(
        "validations",
        ("segment", "kind", "confirmed", "refuted"),
        [(ELSEWHERE, kind.value, confirmed, refuted) for kind, confirmed, refuted in counts],
        "ON CONFLICT (segment, kind) DO UPDATE SET confirmed = excluded.confirmed, refuted = excluded.refuted",
    )
