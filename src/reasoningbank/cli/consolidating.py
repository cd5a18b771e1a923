"""Commands that keep a bank good: consolidate, undo-merge, prune."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank.cli import upkeep_views, views
from reasoningbank.cli.arguments import MemoryId
from reasoningbank.cli.distilling import WithBaseUrl
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.upkeep import PANEL


def consolidate(
    session: Session,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Merge; without it, only say what would be merged.")] = False,
    threshold: Annotated[float, typer.Option(help="Cosine above which two memories are compared.")] = 0.75,
    max_clusters: Annotated[int | None, typer.Option(help="The most merges.", show_default="all")] = None,
    force: Annotated[bool, typer.Option("--force", help="Also less than a day after the last one.")] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", help="With --apply: a model at the endpoint that writes the merged lessons."),
    ] = None,
    base_url: WithBaseUrl = None,
) -> Answer:
    """Find memories that say the same, and with --apply merge them; `undo-merge` takes one apart again."""
    from reasoningbank import OpenAIChat

    chat = None if model is None else OpenAIChat(model, base_url=base_url)
    with session.waiting("Comparing"):
        found = session.bank.upkeep.consolidate(
            threshold=threshold, dry_run=not apply, max_clusters=max_clusters, chat=chat, force=force
        )
    return Answer(found, lambda console: upkeep_views.consolidated(console, found))


def undo_merge(session: Session, memory_id: MemoryId) -> Answer:
    """Take a merged memory apart: what it was merged from is served again, with its own evidence."""
    undone = session.bank.upkeep.undo_merge(memory_id)
    return Answer(
        undone, lambda console: views.sentence(console, f"Restored: {', '.join(undone.restored)}; archived the merge.")
    )


def prune(
    session: Session,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Archive; without it, only say what would be.")] = False,
    unused_days: Annotated[float, typer.Option(help="Days without use after which a doubted memory goes.")] = 180.0,
) -> Answer:
    """Find memories that mislead or that nobody needs, and with --apply archive them; `restore` undoes it."""
    found = session.bank.upkeep.prune(dry_run=not apply, unused_days=unused_days)
    return Answer(found, lambda console: upkeep_views.pruned(console, found))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    command(app, "consolidate", panel=PANEL)(consolidate)
    command(app, "undo-merge", panel=PANEL)(undo_merge)
    command(app, "prune", panel=PANEL)(prune)
