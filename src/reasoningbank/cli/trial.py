"""Command demo: an agent that fails, learns and passes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.cli.session import Answer, Session, command

TENANT = "demo"


def demo(
    session: Session,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="In the user's data folder, not in a temporary one.")] = False,
) -> Answer:
    """Watch an agent fail at real tasks, learn from it, and pass them in other words.

    It runs real commands in a temporary folder, and no model. The bank is in a temporary folder too, and stays there,
    unless --root or --keep say otherwise.
    """
    from reasoningbank.cli import demo_view
    from reasoningbank.demo import Event, Finished, run

    root = _root(session, keep=keep)
    # With --json, what happens on the way belongs on no screen at all.
    console = Console(quiet=True) if session.as_json else session.console()
    events: list[Event] = []
    with _banks(root, session.embedder) as (bank, empty):
        demo_view.opening(console, bank.status())
        for event in run(bank, empty):
            demo_view.show(console, event)
            session.stdout.flush()
            events.append(event)
    finished = next(event for event in events if isinstance(event, Finished))
    return Answer(demo_view.as_json(events, finished), lambda last: demo_view.closing(last, finished, bank))


def _root(session: Session, *, keep: bool) -> Path | None:
    if "root" in session.scope:
        return Path(session.scope["root"].value)
    return None if keep else Path(tempfile.mkdtemp(prefix="reasoningbank-demo-"))


@contextmanager
def _banks(root: Path | None, embedder: str) -> Iterator[tuple[ReasoningBank, ReasoningBank]]:
    """Give an empty bank that stays, and one that goes: that of the round without memory."""
    with BankRoot(root, tenant=TENANT, embedder=embedder) as banks:
        taken = set(banks.projects())
        names = ("demo", *(f"demo-{n}" for n in range(2, len(taken) + 3)))
        name = next(name for name in names if name not in taken)
        without = f"{name}, without memory"
        try:
            yield banks.open(name), banks.open(without)
        finally:
            if without in banks.projects():
                banks.delete_project(without)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    command(app, "demo", panel="Try it", scope=("root", "embedder"))(demo)
