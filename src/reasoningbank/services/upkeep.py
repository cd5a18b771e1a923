"""Upkeep: looking at a bank, repairing what is derived, copying it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from reasoningbank.distill import queue
from reasoningbank.errors import EmbeddingError, InvalidInputError, ProjectNotFoundError
from reasoningbank.services.engine import Engine
from reasoningbank.status import Repair, Status
from reasoningbank.storage import episodes, parameters
from reasoningbank.storage.check import Finding, inspect_derived
from reasoningbank.storage.ledger import LogHealth
from reasoningbank.storage.project import Project
from reasoningbank.terms import keyword_text, terms


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
        not_embedded = count_not_embedded(connection)
        return replace(
            empty,
            exists=True,
            format=connection.execute("PRAGMA user_version").fetchone()[0],
            stored_embedder=_stored_embedder(connection),
            memories=dict(connection.execute("SELECT state, count(*) FROM memories GROUP BY state ORDER BY state")),
            not_embedded=not_embedded,
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
            problems=(*problems, *_problems(project, health, not_embedded)),
        )


def _embedder_in_use(engine: Engine) -> tuple[str, tuple[str, ...]]:
    try:
        identity = engine.embedder.identity
    except (EmbeddingError, ImportError) as error:
        return "none", (f"the embedder cannot be used: {error}",)
    return f"{identity.name} {identity.revision} ({identity.dim} numbers)", ()


def _stored_embedder(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT name, revision, dim FROM generations WHERE state = 'current'").fetchone()
    return None if row is None else f"{row[0]} {row[1]} ({row[2]} numbers)"


def count_not_embedded(connection: sqlite3.Connection) -> int:
    """Return how many memories have no lesson vector of the current generation."""
    total: int = connection.execute(
        "SELECT count(*) FROM memories WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.memory = memories.n "
        "AND v.role = 'lesson' AND v.generation = (SELECT generation FROM generations WHERE state = 'current'))"
    ).fetchone()[0]
    return total


def _problems(project: Project, health: LogHealth, not_embedded: int) -> list[str]:
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
    if not_embedded:
        found.append(f"{not_embedded} memories are not embedded and found by keyword only: run reembed")
    return found


# -- repair --------------------------------------------------------------------------------------------------------


def rebuild(engine: Engine) -> None:
    """Derive again all that is derived: terms, tallies and verdicts from the kept log, and the vector index."""
    project = _existing(engine)
    with project.write() as connection:
        _index_terms_again(engine, connection)
        connection.execute("DELETE FROM vectors WHERE memory NOT IN (SELECT n FROM memories)")
    project.refold()
    engine.index.drop()


def _index_terms_again(engine: Engine, connection: sqlite3.Connection) -> None:
    # The feed says so of each, for those who keep what they read of the text index.
    connection.execute(
        "INSERT INTO changes(op, memory) SELECT 'put', n FROM (SELECT n FROM memories UNION SELECT rowid FROM terms)"
    )
    connection.execute("DELETE FROM terms")
    for n, memory in engine.every_memory(connection):
        connection.execute("INSERT INTO terms(rowid, text) VALUES (?, ?)", (n, " ".join(terms(keyword_text(memory)))))


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
    }
    for name in repairs:
        remedies[name]()
    return [_after(f) for f in findings]


def _findings(engine: Engine, project: Project) -> list[Finding]:
    with project.database.read() as connection:
        findings = inspect_derived(project, connection)
        if not any(finding.repair == "rebuild" for finding in findings):
            findings += _keyword_findings(engine, connection)
        return findings


def _keyword_findings(engine: Engine, connection: sqlite3.Connection) -> list[Finding]:
    indexed = dict(connection.execute("SELECT rowid, text FROM terms"))
    differing = sum(
        indexed.get(n) != " ".join(terms(keyword_text(memory))) for n, memory in engine.every_memory(connection)
    )
    if not differing:
        return []
    return [Finding(f"{differing} memories are not indexed under the words they have", "index them again", "rebuild")]


def _after(finding: Finding) -> Repair:
    return Repair(finding.what, finding.remedy, done=bool(finding.repair))


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
