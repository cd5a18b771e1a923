"""Is what is derived still what it is derived from? Looking only."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from reasoningbank.storage.fold import fold, forget_fold
from reasoningbank.storage.project import Project


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


DERIVED = {
    "tallies": "memory, kind, day, source, judge, superseded, rolled, positive, negative, last",
    "evidence": "memory, ref, kind, polarity, weight, superseded, day, at, source, judge, alone, validates, segment",
    "validations": "segment, kind, confirmed, refuted",
}


def inspect_derived(project: Project, connection: sqlite3.Connection) -> list[Finding]:
    """Compare the derived rows with their sources, inside the caller's read transaction."""
    findings = []
    damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        findings.append(Finding(f"the database is damaged: {damage}", "restore a backup"))
        return findings
    findings += _log_findings(project, connection)
    unindexed = connection.execute(
        "SELECT (SELECT count(*) FROM memories WHERE n NOT IN (SELECT rowid FROM terms)) + "
        "(SELECT count(*) FROM terms WHERE rowid NOT IN (SELECT n FROM memories))"
    ).fetchone()[0]
    if unindexed:
        findings.append(
            Finding(f"{unindexed} rows of the keyword index do not fit the memories", "index them again", "rebuild")
        )
    ownerless = connection.execute(
        "SELECT count(*) FROM vectors WHERE memory NOT IN (SELECT n FROM memories)"
    ).fetchone()[0]
    if ownerless:
        findings.append(Finding(f"{ownerless} vectors belong to no memory", "restore a backup"))
    if differing := refold_differences(project, connection):
        findings.append(
            Finding(f"{', '.join(differing)} differ from what the kept log says", "fold the log again", "rebuild")
        )
    return findings


def _log_findings(project: Project, connection: sqlite3.Connection) -> list[Finding]:
    health = project.log_health(connection)
    findings = []
    if health.unfolded:
        findings.append(Finding(f"{health.unfolded} bytes of the log are not counted yet", "count them", "fold"))
    if health.bad:
        findings.append(
            Finding(f"{health.bad} lines of the log cannot be read", "kept where they are; mend or remove them by hand")
        )
    if health.strays:
        findings.append(Finding(f"segments that do not count: {', '.join(health.strays)}", "remove the files by hand"))
    return findings


def refold_differences(project: Project, connection: sqlite3.Connection) -> list[str]:
    """Fold the kept segments in a copy in memory, and name the derived tables that come out differently.

    Compared as far as the log is folded: lines not counted yet are no difference.
    """
    with sqlite3.connect(":memory:", isolation_level=None) as copy:
        connection.backup(copy)
        kept = copy.execute(
            "SELECT segment, name, position FROM log_positions WHERE rolled = 0 ORDER BY segment"
        ).fetchall()
        forget_fold(copy)
        by_name = {segment.name: segment for segment in project.log.segments()}
        for number, name, position in kept:
            for line in project.log.lines(by_name[name], 0) if name in by_name else ():
                if line.end <= position and line.signal is not None:
                    fold(copy, line.signal, number)
        return [
            table
            for table, columns in DERIVED.items()
            if _rows(copy, table, columns) != _rows(connection, table, columns)
        ]


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(f"SELECT {columns} FROM {table}").fetchall())
