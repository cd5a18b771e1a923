"""Putting memories right on the command line: what they said before, and which took the place of which."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Draft, Memory
from reasoningbank.cli.arguments import By
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import line, sentence, shown, time
from reasoningbank.upkeep import Revision

app = typer.Typer()

Reason = Annotated[str | None, typer.Option("--reason", help="Why, in words.", show_default=False)]


@command(app, "supersede")
def supersede(
    session: Session,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The id of the memory that goes.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The id of the one that takes its place.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why, in words.")],
    by: By = None,
) -> Answer:
    """Let one memory take another's place: OLD goes out of service, and is linked. `restore OLD` undoes it."""
    done = session.bank.supersede(session.id_of(old), session.id_of(new), reason=reason, by=by)
    return Answer(done, f"Superseded: {done.old.title}. In its place: {done.new.title}")


def history(console: Console, revisions: Sequence[Revision], now: Memory) -> None:
    """Print what a memory said before, the newest first, and what each change changed."""
    if not revisions:
        sentence(console, "It was never changed.")
    after = _lines(now)
    for revision in reversed(revisions):
        why = "".join((f" by {revision.by}" if revision.by else "", f": {revision.reason}" if revision.reason else ""))
        sentence(console, f"Revision {revision.number}, changed {time(revision.replaced_at)}{why}", "bold")
        before = _lines(revision.said)
        for changed in difflib.unified_diff(before, after, "before", "after", n=1, lineterm=""):
            colour = {"+": "green", "-": "red"}.get(changed[:1], "dim")
            line(console, Text(shown(changed), colour))
        after = before


def _lines(said: Memory | Draft) -> list[str]:
    fields = said.as_json() if isinstance(said, Memory) else said.model_dump(mode="json")
    lines = []
    for name in ("title", "description", "applies_when", "outcome", "tags", "metadata", "content"):
        lines += [f"{name}: {line}" for line in str(fields[name]).splitlines() if fields[name]]
    return lines
