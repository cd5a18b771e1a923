"""Commands of links: link, unlink, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import ReasoningBank
from reasoningbank.cli import views
from reasoningbank.cli.arguments import By
from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.links import Link, Linked, SuggestedLink

PANEL = "Memories"

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The id of the memory that the link starts from.")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="The id of the memory that it leads to.")]


def link(
    session: Session,
    source: Source,
    type_: Annotated[
        str,
        typer.Argument(
            metavar="TYPE",
            help="causes, requires, conflicts, enhances, alternative, duplicate_of, contradicts, refines, "
            "architectural_analogy; or a name of your own.",
        ),
    ],
    target: Target,
    *,
    strength: Annotated[float, typer.Option("--strength", help="Above 0, up to 1.")] = 1.0,
    evidence: Annotated[str, typer.Option("--evidence", help="Why, in words.", show_default=False)] = "",
    by: By = None,
) -> Answer:
    """Say how one memory relates to another: SOURCE requires TARGET. Set again, a link is changed."""
    done = session.bank.links.add(source, target, type_, strength=strength, evidence=evidence, by=by)
    return Answer(done, lambda console: _linked(console, done))


def _linked(console: Console, done: Linked) -> None:
    _line(console, done.link, "Linked: " if done.created else "Changed: ")
    if done.warning:
        views.sentence(console, f"Note: {done.warning}.", "yellow")


def _line(console: Console, found: Link | SuggestedLink, before: str = "") -> None:
    text = f"{before}{found.source} {found.type} {found.target}  {found.strength:.2f}"
    console.print(Text(views.shown(text)), soft_wrap=True)


def unlink(
    session: Session,
    source: Source,
    target: Target,
    *,
    type_: Annotated[str | None, typer.Option("--type", help="Only links of this type.")] = None,
) -> Answer:
    """Remove the links from one memory to another. Exit code 1 when there was none."""
    removed = session.bank.links.remove(source, target, type_)
    said = f"Removed {removed} links." if removed else "There was no such link."
    return Answer({"removed": removed}, lambda console: views.sentence(console, said), exit_code=0 if removed else 1)


def links(
    session: Session,
    memory_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The memory whose links to show.")] = None,
    *,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Show links that the evidence speaks for; none is set.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="How many suggestions at the most.")
    ] = 20,
) -> Answer:
    """Show the links of a memory, or with --suggest those that could be set."""
    if (memory_id is None) is not suggest:
        raise UsageError("links needs one of ID and --suggest: reasoningbank links ID, or links --suggest")
    found: Sequence[Link | SuggestedLink]
    found = session.bank.links.suggest(limit) if memory_id is None else session.bank.links.of(memory_id)
    titles = titles_of(session.bank, found)
    return Answer({"links": found}, lambda console: shown_links(console, found, titles))


def titles_of(bank: ReasoningBank, found: Sequence[Link | SuggestedLink]) -> dict[str, str]:
    """Return the titles of the memories at the ends of links, by id."""
    return {memory_id: bank.get(memory_id).title for each in found for memory_id in (each.source, each.target)}


def shown_links(console: Console, found: Sequence[Link | SuggestedLink], titles: Mapping[str, str]) -> None:
    """Print links in titles too, and why each is there."""
    if not found:
        views.sentence(console, "No links.")
    for each in found:
        _line(console, each)
        views.sentence(console, f"    {titles[each.source]!r} {each.type} {titles[each.target]!r}")
        if each.evidence:
            views.sentence(console, f"    {each.evidence}", "dim")


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for name, function in (("link", link), ("unlink", unlink), ("links", links)):
        command(app, name, panel=PANEL)(function)
