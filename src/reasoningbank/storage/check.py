"""Is what is derived still what it is derived from, and does every row lead somewhere?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reasoningbank.storage.contract import Reading, Writing, column, number
from reasoningbank.storage.evidence import Position, positions
from reasoningbank.storage.folding_again import refold_differences
from reasoningbank.storage.place import Project
from reasoningbank.storage.stored import MEMORY_COLUMNS, readable


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, what mends it, and the repair that does: "" where only the user can."""

    what: str
    remedy: str
    repair: str = ""


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


_NO_RUN = (
    "opened_at NOT LIKE '____-__-__T%' OR closed_at NOT LIKE '____-__-__T%' "
    "OR verdict NOT IN ('success', 'failure', 'partial', 'unknown')"
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


def name_days(writing: Writing) -> None:
    """Put down the day of each segment again, as its name says it."""
    for position in _of_other_days(writing):
        day, segment = position.segment.day, position.segment.number
        writing.execute("UPDATE log_positions SET day = ? WHERE segment = ?", (day, segment))


def _of_other_days(reading: Reading) -> list[Position]:
    days = dict(reading.execute("SELECT segment, day FROM log_positions").fetchall())
    return [each for each in positions(reading) if days[each.segment.number] != each.segment.day]


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
    if damaged := number(reading, f"SELECT count(*) FROM episodes WHERE {_NO_RUN}"):
        what = f"{damaged} runs cannot be read: their rows are damaged"
        findings.append(Finding(what, "nothing else is touched by them; they are left out"))
    if others := len(_of_other_days(reading)):
        what = f"days of the log's segments are not what their names say: {others}"
        findings.append(Finding(what, "put them down again", "rebuild"))
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
