"""Commands of trust: approve, archive and restore memories; block, unblock and forget sources."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from reasoningbank import Blocked
from reasoningbank.cli import views
from reasoningbank.cli.arguments import MemoryId, UsageError, Yes
from reasoningbank.cli.session import Answer, Session, command

app = typer.Typer(rich_help_panel="Trust")

SourceName = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The `by` of memories and judges, or the session they came from.")
]


@command(app, "approve")
def approve(session: Session, memory_id: MemoryId) -> Answer:
    """Serve a quarantined memory from now on; `list --state quarantined` shows them."""
    memory = session.bank.upkeep.approve(memory_id)
    return Answer(memory, f"Approved: {memory.title}")


@command(app, "archive")
def archive(session: Session, memory_id: MemoryId) -> Answer:
    """Take a memory out of service; `restore` undoes it."""
    memory = session.bank.upkeep.archive(memory_id)
    return Answer(memory, f"Archived: {memory.title}")


@command(app, "restore")
def restore(session: Session, memory_id: MemoryId) -> Answer:
    """Put an archived memory back into the state it was in."""
    memory = session.bank.upkeep.restore(memory_id)
    return Answer(memory, f"Restored: {memory.title} ({memory.state})")


@command(app, "block")
def block(session: Session, source: SourceName) -> Answer:
    """Archive everything from a source, and let its signals count for nothing; `unblock` undoes it."""
    return _told(session.bank.sources.block(source), "Archived")


@command(app, "unblock")
def unblock(session: Session, source: SourceName) -> Answer:
    """Undo `block`."""
    return _told(session.bank.sources.unblock(source), "Restored")


@command(app, "blocked")
def blocked(session: Session) -> Answer:
    """List the sources that are blocked."""
    names = session.bank.sources.list()

    def view(console: Console, _: object) -> None:
        for name in names or ["No source is blocked."]:
            views.sentence(console, name)

    return Answer({"blocked": names}, view)


@command(app, "forget")
def forget(session: Session, source: SourceName, *, yes: Yes = False) -> Answer:
    """Block a source, and delete for good every memory that came from it. Asks first."""
    if not yes:
        if session.as_json:
            raise UsageError("forget --json does not ask: confirm with --yes")
        typer.confirm(f"Delete every memory that came from {source!r}, for good?", abort=True, err=True)
    return _told(session.bank.sources.forget(source), "Deleted")


def _told(done: Blocked, verb: str) -> Answer:
    text = f"{verb} {len(done.memories)} memories of {done.source}; its signals are about {done.judged}."
    return Answer(done, text)
