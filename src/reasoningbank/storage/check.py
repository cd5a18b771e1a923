"""Is what is derived still what it is derived from, and does every row lead somewhere?"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.storage.fold import Contribution
from reasoningbank.storage.ledger import Ledger, fold_lines
from reasoningbank.storage.place import Project
from reasoningbank.storage.project import nothing
from reasoningbank.storage.stored import MEMORY_COLUMNS, readable
from reasoningbank.storage.transaction import SqliteWriting


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, what mends it, and the repair that does: "" where only the user can."""

    what: str
    remedy: str
    repair: str = ""


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
    "log_positions": ("segment, name, day, position, bad, orphans, set_back, rolled, checksum", ""),
    "tallies": (", ".join(evidence.TALLIES), "WHERE rolled = 1"),
    "validations": ("segment, kind, confirmed, refuted", ""),
    "sealed": ("memory, ref, kind, polarity", ""),
    "served": (
        "ref, position, memory, revision, confidence, deviation, provisional, similarity, keyword, score, sealed",
        "",
    ),
}


_NO_MEMORY = "NOT IN (SELECT n FROM memories)"
_NO_NODE = "NOT IN (SELECT n FROM nodes)"

# Rows that lead nowhere: triggers keep them from coming about; damage, a half restored file or a hand may not. Each in
# words; the table; which of its rows these are. A vector of another length than its generation's is no vector.
_LOOSE = (
    ("vectors belong to no memory", "vectors", f"memory {_NO_MEMORY}"),
    ("vectors of nodes belong to no node", "node_vectors", f"node {_NO_NODE}"),
    *(
        (
            f"vectors in {table} are not as long as their embedder's",
            table,
            f"EXISTS (SELECT 1 FROM generations AS g WHERE g.generation = {table}.generation "
            f"AND length({table}.vector) <> 4 * g.dim)",
        )
        for table in ("vectors", "node_vectors")
    ),
    ("links lead to no memory", "links", f"source {_NO_MEMORY} OR target {_NO_MEMORY}"),
    ("edges lead to no node", "edges", f"source {_NO_NODE} OR target {_NO_NODE}"),
    ("pointers of nodes lead nowhere", "pointers", f"node {_NO_NODE} OR memory {_NO_MEMORY}"),
    ("steps belong to no kept run", "steps", "ref NOT IN (SELECT ref FROM trajectories)"),
)


def inspect_derived(project: Project, reading: Reading) -> list[Finding]:
    """Compare the derived rows with their sources, inside the caller's read transaction."""
    if damage := project.damage(reading):
        return [Finding(f"the database is damaged: {damage}", "restore a backup, or run salvage")]
    findings = _log_findings(project, reading) + _row_findings(reading)
    if differing := refold_differences(project, reading):
        what = f"{', '.join(differing)} differ from what the kept log says"
        findings.append(Finding(what, "fold the log again", "rebuild"))
    return findings


def unreadable(reading: Reading) -> list[str]:
    """Return the ids of the memories whose rows cannot be read."""
    rows = reading.execute(f"SELECT {MEMORY_COLUMNS} FROM memories")
    return [row[1] for row in rows if readable(row, (), "") is None]


def remove_loose_ends(writing: Writing) -> None:
    """Remove all that leads nowhere; vectors of the wrong length are made anew by `reembed`."""
    for _, table, condition in _LOOSE:
        writing.execute(f"DELETE FROM {table} WHERE {condition}")


def _row_findings(reading: Reading) -> list[Finding]:
    findings = []
    for indexed, index in (("memories", "terms"), ("nodes", "node_terms")):
        unindexed = number(
            reading,
            f"SELECT (SELECT count(*) FROM {indexed} WHERE n NOT IN (SELECT rowid FROM {index})) + "
            f"(SELECT count(*) FROM {index} WHERE rowid NOT IN (SELECT n FROM {indexed}))",
        )
        if unindexed:
            what = f"{unindexed} rows of the keyword index do not fit the {indexed}"
            findings.append(Finding(what, "index them again", "rebuild"))
    for what, table, condition in _LOOSE:
        if loose := number(reading, f"SELECT count(*) FROM {table} WHERE {condition}"):
            findings.append(Finding(f"{loose} {what}", "remove them", "rebuild"))
    return findings


def _log_findings(project: Project, reading: Reading) -> list[Finding]:
    health = project.health(reading)
    rolled = column(reading, "SELECT name FROM log_positions WHERE rolled = 1")
    left = [name for name in health.strays if name in rolled]
    taken = [name for name in health.strays if name not in rolled]
    lost = "write them again from what they were counted as"
    unreadable = "kept where they are, and their segments with them; mend or remove the lines, then rebuild"
    # What there is of each, as a number or as names; in which words; what mends it.
    looked_at: list[tuple[int | Sequence[str], str, str, str]] = [
        (health.unfolded, "{} bytes of the log are not counted yet", "count them", "fold"),
        (health.short, "counted lines are missing from {}", lost, "rebuild"),
        (health.altered, "counted lines were damaged or changed in {}", f"keep the file aside, and {lost}", "rebuild"),
        (health.bad, "{} lines of the log cannot be read", unreadable, ""),
        (left, "rolled up, but still there: {}", "remove the files", "sweep"),
        (taken, "not counted, for their number is taken: {}", "give each a free number, or remove it", ""),
        (
            health.kept_aside,
            "damaged or unfinished lines were cut off and kept in {}",
            "look, and remove the files",
            "",
        ),
    ]
    return [
        Finding(what.format(found if isinstance(found, int) else ", ".join(found)), remedy, repair)
        for found, what, remedy, repair in looked_at
        if found
    ]


def refold_differences(project: Project, reading: Reading) -> list[str]:
    """Fold the kept segments anew in memory, and name what comes out differently.

    Compared as far as the log is folded: lines not counted yet are no difference.
    """
    log = project.log_of(reading)
    with closing(_starting_point(reading)) as connection:
        anew = SqliteWriting(connection, None, Ledger(log), {})
        evidence.forget(anew)
        on_disk = {segment.name for segment in log.segments()}
        for position in evidence.positions(reading):
            if not position.rolled:
                lines = log.lines(position.segment, 0) if position.segment.name in on_disk else ()
                fold_lines(anew, position, [line for line in lines if line.end <= position.end])
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
