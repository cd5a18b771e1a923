"""Commands that make one memory of several, and how proposed changes look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from reasoningbank.cli.arguments import MemoryId
from reasoningbank.cli.distilling import WithBaseUrl
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import sentence
from reasoningbank.upkeep import Change, Consolidated

app = typer.Typer()


@command(app, "consolidate")
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
    """Find memories that say the same, and with --apply merge those that do so beyond doubt.

    The others are proposed: `merge ID ID` carries one out, and `undo-merge` takes a merge apart again.
    """
    from reasoningbank import OpenAIChat

    chat = None if model is None else OpenAIChat(model, base_url=base_url)
    with session.waiting("Comparing"):
        found = session.bank.upkeep.consolidate(
            threshold=threshold, dry_run=not apply, max_clusters=max_clusters, chat=chat, force=force
        )
    return Answer(found, consolidated)


@command(app, "merge")
def merge(
    session: Session,
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID ID...", help="Ids, as list shows them.")],
) -> Answer:
    """Make one memory of several that say the same; the text of the first stands. `undo-merge` takes it apart again."""
    merged = session.bank.upkeep.merge([*map(session.id_of, memory_ids)])
    return Answer(merged, f"Merged into {merged.id}.")


@command(app, "undo-merge")
def undo_merge(session: Session, memory_id: MemoryId) -> Answer:
    """Take a merged memory apart: what it was merged from is served again, with its own evidence."""
    undone = session.bank.upkeep.undo_merge(session.id_of(memory_id))
    return Answer(undone, f"Restored: {', '.join(undone.restored)}; archived the merge.")


# -- how it looks in a terminal ----------------------------------------------------------------------------------------


def consolidated(console: Console, found: Consolidated) -> None:
    """Print what was merged, or could be."""
    if not found.due:
        sentence(console, "Nothing was done: the last consolidation was less than a day ago (--force does it anyway).")
    elif not found.changes and not found.proposed and not found.skipped:
        sentence(console, "No two memories say the same.", "green")
    for change in found.changes:
        sentence(console, told(change))
    asked(console, found.proposed)
    skipped(console, found.skipped)


def asked(console: Console, changes: Sequence[Change]) -> None:
    """Print the merges that wait for somebody to agree, each with the command that carries it out."""
    for change in changes:
        sentence(console, f"The same? {told(change)}; if so: reasoningbank merge {' '.join(change.memories)}")


def skipped(console: Console, changes: Sequence[Change]) -> None:
    """Print the merges that were not carried out, each with why."""
    for change in changes:
        sentence(console, f"Not merged: {', '.join(change.memories)}: {change.reason}", "yellow")


def told(change: Change) -> str:
    """Return a change in one line."""
    became = f" -> {change.result}" if change.result else ""
    near = "" if change.similarity is None else f" (cosine {change.similarity:.2f})"
    verb = change.link or change.kind
    return f"{verb}: {', '.join(change.memories)}{became}: {change.reason}{near}"
