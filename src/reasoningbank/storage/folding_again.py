"""Folding the kept segments anew: beside the rows that are there, and then, where they differ, in their place.

The log is read and folded without the lock of the writers. What differs is put right a few runs at a time: a writer
waits for one such step, and a reader sees what a run says of a memory as it was or as it should be, never half.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import episodes, evidence
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.evidence import VERDICTS, Position
from reasoningbank.storage.fold import Contribution, batches
from reasoningbank.storage.ledger import Ledger, Logged, fold_lines
from reasoningbank.storage.pieces import signal_of
from reasoningbank.storage.place import Project
from reasoningbank.storage.project import nothing
from reasoningbank.storage.transaction import SqliteWriting

AT_ONCE = 300  # runs or memories that are put right in one transaction: some hundredths of a second
PAUSE = 0.1  # seconds between two of them: as long as SQLite lets one who waits sleep between two looks
TRIES = 3  # before the log is folded in one transaction, since it is changed each time meanwhile

# What a fold makes, and how it is compared.
DERIVED = {
    "tallies": f"SELECT {', '.join(evidence.TALLIES)} FROM tallies",
    "evidence": f"SELECT {', '.join(Contribution._fields)} FROM evidence",
    "weights": "SELECT segment, kind, confirmed, refuted FROM validations",
    "verdicts": "SELECT ref, verdict FROM episodes",
    "unreadable lines": "SELECT segment, bad FROM log_positions WHERE rolled = 0",
}

# What a fold starts from: of the big rows only what it reads, and what was rolled up for good.
_SOURCES = {
    "memories": ("n, id, revision", ""),
    "episodes": ("ref, '' AS task, opened_at, verdict, sealed", ""),
    "log_positions": ("segment, name, 0 AS day, position, bad, orphans, set_back, rolled, checksum", ""),
    "tallies": (", ".join(evidence.TALLIES), "WHERE rolled = 1"),
    "validations": ("segment, kind, confirmed, refuted", ""),
    "sealed": ("memory, ref, kind, polarity", ""),
    "served": (
        "ref, position, memory, revision, confidence, deviation, provisional, similarity, keyword, score, sealed",
        "",
    ),
}


class _ChangedError(Exception):
    """What was read of the log is not what stands there now."""


@contextmanager
def _folded_anew(project: Project, reading: Reading) -> Iterator[SqliteWriting]:
    """Give the kept segments folded in memory, as far as they are counted."""
    log = project.log_of(reading)
    with closing(_starting_point(reading)) as connection:
        anew = SqliteWriting(connection, None, Ledger(log), {})
        evidence.forget(anew)
        on_disk = {segment.name for segment in log.segments()}
        for position in evidence.kept(reading):
            lines = log.lines(position.segment, 0) if position.segment.name in on_disk else ()
            fold_lines(anew, position, [line for line in lines if line.end <= position.end])
        yield anew


def refold_differences(project: Project, reading: Reading) -> list[str]:
    """Fold the kept segments anew in memory, and name what comes out differently.

    Compared as far as the log is folded: lines not counted yet are no difference.
    """
    with _folded_anew(project, reading) as anew:
        return [name for name, query in DERIVED.items() if _rows(anew, query) != _rows(reading, query)]


def _starting_point(reading: Reading) -> sqlite3.Connection:
    """Return a database in memory with what a fold of the kept segments starts from."""
    anew = sqlite3.connect(":memory:", isolation_level=None)
    # What a fold and its triggers write to.
    written = ["evidence", "changes", "merged", "meta", "generations", "pins", "shared_runs"]
    tables = [*written, *(_SOURCES.keys() - {"memories"})]
    with nothing(None) as empty:
        schema = column(
            empty,
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'memories' AND tbl_name IN (:tables)",
            {"tables": tables},
        )
    for statement in schema:
        anew.execute(statement)
    anew.execute("CREATE TABLE memories(n INTEGER PRIMARY KEY, id TEXT UNIQUE, revision INTEGER)")
    for table, (wanted, which) in _SOURCES.items():
        rows = reading.execute(f"SELECT {wanted} FROM {table} {which}").fetchall()
        names = [name.split()[-1] for name in wanted.split(", ")]
        anew.executemany(f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", rows)
    return anew


def _rows(reading: Reading, query: str) -> list[tuple[object, ...]]:
    return sorted(reading.execute(query).fetchall(), key=repr)


# -- in the place of what differs ----------------------------------------------------------------------------------


Said: TypeAlias = dict[tuple[str, str], list[tuple[Signal, int]]]
"""By the id of a memory and the run: signals in the order of the log, each with the number of its segment."""


@dataclass
class _Differing:
    """What comes out differently when the log is folded again.

    Attributes:
        positions: of the kept segments that were folded, by number.
        runs: memories (row numbers) and runs between which other evidence comes out.
        memories: others, whose tallies differ.
        verdicts: of runs, as they are.
        validated: segments by which other weights come out.
        marks: what is to be added to the unreadable lines and the orphans of segments.
        lost: evidence that is there, and that no line says.
        said: of each memory (its id) in each of these runs, in the order of the log, with the numbers of the segments.
        outcomes: of the runs whose verdict differs, in the order of the log.
    """

    positions: dict[int, Position]
    runs: list[tuple[int, str]] = field(default_factory=list)
    memories: list[int] = field(default_factory=list)
    verdicts: dict[str, str | None] = field(default_factory=dict)
    validated: list[int] = field(default_factory=list)
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    lost: list[Contribution] = field(default_factory=list)
    said: Said = field(default_factory=dict)
    outcomes: list[Signal] = field(default_factory=list)


def let_others_write() -> None:
    """Pause between two steps: who waits for the lock would find it taken each time that he looks."""
    time.sleep(PAUSE)


def fold_again(project: Project, ledger_of: Callable[[Any], Ledger]) -> None:
    """Make the derived rows what the kept log says, in bounded steps.

    A log that was damaged is made whole from the rows first, in one transaction with the fold.
    """
    for _ in range(TRIES):
        with project.write() as writing:
            if not _is_whole(ledger_of(writing), writing):
                break
        with project.read() as reading:
            differing = _find(project, reading)
        try:
            _put_right(project, ledger_of, differing)
        except _ChangedError:
            continue
        return
    with project.write() as writing:
        ledger_of(writing).refold(writing)


def _find(project: Project, reading: Reading) -> _Differing:
    with _folded_anew(project, reading) as anew:
        was, comes = _evidence(reading), _evidence(anew)
        keys = sorted(key for key in was.keys() | comes.keys() if was.get(key) != comes.get(key))
        tallies = "SELECT " + ", ".join(evidence.TALLIES) + " FROM tallies WHERE rolled = 0"
        positions = evidence.kept(reading)
        marks = {position.segment.number: position for position in evidence.kept(anew)}
        verdicts = dict(anew.execute(DERIVED["verdicts"]).fetchall())
        found = _Differing(
            positions={position.segment.number: position for position in positions},
            runs=list(dict.fromkeys((n, ref) for n, ref, _ in keys)),
            memories=sorted({n for n, *_ in _apart(anew, reading, tallies)} - {n for n, _, _ in keys}),
            verdicts={ref: v for ref, v in reading.execute(DERIVED["verdicts"]) if v != verdicts[ref]},
            validated=sorted({segment for segment, *_ in _apart(anew, reading, DERIVED["weights"])} & marks.keys()),
            lost=[was[key] for key in keys if key in was and not _is_said(was[key], comes.get(key))],
        )
    for position in positions:
        then = marks[position.segment.number]
        if (more := (then.bad - position.bad, then.orphans - position.orphans)) != (0, 0):
            found.marks.append((*more, position.segment.number))
    if found.runs or found.verdicts:
        _read_log(project, reading, found)
    return found


def _evidence(reading: Reading) -> dict[tuple[int, str, str], Contribution]:
    return {row.key: row for row in map(Contribution._make, reading.execute(DERIVED["evidence"]))}


def _apart(anew: Reading, reading: Reading, query: str) -> set[tuple[int, ...]]:
    """Return the rows that only one of the two has."""
    return {*map(tuple, anew.execute(query))} ^ {*map(tuple, reading.execute(query))}


def _is_said(was: Contribution, comes: Contribution | None) -> bool:
    """Tell whether the log says what was counted: what is derived beside it may differ."""
    return comes is not None and was._replace(superseded=0, segment=0) == comes._replace(superseded=0, segment=0)


def _read_log(project: Project, reading: Reading, found: _Differing) -> None:
    numbers = dict(reading.execute("SELECT id, n FROM memories").fetchall())
    wanted, log = {*found.runs}, project.log_of(reading)
    for number, position in found.positions.items():
        for line in log.lines(position.segment, 0):
            said = line.signal
            if said is None or line.end > position.end:
                continue
            if (numbers.get(said.memory, 0), said.ref) in wanted:
                found.said.setdefault((said.memory, said.ref), []).append((said, number))
            if said.ref in found.verdicts and said.kind is SignalKind.OUTCOME and not said.alone:
                found.outcomes.append(said)


def _put_right(project: Project, ledger_of: Callable[[Any], Ledger], found: _Differing) -> None:
    if found.lost:
        with project.write() as writing:
            _check_log(ledger_of(writing), writing, found)
            _write_again(ledger_of(writing), writing, found.lost)
            # What is counted of them is what it was; by what the log said before, other weights came out.
            found.validated = [*found.positions]
    for some in batches(found.runs, AT_ONCE):
        with project.write() as writing:
            _put_runs(writing, found, some, _check_log(ledger_of(writing), writing, found))
        let_others_write()
    for many in batches(found.memories, AT_ONCE):
        with project.write() as writing:
            evidence.sum_again(writing, many)
        let_others_write()
    unsummed = [number for number, position in found.positions.items() if position.checksum is None]
    if found.verdicts or found.validated or found.marks or unsummed:
        with project.write() as writing:
            ledger = ledger_of(writing)
            _check_log(ledger, writing, found)
            _put_marks(writing, found)
            for position in evidence.kept(writing):
                if position.segment.number in unsummed:
                    evidence.move(writing, ledger.moved(position, position.end))


def _put_runs(writing: Writing, found: _Differing, runs: Sequence[tuple[int, str]], later: Said) -> None:
    ids = dict(
        writing.execute("SELECT n, id FROM memories WHERE n IN (:some)", {"some": [n for n, _ in runs]}).fetchall()
    )
    kept = {position.segment.number for position in evidence.kept(writing)}
    about = [(ids[n], ref) for n, ref in runs if n in ids]
    said = [each for run in about for each in (*found.said.get(run, ()), *later.get(run, ())) if each[1] in kept]
    evidence.put_again(writing, runs, said)
    evidence.sum_again(writing, sorted({n for n, _ in runs}))


def _check_log(ledger: Ledger, writing: Logged, found: _Differing) -> Said:
    """Return the signals that were counted since; _ChangedError when the log is not what it was before them."""
    ledger.catch_up(writing)
    later: Said = {}
    for position in evidence.kept(writing):
        number = position.segment.number
        before = found.positions.get(number, Position(position.segment))
        if before.checksum is not None and ledger.log.checksum(position.segment, 0, before.end) != before.checksum:
            raise _ChangedError
        for line in ledger.log.lines(position.segment, before.end):
            if (said := line.signal) is not None and line.end <= position.end:
                later.setdefault((said.memory, said.ref), []).append((said, number))
    return later


def _is_whole(ledger: Ledger, writing: Logged) -> bool:
    """Count what is not counted yet, and tell whether the kept segments say all that was counted of them."""
    ledger.catch_up(writing)
    kept = evidence.kept(writing)
    return all(ledger.log.size(p.segment) >= p.end and not ledger.is_altered(p) for p in kept)


def _write_again(ledger: Ledger, writing: Logged, lost: list[Contribution]) -> None:
    """Append what counts and no line says to the segments it is counted of, as far as it stands still."""
    for position in evidence.kept(writing):
        segment = position.segment
        standing = {*evidence.evidence_in(writing, segment.number)}
        said = [signal_of(writing, each) for each in lost if each in standing]
        if signals := [signal for signal in said if signal is not None]:
            evidence.move(writing, ledger.moved(position, ledger.append(writing, segment, signals)))
    writing.positions = None


def _put_marks(writing: Writing, found: _Differing) -> None:
    """Put right what is known of whole runs and segments."""
    now = dict(writing.execute(DERIVED["verdicts"]).fetchall())
    for said in found.outcomes:
        # The last one stands.
        if now.get(said.ref) == found.verdicts[said.ref]:
            verdict = VERDICTS[said.polarity]
            episodes.set_verdict(writing, said.ref, verdict, reason=said.reason, by=said.by, now=said.at)
    for segment in found.validated:
        evidence.validate_again(writing, segment)
    for bad, orphans, segment in found.marks:
        writing.execute(
            "UPDATE log_positions SET bad = bad + ?, orphans = orphans + ? WHERE segment = ?", (bad, orphans, segment)
        )
