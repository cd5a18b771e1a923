"""Commands about the bank: status, metrics, upkeep, backup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank.cli.arguments import Every, EveryTenant, UsageError
from reasoningbank.cli.merging import asked, skipped, told
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.streams import json_form
from reasoningbank.cli.terminal import counts, facts, line, sentence
from reasoningbank.upkeep import (
    Bin,
    Calibration,
    Maintained,
    Measure,
    Metrics,
    Pruned,
    Repair,
    Round,
    Status,
)

app = typer.Typer()


@command(app, "status", begins=True)
def status(session: Session) -> Answer:
    """Say where the bank is, what is in it, and what is not as it should be. Changes nothing."""
    found = session.bank.upkeep.status()
    origins = {name: value.origin for name, value in session.scope.items()}
    if found.stored_embedder is not None:
        origins.setdefault("embedder", "as the project's vectors are")
    value = {**json_form(found), "scope": origins}
    return Answer(value, lambda console, _: _show_status(console, found, origins))


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
    every: Every = False,
    every_tenant: EveryTenant = False,
) -> Answer:
    """Do a round of upkeep; one a day is plenty.

    With --all, in each project that had none for a day: as often as you like, and from as many machines.

    Always: roll up old segments of the signal log, close episodes that stayed open for too long, trim the change feed
    and kept runs, and, at most once a day, suggest links (none is set; --set auto_suggest=false leaves it out).

    Off by default: merging duplicates at most once a day (--set auto_consolidate=true), and archiving what misleads or
    nobody needs (--set auto_prune=true), also what is more than --set max_memories=N. --dry-run proposes all of it,
    whatever the settings.
    """
    banks = session.fleet(every=every, every_tenant=every_tenant)
    if dry_run and banks is not None:
        raise UsageError("--dry-run is for one project: leave out --all and --every-tenant")
    with session.waiting("Keeping the bank good"):
        if banks is not None:
            rounds = banks.maintain()
            return Answer({"rounds": rounds}, _rounds, exit_code=int(any(one.problem for one in rounds)))
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
        count = session.bank.upkeep.reembed(session.embedder, progress=progress)
    embedder = session.embedder or session.bank.upkeep.status().embedder
    return Answer({"embedded": count, "embedder": embedder}, f"Embedded {count:,} memories with {embedder}.")


@command(app, "backup")
def backup(session: Session, folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]) -> Answer:
    """Copy the project, as it is at one moment, into a new folder."""
    with session.waiting("Copying"):
        session.bank.upkeep.backup(folder)
    return Answer({"backup": folder.absolute()}, f"Copied to {folder}.")


@command(app, "salvage")
def salvage(
    session: Session, folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]
) -> Answer:
    """Save what can be read of a damaged bank into a new folder; `restore FOLDER` puts it in the bank's place.

    Exit code 1 when some could not be read. Nothing in the bank changes.
    """
    with session.waiting("Saving"):
        saved = session.unchecked_bank.upkeep.salvage(folder)
    said = f"Saved {saved.memories:,} memories and {saved.episodes:,} runs to {folder}."
    torn = f" Some rows could not be read, of: {', '.join(saved.torn)}." if saved.torn else ""
    then = f"{said}{torn}\nNext: reasoningbank restore {folder}"
    return Answer(saved, then, exit_code=int(bool(saved.torn)))


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


def _rounds(console: Console, done: Mapping[str, Sequence[Round]]) -> None:
    if not done["rounds"]:
        sentence(console, "No round of upkeep was due.")
    for one in done["rounds"]:
        sentence(console, f"{one.tenant}, {one.project}:", "bold")
        if one.maintained is None:
            sentence(console, f"Problem: {one.problem}", "yellow")
        else:
            _maintained(console, one.maintained)


# Columns of a bar at the most, and of what stands beside it.
BAR, BESIDE = 30, 42


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
    value = _figure(measure.value)
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
            line(console, _bar(bar, min(BAR, max(console.width - BESIDE, 5))))


def _bar(bar: Bin, wide: int) -> Text:
    helped = bar.helped or 0.0
    filled = round(helped * wide)
    told = f"  {bar.low:.1f}–{bar.high:.1f}  said {bar.confidence:.2f}, was {helped:.2f} "
    return Text.assemble(told, ("█" * filled, "cyan"), ("░" * (wide - filled), "dim"), f" {bar.count:,}")


def _numbers(console: Console, title: str, numbers: Mapping[str, float | None]) -> None:
    sentence(console, f"{title}:")
    facts(console, {f"  {name.replace('_', ' ')}": _figure(value) for name, value in numbers.items()})


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.3g}"


# -- what is shown ------------------------------------------------------------------------------------------------


def _show_status(console: Console, found: Status, origins: Mapping[str, str]) -> None:
    """Print where a bank is and what is in it; of each value of the scope, where it came from."""

    def of(name: str, value: str) -> Text:
        return Text.assemble(value, (f"  ({origins.get(name, 'default')})", "dim"))

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
        "shared banks": ", ".join(f"{each.name} ({each.may or 'closed'})" for each in found.shared),
    }
    facts(console, shown)
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
