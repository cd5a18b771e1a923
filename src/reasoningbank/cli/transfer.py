"""Commands import and export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from reasoningbank.cli import views
from reasoningbank.cli.arguments import STANDARD_STREAM, IntoFile, NewestFirst, UsageError
from reasoningbank.cli.session import Answer, Session, command

app = typer.Typer(rich_help_panel="In and out")
Format = Literal["jsonl", "markdown"]


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
) -> Answer:
    """Store the lessons of a file or folder.

    JSON lines: {"content" or "text", and optionally "title", "description", "applies_when", "outcome", "tags", "id",
    "metadata"}. Also a JSON array; exports of mem0, ReMe, PyPI's reasoning-bank and the ReasoningBank paper's code; the
    .swarm/memory.db of agentic-flow and claude-flow; a Markdown page with front matter, or a folder of them.

    Good lines are kept when others are bad (exit code 1); importing the same again changes nothing.
    """
    source = sys.stdin.buffer if file == STANDARD_STREAM else str(file)
    with session.progress("Importing") as progress:
        imported = session.bank.exchange.import_from(source, trusted=trusted, by=by, runs=runs, progress=progress)
    return Answer(imported, views.imported, exit_code=1 if imported.rejected else 0)


@command(app, "export", filtered=True)
def export(
    session: Session,
    filters: dict[str, Any],
    file: IntoFile = STANDARD_STREAM,
    *,
    form: Annotated[
        Format, typer.Option("--format", help="jsonl: a memory a line; markdown: a new folder with a page for each.")
    ] = "jsonl",
    runs: Annotated[
        bool,
        typer.Option("--runs", help="Also every run, with the steps that are kept; off, for they are transcripts."),
    ] = False,
    expired: Annotated[bool, typer.Option("--expired", help="Also what has expired.")] = False,
    newest_first: NewestFirst = False,
) -> Answer:
    """Write every memory with its evidence, whatever its state. `import --trusted` makes the same bank of it again.

    Runs go along with --runs only, and are read back with `import --trusted --runs`.
    """
    options = {**filters, "runs": runs, "expired": None if expired else False, "newest_first": newest_first}
    if file != STANDARD_STREAM:
        return _into(session, file, form, options)
    if session.as_json or form != "jsonl":
        raise UsageError("export to standard output is JSON lines and nothing else: name a FILE")
    written = session.bank.exchange.export_to(session.stdout, **options)
    return Answer({"exported": written})


def _into(session: Session, file: Path, form: Format, options: dict[str, Any]) -> Answer:
    bank, over = session.bank, 0
    with session.progress("Exporting") as progress:
        total = bank.count(state=None, expired=None)
        written = bank.exchange.export_to(file, format=form, progress=lambda done: progress(done, total), **options)
        if options["expired"] is False:
            over = bank.count(state=None, expired=True)
    value = {"exported": written, "file": file.absolute(), "withheld": {"expired": over} if over else {}}
    what = f"{written:,} memories{' and the runs' if options['runs'] else ''}"
    left = f" {over:,} that have expired stayed behind: --expired takes them along." if over else ""
    return Answer(value, f"Wrote {what} to {file}.{left}")
