"""Commands about memories: record, show, list, update, delete."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from reasoningbank import State
from reasoningbank.cli import graph_views, linking, run_views, views
from reasoningbank.cli.arguments import MemoryId, OfOutcome, Outcome, Where, WithTags, pairs, text_of
from reasoningbank.cli.json_form import json_form
from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.session import Answer, Session, command

PANEL = "Memories"

TitleOption = Annotated[str | None, typer.Option("--title", help="A few words.", show_default=False)]
ContentOption = Annotated[
    str | None, typer.Option("--content", help="What to do; - reads it from standard input.", show_default=False)
]
Description = Annotated[str | None, typer.Option("--description", help="One sentence on what it is about.")]
AppliesWhen = Annotated[str | None, typer.Option("--applies-when", help="When it applies, and when not.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
Confidence = Annotated[float | None, typer.Option("--confidence", min=0, max=1, help="The belief to start from.")]
Metadata = Annotated[
    list[str] | None, typer.Option("--meta", metavar="KEY=VALUE", help="Metadata; may be repeated. VALUE may be JSON.")
]


def record(
    session: Session,
    title: Annotated[str | None, typer.Argument(metavar="[TITLE]", help="A few words; or --title.")] = None,
    content: Annotated[
        str | None, typer.Argument(metavar="[CONTENT]", help="What to do; or --content. - reads standard input.")
    ] = None,
    *,
    title_option: TitleOption = None,
    content_option: ContentOption = None,
    outcome: Annotated[
        Outcome, typer.Option("--outcome", "-o", help="success: a strategy; failure: a guard-rail.")
    ] = Outcome.SUCCESS,
    description: Description = None,
    applies_when: AppliesWhen = None,
    tag: Tags = None,
    confidence: Confidence = None,
    meta: Metadata = None,
    by: Annotated[str | None, typer.Option("--by", help="Who says so.")] = None,
) -> Answer:
    """Store a lesson. One that is there already is not stored twice."""
    recorded = session.bank.record(
        _given("title", title, title_option),
        text_of([_given("content", content, content_option)]),
        outcome=outcome,
        description=description or "",
        applies_when=applies_when or "",
        tags=tag or (),
        confidence=confidence,
        metadata=pairs(meta),
        source={"by": by},
    )
    return Answer(recorded, lambda console: views.recorded(console, recorded))


def _given(name: str, argument: str | None, option: str | None) -> str:
    given = [value for value in (argument, option) if value is not None]
    if len(given) != 1:
        what = "was given twice" if given else "is missing"
        raise UsageError(f"the {name} {what}: reasoningbank record TITLE CONTENT, or --title and --content")
    return given[0]


def show(session: Session, memory_id: MemoryId) -> Answer:
    """Show one memory, whatever its state, with its links, its runs and the nodes of the graph that point to it."""
    bank = session.bank
    memory, links, runs = bank.get(memory_id), bank.links.of(memory_id), bank.runs.of(memory_id)
    pointing, titles = bank.graph.nodes_of(memory_id), linking.titles_of(bank, links)
    value = {**json_form(memory), "links": links, "runs": runs, "nodes": pointing}

    def view(console: Console) -> None:
        views.memory(console, memory)
        if links:
            linking.shown_links(console, links, titles)
        run_views.runs(console, runs)
        if pointing:
            graph_views.nodes(console, pointing)

    return Answer(value, view)


def list_memories(
    session: Session,
    *,
    tag: WithTags = None,
    outcome: OfOutcome = None,
    state: Annotated[State | None, typer.Option("--state", help="In this state only.")] = State.ACTIVE,
    every_state: Annotated[bool, typer.Option("--all", help="Whatever the state.")] = False,
    text: Annotated[str | None, typer.Option("--text", help="Only memories in which this text occurs.")] = None,
    where: Where = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after the page before: its `next`.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 100,
) -> Answer:
    """List memories, in the order they were recorded."""
    page = session.bank.list(
        tags=tag,
        outcome=outcome,
        state=None if every_state else state,
        text=text,
        where=pairs(where),
        after=after,
        limit=limit,
    )
    return Answer(page, lambda console: views.page(console, page))


def update(
    session: Session,
    memory_id: MemoryId,
    *,
    title: TitleOption = None,
    content: ContentOption = None,
    outcome: Annotated[Outcome | None, typer.Option("--outcome", "-o", help="How the run ended.")] = None,
    description: Description = None,
    applies_when: AppliesWhen = None,
    tag: Tags = None,
    confidence: Confidence = None,
    meta: Metadata = None,
) -> Answer:
    """Change some fields of a memory. Changing what it says starts its evidence anew."""
    changes: dict[str, Any] = {
        "title": title,
        "content": None if content is None else text_of([content]),
        "outcome": outcome,
        "description": description,
        "applies_when": applies_when,
        "tags": tag,
        "confidence": confidence,
        "metadata": pairs(meta) if meta else None,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise UsageError("nothing to change: name a field, for instance --title TEXT")
    memory = session.bank.update(memory_id, **given)
    return Answer(memory, lambda console: views.memory(console, memory))


def delete(
    session: Session,
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, as list shows them.")],
) -> Answer:
    """Delete memories for good, with their evidence. Exit code 1 when one was not there."""
    deleted = session.bank.upkeep.delete_many(memory_ids)
    return Answer(
        {"deleted": deleted},
        lambda console: views.deleted(console, deleted),
        exit_code=0 if all(deleted.values()) else 1,
    )


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    command(app, "record", panel=PANEL)(record)
    command(app, "show", panel=PANEL)(show)
    command(app, "list", panel=PANEL)(list_memories)
    command(app, "update", panel=PANEL)(update)
    command(app, "delete", panel=PANEL)(delete)
