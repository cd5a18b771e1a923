"""Is what is derived still what it is derived from? Looking only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.fold import batches, folded
from reasoningbank.storage.ledger import FOLDED_AT_ONCE
from reasoningbank.storage.loose_ends import loose_ends
from reasoningbank.storage.project import Project
from reasoningbank.storage.signal_log import Line, Segment
from reasoningbank.storage.transaction import SqliteReading, SqliteWriting


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        remedy: what mends it, in words.
        repair: name of the repair that does; empty when only the user can.
    """

    what: str
    remedy: str
    repair: str = ""


# What a fold makes, and how it is compared.
DERIVED = {
    "tallies": "SELECT * FROM tallies",
    "evidence": "SELECT * FROM evidence",
    "weights": "SELECT * FROM validations",
    "verdicts": "SELECT ref, verdict FROM episodes",
    "unreadable lines": "SELECT segment, bad FROM log_positions WHERE rolled = 0",
}

# What a fold starts from: of the big rows only what it reads, and what was rolled up for good.
_SOURCES = {
    "memories": "SELECT n, id, revision FROM memories",
    "episodes": "SELECT ref, '' AS task, opened_at, verdict, sealed FROM episodes",
    "log_positions": "SELECT * FROM log_positions",
    "tallies": "SELECT * FROM tallies WHERE rolled = 1",
    "validations": "SELECT * FROM validations",
    "sealed": "SELECT * FROM sealed",
    "served": "SELECT * FROM served",
}


def inspect_derived(project: Project, reading: SqliteReading) -> list[Finding]:
    """Compare the derived rows with their sources, inside the caller's read transaction."""
    damage = reading.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        return [Finding(f"the database is damaged: {damage}", "restore a backup")]
    findings = _log_findings(project, reading) + _row_findings(reading)
    if differing := refold_differences(project, reading):
        findings.append(
            Finding(f"{', '.join(differing)} differ from what the kept log says", "fold the log again", "rebuild")
        )
    return findings


def _row_findings(reading: Reading) -> list[Finding]:
    findings = []
    for indexed, index in (("memories", "terms"), ("nodes", "node_terms")):
        unindexed = reading.execute(
            f"SELECT (SELECT count(*) FROM {indexed} WHERE n NOT IN (SELECT rowid FROM {index})) + "
            f"(SELECT count(*) FROM {index} WHERE rowid NOT IN (SELECT n FROM {indexed}))"
        ).fetchone()[0]
        if unindexed:
            findings.append(
                Finding(
                    f"{unindexed} rows of the keyword index do not fit the {indexed}", "index them again", "rebuild"
                )
            )
    return findings + [Finding(what, "remove them", "rebuild") for what in loose_ends(reading)]


def _log_findings(project: Project, reading: Reading) -> list[Finding]:
    health = project.ledger.health(reading)
    findings = []
    if health.unfolded:
        findings.append(Finding(f"{health.unfolded} bytes of the log are not counted yet", "count them", "fold"))
    if health.short:
        findings.append(
            Finding(
                f"counted lines are missing from {', '.join(health.short)}",
                "write them again from what they were counted as",
                "rebuild",
            )
        )
    if health.bad:
        findings.append(
            Finding(
                f"{health.bad} lines of the log cannot be read",
                "kept where they are, and their segments with them; mend or remove the lines, then rebuild",
            )
        )
    rolled = {name for (name,) in reading.execute("SELECT name FROM log_positions WHERE rolled = 1")}
    if left := [name for name in health.strays if name in rolled]:
        findings.append(Finding(f"rolled up, but still there: {', '.join(left)}", "remove the files", "sweep"))
    if taken := [name for name in health.strays if name not in rolled]:
        findings.append(
            Finding(
                f"not counted, for their number is taken: {', '.join(taken)}", "give each a free number, or remove it"
            )
        )
    if health.torn:
        findings.append(
            Finding(f"unfinished lines were cut off and kept in {', '.join(health.torn)}", "look, and remove the files")
        )
    return findings


def refold_differences(project: Project, reading: SqliteReading) -> list[str]:
    """Fold the kept segments anew in memory, and name what comes out differently.

    Compared as far as the log is folded: lines not counted yet are no difference.
    """
    log = project.ledger.log
    with closing(_starting_point(reading)) as connection:
        anew = SqliteWriting(connection, project.folder, project.ledger, {})
        evidence.forget(anew)
        on_disk = {segment.name for segment in log.segments()}
        for position in evidence.positions(reading):
            if not position.rolled:
                segment = position.segment
                lines = log.lines(segment, 0) if segment.name in on_disk else ()
                _fold(anew, segment, [line for line in lines if line.end <= position.end])
        return [name for name, query in DERIVED.items() if _rows(anew, query) != _rows(reading, query)]


def _fold(anew: SqliteWriting, segment: Segment, lines: Sequence[Line]) -> None:
    signals = [line.signal for line in lines if line.signal is not None]
    for batch in batches(signals, FOLDED_AT_ONCE):
        evidence.put(anew, folded(evidence.facts_of(anew, batch), [(signal, segment.number) for signal in batch]))
    evidence.move(anew, segment, 0, bad=sum(bool(line.problem) for line in lines))


def _starting_point(reading: SqliteReading) -> sqlite3.Connection:
    """Return a database in memory with what a fold of the kept segments starts from."""
    anew = sqlite3.connect(":memory:", isolation_level=None)
    tables = ["evidence", "changes", "merged", "meta", "generations", *(_SOURCES.keys() - {"memories"})]
    schema = reading.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'memories' AND tbl_name IN (:tables)",
        {"tables": tables},
    ).fetchall()
    for (statement,) in schema:
        anew.execute(statement)
    anew.execute("CREATE TABLE memories(n INTEGER PRIMARY KEY, id TEXT UNIQUE, revision INTEGER)")
    for table, query in _SOURCES.items():
        rows = reading.execute(query)
        names = [column[0] for column in rows.description]
        anew.executemany(f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", rows)
    return anew


def _rows(reading: SqliteReading, query: str) -> list[tuple[object, ...]]:
    return sorted(reading.execute(query).fetchall(), key=repr)
