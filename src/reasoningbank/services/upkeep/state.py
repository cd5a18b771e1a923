"""Upkeep: looking at a bank, repairing what is derived, copying it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from reasoningbank.embed.guarded import query_vector
from reasoningbank.errors import EmbedderMismatchError, EmbeddingError, InvalidInputError, ProjectNotFoundError
from reasoningbank.filters import Filters
from reasoningbank.memory import State
from reasoningbank.search.terms import keyword_text, terms
from reasoningbank.services.cache.snapshots import drop_all, findings
from reasoningbank.services.credit import lift
from reasoningbank.services.engine import Engine
from reasoningbank.services.graph.graph import indexed_terms
from reasoningbank.services.view import Edit, View, described
from reasoningbank.status import Repair, Status
from reasoningbank.storage import episodes, graph, jobs, meta, parameters, records
from reasoningbank.storage.check import Finding, inspect_derived, name_days, remove_loose_ends, unreadable
from reasoningbank.storage.folding_again import let_others_write
from reasoningbank.storage.ledger import LogHealth
from reasoningbank.storage.measures import overview
from reasoningbank.storage.place import Project
from reasoningbank.storage.words import every_text, put_anew

LATELY = 90  # days
_AT_ONCE = 200  # rows that are indexed again in one transaction
_REEMBED = "run doctor to see whether the embedder works, then reembed"


def status(engine: Engine) -> Status:
    """Look at a bank without changing anything."""
    problems: tuple[str, ...] = ()
    try:
        embedder = described(engine.embedder.identity)
    except (EmbeddingError, EmbedderMismatchError, ImportError) as error:
        embedder, problems = "none", (f"the embedder cannot be used: {error}",)
    empty = Status(
        root=str(engine.root),
        folder=engine.where,
        tenant=engine.tenant,
        project=engine.project_name,
        exists=False,
        embedder=embedder,
        confidence_model=engine.settings.confidence_model,
        settings=engine.settings.changed,
        problems=problems,
    )
    project = engine.project()
    return empty if project is None else _filled(engine, project, empty)


def _filled(engine: Engine, project: Project, empty: Status) -> Status:
    told = lift.lift(engine, LATELY, None)
    with engine.read() as view:
        health = project.health(view)
        not_embedded = records.count_not_embedded(view)
        stored = view.moment.generation
        bare_nodes = len(graph.not_embedded(view, 0 if stored is None else stored.number))
        return replace(
            empty,
            exists=True,
            **(overview(view) | project.space()),
            expired=records.count(view, Filters(expired_by=engine.now())),
            stored_embedder=None if stored is None else described(stored),
            not_embedded=not_embedded,
            nodes_not_embedded=bare_nodes,
            parameters=parameters.learned(view),
            open_episodes=episodes.count_open(view),
            late_recalls=meta.late_recalls(view) + engine.deadlines.late,
            lift="" if told.overall is None else told.words,
            jobs=jobs.counts(view),
            log_segments=health.segments,
            rolled_segments=health.rolled,
            unreadable_lines=health.bad,
            orphan_lines=health.orphans,
            positions_set_back=health.set_back,
            unfolded_bytes=health.unfolded,
            stray_segments=health.strays,
            read_only=project.read_only,
            problems=(
                *(empty.problems or _mismatch(view)),
                *_problems(project, health, (("memories", not_embedded), ("nodes", bare_nodes))),
            ),
        )


def _mismatch(view: View) -> tuple[str, ...]:
    """Say that this handle's embedder is not the one whose vectors are stored, where that is so."""
    try:
        view.check_embedder(view.engine.embedder.identity)
    except EmbedderMismatchError as error:
        return (f"no call that embeds can work: {error}",)
    return ()


def _problems(project: Project, health: LogHealth, not_embedded: Sequence[tuple[str, int]]) -> list[str]:
    hidden = "what only the write-ahead log holds cannot be shown: let a user who may write open the bank once"
    harmed = [*health.short, *health.altered]
    looked_at = [
        (project.read_only, "the folder cannot be written by this user"),
        (project.hides_recent_writes, hidden),
        (health.bad, f"{health.bad} lines of the signal log cannot be read; they are kept where they are"),
        (health.strays, f"segments that do not count: {', '.join(health.strays)}"),
        (harmed, f"counted lines are missing or damaged in {', '.join(harmed)}: run doctor, which writes them again"),
        *((n, f"{n} {what} are not embedded and found by keyword only: {_REEMBED}") for what, n in not_embedded),
    ]
    return [problem for found, problem in looked_at if found]


# -- repair --------------------------------------------------------------------------------------------------------


def rebuild(engine: Engine) -> None:
    """Derive again all that is derived: terms, tallies and verdicts from the kept log, and the vector index.

    In bounded steps: other writers come between.
    """
    project = _existing(engine)
    for index in _INDEXED:
        after: int | None = 0
        while after is not None:
            with engine.write() as edit:
                after = _index_again(edit, index, after)
            let_others_write()
    with engine.write() as edit:
        remove_loose_ends(edit)
        name_days(edit)
        drop_all(edit)
    project.refold()
    engine.drop_indexes()


def _index_again(edit: Edit, index: str, after: int) -> int | None:
    """Index some rows again under the words that they should have; return the last of them, None behind the end."""
    numbers, words = _INDEXED[index]
    some = numbers(edit, after)
    last = some[-1] if some else _ENDLESS
    put_anew(edit, index, words(edit, some), after, last)
    return last if some else None


def _words_of_memories(view: View, numbers: Sequence[int]) -> dict[int, str]:
    return {n: " ".join(terms(keyword_text(stored.memory))) for n, stored in view.load(numbers).items()}


def _words_of_nodes(view: View, numbers: Sequence[int]) -> dict[int, str]:
    return {n: indexed_terms(stored.node) for n, stored in graph.load(view, numbers).items()}


_ENDLESS = 2**62
# By index: which rows come after a number, some at a time, and the words that each of them should hold.
_INDEXED: dict[str, tuple[Callable[[View, int], list[int]], Callable[[View, Sequence[int]], dict[int, str]]]] = {
    "terms": (
        lambda view, after: records.page(view, Filters(states=tuple(State)), after, _AT_ONCE),
        _words_of_memories,
    ),
    "node_terms": (
        lambda view, after: graph.page(view, graph.NodeFilters(served=False), after, _AT_ONCE),
        _words_of_nodes,
    ),
}


def doctor(engine: Engine, *, dry_run: bool) -> list[Repair]:
    """Find what is not as it should be, and repair what is derived; records and signals are never touched."""
    project = engine.project()
    if project is None:
        return []
    findings = _findings(engine, project)
    if any(finding.repair for finding in findings):
        # Looked at again: a roll-up or a write between the look at the rows and the one at the files is no defect.
        findings = _findings(engine, project)
    findings += _embedder_findings(engine)
    repairs = dict.fromkeys(f.repair for f in findings if f.repair)
    if dry_run or not repairs:
        return [Repair(f.what, f.remedy) for f in findings]
    remedies: dict[str, Callable[[], None]] = {
        "rebuild": lambda: rebuild(engine),
        "fold": lambda: _in_one(engine, Edit.catch_up),
        "sweep": project.sweep,
        "snapshots": lambda: _in_one(engine, drop_all),
    }
    for name in repairs:
        remedies[name]()
    return [Repair(f.what, f.remedy, done=bool(f.repair)) for f in findings]


def _in_one(engine: Engine, act: Callable[[Edit], None]) -> None:
    with engine.write() as edit:
        act(edit)


def _findings(engine: Engine, project: Project) -> list[Finding]:
    with project.read() as reading:
        found = inspect_derived(project, reading)
        view = View(engine, reading)
        if not any(finding.repair == "rebuild" for finding in found):
            found += _keyword_findings(view)
        return found + _damaged_rows(view) + findings(view)


def _damaged_rows(view: View) -> list[Finding]:
    remedy = "delete it, and import it again from an export or a backup that has it; nothing else is touched by it"
    return [Finding(f"memory {memory} cannot be read: its row is damaged", remedy) for memory in unreadable(view)]


def _embedder_findings(engine: Engine) -> list[Finding]:
    """Try the embedder, and look for what it should have embedded. Nothing here is derived without it."""
    try:
        query_vector(engine.embedder, "quote every path")
    except (EmbeddingError, EmbedderMismatchError, ImportError) as error:
        return [Finding(f"the embedder cannot be used: {error}", "mend it, or open the bank with another", "")]
    with engine.read() as view:
        found = [
            Finding(problem, "open it with the embedder that is stored, or reembed") for problem in _mismatch(view)
        ]
        bare = records.count_not_embedded(view)
    return found or ([Finding(f"{bare} memories are not embedded", "run reembed")] if bare else [])


def _keyword_findings(view: View) -> list[Finding]:
    findings = []
    for index, (numbers, words) in _INDEXED.items():
        present, differing, after = every_text(view, index), 0, 0
        while some := numbers(view, after):
            differing += sum(present.get(n) != text for n, text in words(view, some).items())
            after = some[-1]
        if differing:
            of = "memories" if index == "terms" else "nodes"
            what = f"{differing} {of} are not indexed under the words they have"
            findings.append(Finding(what, "index them again", "rebuild"))
    return findings


def backup(engine: Engine, target: Path) -> None:
    """Copy a project's files, as they are at one moment, into a new folder that can be opened as a project."""
    project = _existing(engine)
    if target.exists():
        raise InvalidInputError(f"{target} is there already: name a new folder")
    project.backup(target)


def _existing(engine: Engine) -> Project:
    project = engine.project()
    if project is None:
        raise ProjectNotFoundError(engine.project_name, engine.tenant)
    return project
