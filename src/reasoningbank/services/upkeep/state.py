"""Upkeep: looking at a bank, repairing what is derived, copying it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from reasoningbank.distill import queue
from reasoningbank.errors import EmbeddingError, InvalidInputError, ProjectNotFoundError
from reasoningbank.search.terms import keyword_text, terms
from reasoningbank.services.cache.index_snapshot import drop_all, findings
from reasoningbank.services.engine import Engine, described
from reasoningbank.services.graph.graph import indexed_terms
from reasoningbank.status import Repair, Status
from reasoningbank.storage import episodes, generations, graph, parameters
from reasoningbank.storage.check import Finding, inspect_derived
from reasoningbank.storage.ledger import LogHealth
from reasoningbank.storage.loose_ends import remove_loose_ends
from reasoningbank.storage.project import Project
from reasoningbank.storage.stored_vectors import CURRENT

# What each keyword index is of.
_OF = {"terms": "memories", "node_terms": "nodes"}


def status(engine: Engine) -> Status:
    """Look at a bank without changing anything."""
    embedder, problems = _embedder_in_use(engine)
    empty = Status(
        root=str(engine.root),
        folder=str(engine.folder),
        tenant=engine.tenant,
        project=engine.project_name,
        exists=False,
        embedder=embedder,
        confidence_model=engine.settings.confidence_model,
        settings=engine.settings.changed,
        problems=problems,
    )
    project = engine.project()
    if project is None:
        return empty
    with project.database.read() as connection:
        health = project.log_health(connection)
        not_embedded, bare_nodes = count_not_embedded(connection), graph.count_not_embedded(connection)
        return replace(
            empty,
            exists=True,
            format=connection.execute("PRAGMA user_version").fetchone()[0],
            stored_embedder=_stored_embedder(connection),
            memories=dict(connection.execute("SELECT state, count(*) FROM memories GROUP BY state ORDER BY state")),
            not_embedded=not_embedded,
            links=_count(connection, "links"),
            nodes=dict(connection.execute("SELECT state, count(*) FROM nodes GROUP BY state ORDER BY state")),
            edges=_count(connection, "edges"),
            nodes_not_embedded=bare_nodes,
            kept_runs=_count(connection, "trajectories"),
            parameters=parameters.learned(connection),
            open_episodes=episodes.count_open(connection),
            jobs=queue.counts(connection),
            log_segments=health.segments,
            rolled_segments=health.rolled,
            unreadable_lines=health.bad,
            orphan_lines=health.orphans,
            positions_set_back=health.set_back,
            unfolded_bytes=health.unfolded,
            stray_segments=health.strays,
            read_only=project.database.read_only,
            problems=(*problems, *_problems(project, health, {"memories": not_embedded, "nodes": bare_nodes})),
        )


def _count(connection: sqlite3.Connection, table: str) -> int:
    found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return found


def _embedder_in_use(engine: Engine) -> tuple[str, tuple[str, ...]]:
    try:
        identity = engine.embedder.identity
    except (EmbeddingError, ImportError) as error:
        return "none", (f"the embedder cannot be used: {error}",)
    return described(identity), ()


def _stored_embedder(connection: sqlite3.Connection) -> str | None:
    stored = generations.current(connection)
    return None if stored is None else described(stored)


def count_not_embedded(connection: sqlite3.Connection) -> int:
    """Return how many memories have no lesson vector of the current generation."""
    total: int = connection.execute(
        "SELECT count(*) FROM memories WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.memory = memories.n "
        f"AND v.role = 'lesson' AND v.generation = {CURRENT})"
    ).fetchone()[0]
    return total


def _problems(project: Project, health: LogHealth, not_embedded: Mapping[str, int]) -> list[str]:
    found = []
    if project.database.read_only:
        found.append("the folder cannot be written by this user")
    if project.database.hides_recent_writes:
        found.append("what only the write-ahead log holds cannot be shown: let a user who may write open the bank once")
    if health.bad:
        found.append(f"{health.bad} lines of the signal log cannot be read; they are kept where they are")
    if health.strays:
        found.append(f"segments that do not count: {', '.join(health.strays)}")
    if health.set_back:
        found.append(f"the signal log lost lines that had been counted, {health.set_back} times (a power loss)")
    bare = (
        f"{n} {what} are not embedded and found by keyword only: run reembed" for what, n in not_embedded.items() if n
    )
    return [*found, *bare]


# -- repair --------------------------------------------------------------------------------------------------------


def rebuild(engine: Engine) -> None:
    """Derive again all that is derived: terms, tallies and verdicts from the kept log, and the vector index."""
    project = _existing(engine)
    with project.write() as connection:
        _index_terms_again(engine, connection)
        remove_loose_ends(connection)
        drop_all(connection)
    project.refold()
    engine.drop_indexes()


def _index_terms_again(engine: Engine, connection: sqlite3.Connection) -> None:
    # The feed says so of each, for those who keep what they read of the text index.
    connection.execute(
        "INSERT INTO changes(op, memory) SELECT 'put', n FROM (SELECT n FROM memories UNION SELECT rowid FROM terms)"
    )
    for index, rows in _indexed(engine, connection).items():
        connection.execute(f"DELETE FROM {index}")
        connection.executemany(f"INSERT INTO {index}(rowid, text) VALUES (?, ?)", rows)


def _indexed(engine: Engine, connection: sqlite3.Connection) -> dict[str, Iterator[tuple[int, str]]]:
    """Return by index the words that each of its rows should hold."""
    memories = ((n, " ".join(terms(keyword_text(memory)))) for n, memory in engine.every_memory(connection))
    nodes = ((stored.n, indexed_terms(stored.node)) for stored in graph.every_node(connection))
    return {"terms": memories, "node_terms": nodes}


def doctor(engine: Engine, *, dry_run: bool) -> list[Repair]:
    """Find what is not as it should be, and repair what is derived; records and signals are never touched."""
    project = engine.project()
    if project is None:
        return []
    findings = _findings(engine, project)
    if any(finding.repair for finding in findings):
        # Looked at again: a roll-up or a write between the look at the rows and the one at the files is no defect.
        findings = _findings(engine, project)
    repairs = dict.fromkeys(f.repair for f in findings if f.repair)
    if dry_run or not repairs:
        return [Repair(f.what, f.remedy) for f in findings]
    remedies: dict[str, Callable[[], None]] = {
        "rebuild": lambda: rebuild(engine),
        "fold": lambda: _fold(project),
        "sweep": project.sweep,
        "snapshots": lambda: _drop_snapshots(project),
    }
    for name in repairs:
        remedies[name]()
    return [_after(f) for f in findings]


def _findings(engine: Engine, project: Project) -> list[Finding]:
    with project.database.read() as connection:
        found = inspect_derived(project, connection)
        if not any(finding.repair == "rebuild" for finding in found):
            found += _keyword_findings(engine, connection)
        return found + findings(connection)


def _keyword_findings(engine: Engine, connection: sqlite3.Connection) -> list[Finding]:
    findings = []
    for index, rows in _indexed(engine, connection).items():
        present = dict(connection.execute(f"SELECT rowid, text FROM {index}"))
        if differing := sum(present.get(n) != text for n, text in rows):
            what = f"{differing} {_OF[index]} are not indexed under the words they have"
            findings.append(Finding(what, "index them again", "rebuild"))
    return findings


def _after(finding: Finding) -> Repair:
    return Repair(finding.what, finding.remedy, done=bool(finding.repair))


def _drop_snapshots(project: Project) -> None:
    with project.write() as connection:
        drop_all(connection)


def _fold(project: Project) -> None:
    with project.write() as connection:
        project.catch_up(connection)


def backup(engine: Engine, target: Path) -> None:
    """Copy a project's files, as they are at one moment, into a new folder that can be opened as a project.

    Raises:
        InvalidInputError: the folder is there already.
        ProjectNotFoundError: there is nothing to copy.
    """
    project = _existing(engine)
    if target.exists():
        raise InvalidInputError(f"{target} is there already: name a new folder")
    project.backup(target)


def _existing(engine: Engine) -> Project:
    project = engine.project()
    if project is None:
        raise ProjectNotFoundError(engine.project_name, engine.tenant)
    return project
