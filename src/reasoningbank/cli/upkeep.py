"""Commands of upkeep: status, metrics, maintain, doctor, rebuild, reembed, backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasoningbank.cli import metrics_view, upkeep_views, views
from reasoningbank.cli.session import Answer, Session, command

PANEL = "The bank"


def status(session: Session) -> Answer:
    """Say where the bank is, what is in it, and what is not as it should be. Changes nothing."""
    found = session.bank.upkeep.status()
    return Answer(found, lambda console: views.status(console, found, session.scope))


def metrics(
    session: Session,
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=36_500, help="How far to look back.")] = 30,
) -> Answer:
    """Say how well the bank did: whether its confidences came true, what its lessons were worth. Changes nothing."""
    found = session.bank.upkeep.metrics(days)
    return Answer(found, lambda console: metrics_view.metrics(console, found))


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
        done = session.bank.upkeep.maintain(dry_run=dry_run)
    return Answer(done, lambda console: upkeep_views.maintained(console, done))


def doctor(
    session: Session,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> Answer:
    """Find what is not as it should be, and derive again what is derived. Records and signals are never touched."""
    with session.waiting("Looking through the bank"):
        repairs = session.bank.upkeep.doctor(dry_run=dry_run)
    return Answer({"repairs": repairs}, lambda console: views.repairs(console, repairs))


def rebuild(session: Session) -> Answer:
    """Derive the keyword indexes, the tallies and the vector indexes again, of memories and of the graph."""
    with session.waiting("Rebuilding"):
        session.bank.upkeep.rebuild()
    return Answer({"rebuilt": True}, lambda console: views.sentence(console, "Rebuilt what is derived."))


def reembed(session: Session) -> Answer:
    """Embed every memory and every node of the graph anew with --embedder, and use that from then on."""
    with session.progress("Embedding") as progress:
        count = session.bank.upkeep.reembed(progress=progress)
    return Answer(
        {"embedded": count, "embedder": session.embedder},
        lambda console: views.sentence(console, f"Embedded {count:,} memories with {session.embedder}."),
    )


def backup(session: Session, folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]) -> Answer:
    """Copy the project, as it is at one moment, into a new folder."""
    with session.waiting("Copying"):
        session.bank.upkeep.backup(folder)
    return Answer({"backup": folder.absolute()}, lambda console: views.sentence(console, f"Copied to {folder}."))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for name, function in (
        ("status", status),
        ("metrics", metrics),
        ("maintain", maintain),
        ("doctor", doctor),
        ("rebuild", rebuild),
        ("reembed", reembed),
        ("backup", backup),
    ):
        command(app, name, panel=PANEL)(function)
