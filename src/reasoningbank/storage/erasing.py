"""Rows of all that was recorded under a name: a person's or an agent's, a session's, a thread's or a run's."""

from __future__ import annotations

import json
from collections.abc import Sequence

from reasoningbank.storage import evidence, graph, revisions, trust
from reasoningbank.storage.contract import Reading, Writing, column
from reasoningbank.storage.jobs import GIVEN

# What hangs from a run by its reference. What was handed out stays as numbers: the log is folded again by it.
_OF_RUNS = (*("episodes", "trials", "candidates", "failed_acts", "trajectories", "steps", "origins", "shared_runs"),)


def runs_of(reading: Reading, name: str) -> list[str]:
    """Return the references of the runs of a thread, or of the one run of this reference."""
    return column(reading, "SELECT ref FROM episodes WHERE thread = ? OR ref = ? ORDER BY ref", (name, name))


def lessons_of(reading: Reading, name: str, refs: Sequence[str]) -> list[int]:
    """Return the memories that a source brought, and those that were distilled from these runs and from no other."""
    distilled = (
        "SELECT DISTINCT o.memory FROM origins AS o WHERE o.ref IN (:refs) AND NOT EXISTS "
        "(SELECT 1 FROM origins AS p WHERE p.memory = o.memory AND p.ref NOT IN (:refs))"
    )
    drawn = column(reading, distilled, {"refs": list(refs)}) if refs else []
    return sorted({*trust.of_source(reading, name), *drawn})


def jobs_of(reading: Reading, name: str, refs: Sequence[str]) -> list[str]:
    """Return the ids of the jobs that were put with one of these runs as their key, or whose run is of a session."""
    keys = {f"{GIVEN}{ref}" for ref in refs}
    rows = reading.execute("SELECT id, key, payload FROM jobs ORDER BY n")
    return [job for job, key, payload in rows if key in keys or json.loads(payload).get("session") == name]


def nodes_of(reading: Reading, name: str) -> list[str]:
    """Return the ids of the nodes of a conversation, and of a user's requests."""
    rows = reading.execute("SELECT id, conv_id, fields FROM nodes ORDER BY n")
    return [node for node, conversation, fields in rows if name in (conversation, json.loads(fields).get("user_id"))]


def erase_runs(writing: Writing, refs: Sequence[str]) -> None:
    """Delete runs, with all that hangs from them."""
    for table in _OF_RUNS if refs else ():
        writing.execute(f"DELETE FROM {table} WHERE ref IN (:refs)", {"refs": list(refs)})


def erase_jobs(writing: Writing, job_ids: Sequence[str]) -> None:
    """Delete jobs, whatever became of them."""
    for job_id in job_ids:
        writing.execute("DELETE FROM jobs WHERE id = ?", (job_id,))


def erase_nodes(writing: Writing, node_ids: Sequence[str]) -> None:
    """Delete nodes of the graph, with their edges."""
    for node_id in node_ids:
        graph.delete_node(writing, node_id)


def erase_name(writing: Writing, name: str, other: str, why_retired: str) -> None:
    """Take a name out of every row; `other` takes the place of references of this name. What counts counts on.

    Args:
        why_retired: why memories are archived that it retired.
    """
    evidence.unname(writing, name, other)
    revisions.unname(writing, name, other)
    writing.execute("UPDATE archived SET why = 'retired' WHERE why = ?", (why_retired,))
    writing.execute("UPDATE episodes SET judge = '', reason = '' WHERE judge = ?", (name,))
    writing.execute("UPDATE trials SET unit = ? WHERE unit = ?", (other, name))
    for table in ("links", "promoted"):
        writing.execute(f"UPDATE {table} SET judge = '' WHERE judge = ?", (name,))
    writing.execute("DELETE FROM forgotten WHERE source = ?", (name,))
    for n, record in writing.execute("SELECT n, record FROM parameters").fetchall():
        known = json.loads(record)
        for weighed in ("judges", "reporters"):
            known[weighed] = [pair for pair in known.get(weighed, ()) if pair[0] != name]
        writing.execute("UPDATE parameters SET record = ? WHERE n = ?", (json.dumps(known), n))
