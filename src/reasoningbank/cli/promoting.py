"""Commands about lessons that others are to have, too."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank.cli import shared
from reasoningbank.cli.arguments import MemoryId
from reasoningbank.cli.correcting import Reason
from reasoningbank.cli.session import Answer, Session, command

app = typer.Typer()

To = Annotated[str, typer.Option("--to", metavar="BANK", help="The shared bank.", show_default=False)]


def _wording(name: str) -> object:
    return typer.Option(f"--{name.replace('_', '-')}", help="Other words for it.", show_default=False)


@command(app, "promote")
def promote(
    session: Session,
    memory_id: MemoryId,
    *,
    to: To,
    title: Annotated[str | None, _wording("title")] = None,
    content: Annotated[str | None, _wording("content")] = None,
    description: Annotated[str | None, _wording("description")] = None,
    applies_when: Annotated[str | None, _wording("applies_when")] = None,
    name: shared.Names = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also what names something of this project.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", help="An OpenAI-compatible model, asked for words without that.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who promotes it.")] = None,
) -> Answer:
    """Copy a lesson into a shared bank; it waits for a review unless you may approve. Exit code 1 when it is stopped.

    What names only this project's paths, hosts, ids or people is stopped, with places.
    """
    from reasoningbank import OpenAIChat

    said = {"title": title, "content": content, "description": description, "applies_when": applies_when}
    done = session.looking_through(to).sharing.promote(
        session.id_of(memory_id),
        to=to,
        wording={field: text for field, text in said.items() if text is not None},
        names=name or (),
        anyway=anyway,
        chat=None if model is None else OpenAIChat(model),
        by=by,
    )
    return Answer(done, lambda console, _: shared.promoted(console, done), exit_code=1 if done.memory is None else 0)


@command(app, "demote")
def demote(
    session: Session,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The shared lesson.")],
    *,
    reason: Reason = None,
) -> Answer:
    """Take a shared lesson out of service, or keep one out that waits for a review."""
    memory = session.bank.sharing.demote(shared.id_of(session, memory_id), reason=reason)
    return Answer(memory, f"Out of service in {memory.project}: {memory.title}")


@command(app, "suggest-promotions")
def suggest_promotions(session: Session, *, to: To, name: shared.Names = None) -> Answer:
    """Say which lessons of this project are worth sharing: proven, and naming nothing that only it has."""
    found = session.looking_through(to).sharing.suggest_promotions(to, names=name or ())
    return Answer({"suggestions": found}, lambda console, _: shared.suggestions(console, found))
