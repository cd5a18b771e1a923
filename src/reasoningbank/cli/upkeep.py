"""Commands about the bank: projects, delete-project, status, metrics, upkeep, backup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reasoningbank.cli import views
from reasoningbank.cli.arguments import Chosen, UsageError, Yes
from reasoningbank.cli.merging import asked, skipped, told
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.views import counts, sentence, table_of
from reasoningbank.upkeep import (
    Bin,
    Calibration,
    Maintained,
    Measure,
    Metrics,
    Pruned,
    Repair,
    Status,
)

app = typer.Typer(rich_help_panel="The bank")


@command(app, "projects", scope=("root", "tenant"))
def projects(session: Session) -> Answer:
    """List the tenant's projects."""
    names = session.banks.projects()
    return Answer({"projects": names}, lambda console, _: views.names(console, names, "No projects."))


@command(app, "delete-project", scope=("root", "tenant"))
def delete_project(
    session: Session,
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="Its exact name.")],
    *,
    yes: Yes = False,
) -> Answer:
    """Delete everything of one project, for good. Asks first."""
    banks = session.banks
    if not yes:
        if session.as_json:
            raise UsageError("delete-project --json does not ask: confirm with --yes")
        project_named = f"project {project!r} of tenant {banks.tenant!r}"
        count = banks.open(project).count(state=None)
        typer.confirm(f"Delete {project_named} with {count:,} memories, for good?", abort=True, err=True)
    banks.delete_project(project)
    return Answer({"deleted": project}, f"Deleted project {project!r}.")


@command(app, "status", begins=True)
def status(session: Session) -> Answer:
    """Say where the bank is, what is in it, and what is not as it should be. Changes nothing."""
    found = session.bank.upkeep.status()
    return Answer(found, lambda console, _: _show_status(console, found, session.scope))


@command(app, "metrics")
def metrics(
    session: Session,
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=36_500, help="How far to look back.")] = 30,
) -> Answer:
    """Say how well the bank did: whether its confidences came true, what its lessons were worth. Changes nothing."""
    return Answer(session.bank.upkeep.metrics(days), _metrics)


@command(app, "maintain")
def maintain(
    session: Session,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done, and what could be.")] = False,
) -> Answer:
    """Do a round of upkeep; one a day is plenty.

    Always: roll up old segments of the signal log, close episodes that stayed open for too long, trim the change feed
    and kept runs, and, at most once a day, suggest links (none is set; --set auto_suggest=false leaves it out).

    Off by default: merging duplicates at most once a day (--set auto_consolidate=true), and archiving what misleads or
    nobody needs (--set auto_prune=true), also what is more than --set max_memories=N. --dry-run proposes all of it,
    whatever the settings.
    """
    with session.waiting("Keeping the bank good"):
        return Answer(session.bank.upkeep.maintain(dry_run=dry_run), _maintained)


@command(app, "doctor")
def doctor(
    session: Session,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> Answer:
    """Find what is not as it should be, and derive again what is derived. Records and signals are never touched."""
    with session.waiting("Looking through the bank"):
        repairs = session.bank.upkeep.doctor(dry_run=dry_run)
    return Answer({"repairs": repairs}, lambda console, _: _show_repairs(console, repairs))


@command(app, "rebuild")
def rebuild(session: Session) -> Answer:
    """Derive the keyword indexes, the tallies and the vector indexes again, of memories and of the graph."""
    with session.waiting("Rebuilding"):
        session.bank.upkeep.rebuild()
    return Answer({"rebuilt": True}, "Rebuilt what is derived.")


@command(app, "reembed")
def reembed(session: Session) -> Answer:
    """Embed every memory and node of the graph anew, with --embedder if it is given, and use that from then on."""
    with session.progress("Embedding") as progress:
        count = session.bank.upkeep.reembed(progress=progress)
    embedder = session.embedder or session.bank.upkeep.status().embedder
    return Answer({"embedded": count, "embedder": embedder}, f"Embedded {count:,} memories with {embedder}.")


@command(app, "backup")
def backup(session: Session, folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]) -> Answer:
    """Copy the project, as it is at one moment, into a new folder."""
    with session.waiting("Copying"):
        session.bank.upkeep.backup(folder)
    return Answer({"backup": folder.absolute()}, f"Copied to {folder}.")


@command(app, "prune")
def prune(
    session: Session,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Archive; without it, only say what would be.")] = False,
    unused_days: Annotated[float, typer.Option(help="Days without use after which a doubted memory goes.")] = 180.0,
) -> Answer:
    """Find memories that mislead or that nobody needs, and with --apply archive them; `restore` undoes it."""
    return Answer(session.bank.upkeep.prune(dry_run=not apply, unused_days=unused_days), _pruned)


# -- how it looks in a terminal ---------------------------------------------------------------------------------------


def _pruned(console: Console, found: Pruned) -> None:
    if not found.changes:
        sentence(console, "Nothing is to be pruned.", "green")
    for change in found.changes:
        sentence(console, told(change))


def _maintained(console: Console, done: Maintained) -> None:
    rolled, expired = f"{len(done.rolled_up)} segments", f"{done.expired} old episodes"
    over = f"{done.expired_memories} memories whose time is over"
    trimmed = f"{done.forgotten_changes:,} rows of the change feed, {done.forgotten_trajectories:,} kept runs"
    if done.dry_run:
        sentence(console, f"Would roll up {rolled}, close {expired}, archive {over}, trim {trimmed}.")
    else:
        sentence(console, f"Rolled up {rolled}, closed {expired}, archived {over}, trimmed {trimmed}.")
    for change in done.changes:
        sentence(console, f"could be done: {told(change)}" if done.dry_run else told(change))
    asked(console, done.proposed)
    skipped(console, done.skipped)
    for link in done.suggested:
        sentence(console, f"suggested: {link.source} {link.type} {link.target} ({link.evidence})")


BAR = 30


def _metrics(console: Console, found: Metrics) -> None:
    """Print how well a bank does: success, criteria, how true confidences were, rates, yields, weights over time."""
    sentence(console, f"{found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}, {found.confidence_model} model", "dim")
    _numbers(console, "Success", found.success)
    for measure in found.criteria:
        console.print(_criterion(measure))
    _diagram(console, "Confidences against votes", found.votes)
    _diagram(console, "Predicted success against how runs ended", found.runs)
    _numbers(console, "Hit rates", found.hit_rates)
    _numbers(console, "Yields", found.yields)
    if found.weights:
        last = found.weights[-1]
        _numbers(console, f"Weights since {last.at:%Y-%m-%d %H:%M} (change {len(found.weights)})", last.weights)


def _criterion(measure: Measure) -> Text:
    mark, style = {None: ("?", "dim"), True: ("✓", "green"), False: ("✗", "red")}[measure.met]
    value = "–" if measure.value is None else f"{measure.value:.3g}"
    few = "" if measure.enough else f", too few: needs {measure.needed}"
    return Text.assemble(
        (f"{mark} {measure.name} ", style),
        f"{value} (goal {measure.goal}; {measure.sample:,} seen{few})  ",
        (measure.what, "dim"),
    )


def _diagram(console: Console, title: str, found: Calibration) -> None:
    if not found.count:
        sentence(console, f"{title}: nothing to compare yet.", "dim")
        return
    sentence(console, f"{title}: {found.count:,}, ECE {found.ece:.3f}, Brier {found.brier:.3f}")
    for bar in found.bins:
        if bar.count:
            console.print(_bar(bar))


def _bar(bar: Bin) -> Text:
    helped = bar.helped or 0.0
    filled = round(helped * BAR)
    told = f"  {bar.low:.1f}–{bar.high:.1f}  said {bar.confidence:.2f}, was {helped:.2f} "
    return Text.assemble(told, ("█" * filled, "cyan"), ("░" * (BAR - filled), "dim"), f" {bar.count:,}")


def _numbers(console: Console, title: str, numbers: Mapping[str, float | None]) -> None:
    table = Table.grid(padding=(0, 2))
    for name, value in numbers.items():
        table.add_row(f"  {name.replace('_', ' ')}", "–" if value is None else f"{value:,.3g}")
    sentence(console, f"{title}:")
    console.print(table)


# -- what is shown ------------------------------------------------------------------------------------------------


def _show_status(console: Console, found: Status, scope: Mapping[str, Chosen]) -> None:
    """Print where a bank is and what is in it; of each value of the scope, where it came from."""

    def of(name: str, value: str) -> Text:
        origin = scope[name].origin if name in scope else "default"
        return Text.assemble(value, (f"  ({origin})", "dim"))

    shown = {
        "folder": found.folder,
        "root": of("root", found.root),
        "tenant": of("tenant", found.tenant),
        "project": of("project", found.project),
        "embedder": of("embedder", found.embedder),
        "stored with": found.stored_embedder,
        "confidence": found.confidence_model,
        "settings": ", ".join(f"{name}={value}" for name, value in found.settings.items()),
        "learned": _learned(found.parameters),
        "memories": counts(found.memories) or "none",
        "expired": found.expired or "",
        "vectors, signals": f"{found.vectors:,}, {found.signals:,}",
        "links": found.links,
        "nodes": counts(found.nodes),
        "edges": found.edges,
        "kept runs": found.kept_runs,
        "open episodes": str(found.open_episodes),
        "late recalls": str(found.late_recalls),
        "jobs": counts(found.jobs),
        "unreadable lines": str(found.unreadable_lines),
        "orphan lines": found.orphan_lines,
        "log segments": found.log_segments,
    }
    table_of(console, shown)
    if not found.exists:
        sentence(console, "Nothing was recorded yet; the folder is made by the first record or recall.", "dim")
    for problem in found.problems:
        sentence(console, f"Problem: {problem}", "yellow")


def _learned(parameters: Mapping[str, Any] | None) -> str:
    if parameters is None:
        return "nothing yet"
    return (
        f"{parameters['accuracy']:.0%} of votes are right; runs succeed {parameters['helped']:.0%} of the time when "
        f"a memory helped, {parameters['unhelped']:.0%} when none did"
    )


def _show_repairs(console: Console, found: Sequence[Repair]) -> None:
    """Print what was found and what was done about it."""
    if not found:
        sentence(console, "All is as it should be.", "green")
    for repair in found:
        state = "done" if repair.done else "to do"
        sentence(console, f"{repair.what}: {repair.remedy} ({state})", "" if repair.done else "yellow")
