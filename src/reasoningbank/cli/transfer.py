"""Commands import and export."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank.bank import ReasoningBank
from reasoningbank.cli import views
from reasoningbank.cli.arguments import STANDARD_STREAM, IntoFile, NewestFirst, UsageError
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import line, sentence, shown
from reasoningbank.exchange import Imported
from reasoningbank.memory import State

app = typer.Typer()
Format = Literal["jsonl", "markdown", "agents-md", "skill", "ace"]


@command(app, "import", begins=True)
def import_file(
    session: Session,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File or folder; - reads JSON lines from standard input.")
    ],
    *,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="As good as your own: take over sources, times and evidence of an export.")
    ] = False,
    by: Annotated[str | None, typer.Option("--by", help="The source to name; the file's name when not given.")] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="With --trusted: take the runs of an export too, with their steps.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing; show what would be made.")] = False,
) -> Answer:
    """Store the lessons of a file or folder.

    JSON lines: {"content" or "text", and optionally "title", "description", "applies_when", "outcome", "tags", "id",
    "metadata"}. Also a JSON array; exports of mem0, ReMe, PyPI's reasoning-bank and the ReasoningBank paper's code;
    items of LangGraph stores; the official memory server's memory.jsonl; the .swarm/memory.db of agentic-flow and
    claude-flow; Markdown pages or a folder of them: LESSONS.md, AGENTS.md, .mdc rules, skills, ACE playbooks, each
    section or rule a lesson.

    Good lines are kept when others are bad (exit code 1); importing the same again changes nothing.
    """
    source = sys.stdin.buffer if file == STANDARD_STREAM else str(file)
    with session.progress("Importing") as progress:
        imported = session.bank.exchange.import_from(
            source, trusted=trusted, by=by, runs=runs, dry_run=dry_run, progress=progress
        )
    return Answer(imported, _imported, exit_code=1 if imported.rejected else 0)


def _imported(console: Console, result: Imported) -> None:
    """Print what became of the lines of an import."""
    _recognised(console, result)
    parts = [f"{result.created:,} new", f"{result.existing:,} there already", f"{len(result.rejected):,} bad"]
    sentence(console, f"Imported: {', '.join(parts)}.", "bold")
    if result.runs:
        sentence(console, f"Imported runs: {result.runs:,}.")
    if result.runs_left_out:
        sentence(console, f"{result.runs_left_out:,} runs were left out: --trusted --runs takes them", "yellow")
    if result.quarantined:
        sentence(console, f"{result.quarantined:,} are quarantined and not served: list --state quarantined", "yellow")
    if result.trusted:
        sentence(console, f"{result.trusted:,} of those that were there are trusted now.")
    if result.not_embedded:
        sentence(console, f"{result.not_embedded:,} could not be embedded: run reembed", "yellow")
    views.removed_secrets(console, result.redactions)
    for lines in (result.differing, result.possible_duplicates, result.joined, result.held):
        views.rejected_lines(console, lines, "yellow")
    views.rejected_lines(console, result.rejected, "red")
    if result.untrusted:
        untrusted(console, result)


def untrusted(console: Console, result: Imported) -> None:
    """Print what it means that lessons came untrusted, and what lifts it."""
    remedy = f"reasoningbank trust {shlex.quote(result.source)}" if result.source else "import --trusted"
    sentence(
        console,
        f"{result.untrusted:,} are untrusted: of all that came so from one source, a result shows one. "
        f"If they are as good as your own: {remedy}",
        "yellow",
    )


def _recognised(console: Console, result: Imported) -> None:
    """Print what the lines look like, and with a dry run what they would become."""
    if result.forms:
        sentence(console, f"This looks like {' and '.join(result.forms)}.")
    for draft in result.planned:
        line(console, Text.assemble(views.MARKS[draft.outcome], " ", (shown(draft.title), "bold")))
        sentence(console, f"  {draft.content.splitlines()[0]}", "dim")
    if result.planned:
        sentence(console, f"Nothing was stored: {len(result.planned):,} lessons would be made.", "bold")
    if result.left_out:
        sentence(console, f"{result.left_out:,} left out: indexes and relations are no lessons.", "dim")


@command(app, "export", filtered=True)
def export(
    session: Session,
    filters: dict[str, Any],
    file: IntoFile = STANDARD_STREAM,
    *,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="jsonl: a memory a line; markdown: a new folder with a page for each; agents-md, skill, ace: the "
            "proven lessons as a page for agents, whose other parts stay.",
        ),
    ] = "jsonl",
    runs: Annotated[
        bool,
        typer.Option("--runs", help="Also every run, with the steps that are kept; off, for they are transcripts."),
    ] = False,
    state: Annotated[State, typer.Option("--state", help="In this state only.")] = State.ACTIVE,
    every_state: Annotated[bool, typer.Option("--all", help="Whatever the state.")] = False,
    expired: Annotated[bool, typer.Option("--expired", help="Also what has expired.")] = False,
    newest_first: NewestFirst = False,
    history: Annotated[
        bool, typer.Option("--history", help="jsonl, markdown: also what they said before they were changed.")
    ] = False,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="agents-md, skill, ace: all active lessons, not only proven ones.")
    ] = False,
) -> Answer:
    """Write the memories in service with their evidence.

    With --all --expired --history everything goes along, and `import --trusted` makes the same bank of it again.
    Runs go along with --runs only, and are read back with `import --trusted --runs`.
    """
    served: dict[str, Any] = {"state": None if every_state else state, "expired": None if expired else False}
    options = {**served, "runs": runs, "newest_first": newest_first, "history": history}
    if file != STANDARD_STREAM:
        return _into(session, file, form, filters, options | {"unproven": unproven})
    if session.as_json or form != "jsonl":
        raise UsageError("export to standard output is JSON lines and nothing else: name a FILE")
    written = session.bank.exchange.export_to(session.stdout, **options, **filters)
    return Answer({"exported": written})


def _into(session: Session, file: Path, form: Format, filters: dict[str, Any], options: dict[str, Any]) -> Answer:
    bank = session.bank
    with session.progress("Exporting") as progress:
        total = bank.count(state=options["state"], expired=options["expired"], **filters)
        written = bank.exchange.export_to(
            file, format=form, progress=lambda done: progress(done, total), **options, **filters
        )
        withheld = _withheld(bank, filters, options["state"], options["expired"])
    value = {"exported": written, "file": file.absolute(), "withheld": withheld}
    what = f"{written:,} memories{' and the runs' if options['runs'] else ''}"
    left = ", ".join(f"{count:,} {why}" for why, count in withheld.items())
    left = f" Stayed behind: {left}; --all --expired takes them along." if left else ""
    return Answer(value, f"Wrote {what} to {file}.{left}")


def _withheld(
    bank: ReasoningBank, filters: dict[str, Any], wanted: State | None, expired: bool | None
) -> dict[str, int]:
    """Count what the filters choose and an export leaves behind, by its state, and what else has expired."""
    others = [state for state in State if wanted not in (None, state)]
    counts = {state.value: bank.count(state=state, expired=None, **filters) for state in others}
    if expired is False:
        counts["expired"] = bank.count(state=wanted, expired=True, **filters)
    return {why: count for why, count in counts.items() if count}
