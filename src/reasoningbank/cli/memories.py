"""Commands about memories, their links, and what is trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import ReasoningBank, State
from reasoningbank.cli import correcting, graph, views
from reasoningbank.cli.arguments import By, MemoryId, NewestFirst, Outcome, UsageError, pairs, text_of
from reasoningbank.cli.correcting import Reason
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.streams import json_form
from reasoningbank.cli.terminal import line, sentence, shown
from reasoningbank.graph import Node
from reasoningbank.links import Link, Linked, SuggestedLink
from reasoningbank.runs import MemoryRuns

app = typer.Typer()

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


Signatures = Annotated[
    list[str] | None,
    typer.Option("--signature", help="An error it answers; may be repeated. Those that its text names if not given."),
]
MinBelief = Annotated[
    float | None, typer.Option("--min-confidence", min=0, max=1, help="Only what is believed so much, or more.")
]
MaxBelief = Annotated[
    float | None, typer.Option("--max-confidence", min=0, max=1, help="Only what is believed so much, or less.")
]
OccurredAt = Annotated[
    str | None, typer.Option("--occurred", metavar="TIME", help="When what it tells of happened, such as 2026-01-15.")
]
ExpiresAt = Annotated[
    str | None, typer.Option("--expires", metavar="TIME", help="From then on it is not served; `never` with update.")
]
Ttl = Annotated[str | None, typer.Option("--ttl", metavar="SPAN", help="Or for how long it is served: 12h, 7d.")]


@command(app, "record", begins=True)
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
    ] = "success",
    description: Description = None,
    applies_when: AppliesWhen = None,
    tag: Tags = None,
    confidence: Confidence = None,
    meta: Metadata = None,
    signature: Signatures = None,
    occurred: OccurredAt = None,
    expires: ExpiresAt = None,
    ttl: Ttl = None,
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
        signatures=signature,
        source={"by": by},
        occurred_at=occurred,
        expires_at=expires,
        ttl=ttl,
    )
    return Answer(recorded, views.recorded)


def _given(name: str, argument: str | None, option: str | None) -> str:
    given = [value for value in (argument, option) if value is not None]
    if len(given) != 1:
        what = "was given twice" if given else "is missing"
        raise UsageError(f"the {name} {what}: reasoningbank record TITLE CONTENT, or --title and --content")
    return given[0]


@command(app, "show")
def show(
    session: Session,
    memory_id: MemoryId,
    *,
    history: Annotated[bool, typer.Option("--history", help="Also what it said before, and what was changed.")] = False,
) -> Answer:
    """Show one memory, whatever its state, with its links, its runs and the nodes of the graph that point to it."""
    bank, memory_id = session.bank, session.id_of(memory_id)
    memory, links, runs, pointing = bank.get(memory_id), list[Link](), MemoryRuns(), list[Node]()
    # Of a shared lesson the runs and links are its bank's own.
    if memory.project == bank.project:
        links, runs, pointing = bank.links.of(memory_id), bank.runs.of(memory_id), bank.graph.nodes_of(memory_id)
    titles = titles_of(bank, links)
    pinned = [pin.tag for pin in bank.upkeep.pins() if pin.memory.id == memory_id]
    value = {**json_form(memory), "pinned": pinned, "links": links, "runs": runs, "nodes": pointing}
    revisions = bank.revisions(memory_id) if history else []
    if history:
        value["revisions"] = revisions

    def view(console: Console, _: object) -> None:
        views.memory(console, memory, pinned)
        if links:
            shown_links(console, links, titles)
        views.runs(console, runs)
        if pointing:
            graph.print_nodes(console, pointing)
        if history:
            correcting.history(console, revisions, memory)

    return Answer(value, view)


@command(app, "list", filtered=True)
def list_memories(
    session: Session,
    filters: dict[str, Any],
    *,
    state: Annotated[State | None, typer.Option("--state", help="In this state only.")] = State.ACTIVE,
    every_state: Annotated[bool, typer.Option("--all", help="Whatever the state.")] = False,
    text: Annotated[str | None, typer.Option("--text", help="Only memories in which this text occurs.")] = None,
    expired: Annotated[
        bool | None, typer.Option("--expired/--with-expired", help="Only what has expired, or that too.")
    ] = None,
    newest_first: NewestFirst = False,
    standing: Annotated[
        Literal["proven", "provisional", "rejected"] | None,
        typer.Option("--standing", help="Only what stands so, by what is believed now."),
    ] = None,
    sort: Annotated[
        Literal["most_believed", "least_believed", "most_used", "least_used"] | None,
        typer.Option("--sort", help="In this order, in place of that of recording."),
    ] = None,
    used: Annotated[
        bool | None, typer.Option("--used/--never-used", help="Only what was handed out, or what never was.")
    ] = None,
    min_confidence: MinBelief = None,
    max_confidence: MaxBelief = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after the page before: its `next`.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 100,
) -> Answer:
    """List memories, in the order they were recorded."""
    page = session.bank.list(
        state=None if every_state else state,
        text=text,
        expired=_expired(expired),
        newest_first=newest_first,
        standing=standing,
        used=used,
        min_confidence=min_confidence,
        max_confidence=max_confidence,
        sort=sort,
        after=after,
        limit=limit,
        **filters,
    )
    pinned = {pin.memory.id for pin in session.bank.upkeep.pins()}
    return Answer(page, lambda console, _: views.page(console, page, pinned))


def _expired(given: bool | None) -> bool | None:
    """Read a switch of three: nothing said leaves out what has expired."""
    return {None: False, True: True, False: None}[given]


@command(app, "update")
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
    signature: Signatures = None,
    occurred: OccurredAt = None,
    expires: ExpiresAt = None,
    ttl: Ttl = None,
    reason: Reason = None,
    by: By = None,
) -> Answer:
    """Change some fields of a memory. Changing what it says starts its evidence anew; `show --history` has the old."""
    changes: dict[str, Any] = {
        "title": title,
        "content": None if content is None else text_of([content]),
        "outcome": outcome,
        "description": description,
        "applies_when": applies_when,
        "tags": tag,
        "confidence": confidence,
        "metadata": pairs(meta) if meta else None,
        "signatures": signature,
        "occurred_at": occurred,
        "expires_at": expires,
        "ttl": ttl,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    if expires == "never":
        given["expires_at"] = None
    if not given:
        raise UsageError("nothing to change: name a field, for instance --title TEXT")
    return Answer(session.bank.update(session.id_of(memory_id), reason=reason, by=by, **given), views.memory)


@command(app, "delete")
def delete(
    session: Session,
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, as list shows them.")],
    *,
    no_mark: Annotated[
        bool, typer.Option("--no-mark", help="Keep no hash by which the lesson is known when it comes again.")
    ] = False,
) -> Answer:
    """Delete memories for good, with their history and evidence. Exit code 1 when one was not there."""
    deleted = session.bank.upkeep.delete_many(map(session.id_of, memory_ids), mark=not no_mark)
    code = 0 if all(deleted.values()) else 1
    links = session.bank.sharing.links() if session.bank.shared else ()
    kept = [link for link in links if deleted.get(link.origin)]

    def view(console: Console, _: object) -> None:
        views.deleted(console, deleted)
        for link in kept:
            sentence(console, f"The shared copy stays: {link.memory} in {link.bank}; `demote` takes it out.")

    return Answer({"deleted": deleted} | ({"shared": kept} if kept else {}), view, exit_code=code)


Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The id of the memory that the link starts from.")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="The id of the memory that it leads to.")]


@command(app, "link")
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
    ends = session.id_of(source), session.id_of(target)
    return Answer(session.bank.links.add(*ends, type_, strength=strength, evidence=evidence, by=by), _linked)


def _linked(console: Console, done: Linked) -> None:
    _line(console, done.link, "Linked: " if done.created else "Changed: ")
    if done.warning:
        sentence(console, f"Note: {done.warning}.", "yellow")


def _line(console: Console, found: Link | SuggestedLink, before: str = "") -> None:
    text = f"{before}{found.source} {found.type} {found.target}  {found.strength:.2f}"
    line(console, Text(shown(text)))


@command(app, "unlink")
def unlink(
    session: Session,
    source: Source,
    target: Target,
    *,
    type_: Annotated[str | None, typer.Option("--type", help="Only links of this type.")] = None,
) -> Answer:
    """Remove the links from one memory to another. Exit code 1 when there was none."""
    removed = session.bank.links.remove(session.id_of(source), session.id_of(target), type_)
    said = f"Removed {removed} links." if removed else "There was no such link."
    return Answer({"removed": removed}, said, exit_code=0 if removed else 1)


@command(app, "links")
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
    found = session.bank.links.suggest(limit) if memory_id is None else session.bank.links.of(session.id_of(memory_id))
    titles = titles_of(session.bank, found)
    return Answer({"links": found}, lambda console, _: shown_links(console, found, titles))


def titles_of(bank: ReasoningBank, found: Sequence[Link | SuggestedLink]) -> dict[str, str]:
    """Return the titles of the memories at the ends of links, by id."""
    return {memory_id: bank.get(memory_id).title for each in found for memory_id in (each.source, each.target)}


def shown_links(console: Console, found: Sequence[Link | SuggestedLink], titles: Mapping[str, str]) -> None:
    """Print links in titles too, and why each is there."""
    if not found:
        sentence(console, "No links.")
    for each in found:
        _line(console, each)
        sentence(console, f"    {titles[each.source]!r} {each.type} {titles[each.target]!r}")
        if each.evidence:
            sentence(console, f"    {each.evidence}", "dim")
