"""Commands of trust: approve, archive, restore, forget, remember."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank import Forgotten
from reasoningbank.cli import views
from reasoningbank.cli.arguments import MemoryId
from reasoningbank.cli.session import Answer, Session, command

PANEL = "Trust"

SourceName = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The `by` of memories and judges, or the session they came from.")
]


def approve(session: Session, memory_id: MemoryId) -> Answer:
    """Serve a quarantined memory from now on; `list --state quarantined` shows them."""
    memory = session.bank.approve(memory_id)
    return Answer(memory, lambda console: views.sentence(console, f"Approved: {memory.title}"))


def archive(session: Session, memory_id: MemoryId) -> Answer:
    """Take a memory out of service; `restore` undoes it."""
    memory = session.bank.archive(memory_id)
    return Answer(memory, lambda console: views.sentence(console, f"Archived: {memory.title}"))


def restore(session: Session, memory_id: MemoryId) -> Answer:
    """Put an archived memory back into the state it was in."""
    memory = session.bank.restore(memory_id)
    return Answer(memory, lambda console: views.sentence(console, f"Restored: {memory.title} ({memory.state})"))


def forget(session: Session, source: SourceName) -> Answer:
    """Archive everything from a source, and let its signals count for nothing; `remember` undoes it."""
    return _told(session.bank.forget(source), "Archived")


def remember(session: Session, source: SourceName) -> Answer:
    """Undo `forget`."""
    return _told(session.bank.remember(source), "Restored")


def _told(done: Forgotten, verb: str) -> Answer:
    text = f"{verb} {len(done.memories)} memories of {done.source}; its signals are about {done.judged}."
    return Answer(done, lambda console: views.sentence(console, text))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for name, function in (
        ("approve", approve),
        ("archive", archive),
        ("restore", restore),
        ("forget", forget),
        ("remember", remember),
    ):
        command(app, name, panel=PANEL)(function)
