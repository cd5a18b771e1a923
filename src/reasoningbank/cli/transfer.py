"""Commands import and export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reasoningbank.cli import views
from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.session import Answer, Session, command

PANEL = "In and out"


def import_file(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines; - reads standard input.")],
    *,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="As good as your own: take over sources, times and evidence of an export.")
    ] = False,
    by: Annotated[str | None, typer.Option("--by", help="The source to name; the file's name when not given.")] = None,
) -> Answer:
    """Store the lessons of a file of JSON lines.

    A line is {"content" or "text", and optionally "title", "description", "applies_when", "outcome", "tags", "id",
    "metadata"}. Good lines are kept when others are bad (exit code 1); importing the same again changes nothing.
    """
    source = sys.stdin.buffer if str(file) == "-" else str(file)
    with session.progress("Importing") as progress:
        imported = session.bank.import_from(source, trusted=trusted, by=by, progress=progress)
    return Answer(imported, lambda console: views.imported(console, imported), exit_code=1 if imported.rejected else 0)


def export(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to; standard output when not given.")] = Path(
        "-"
    ),
) -> Answer:
    """Write every memory as one JSON line, evidence included. `import --trusted` makes the same bank of it again."""
    if str(file) == "-":
        if session.as_json:
            raise UsageError("export --json needs a FILE: the lines themselves would go where the answer goes")
        written = session.bank.export_to(session.stdout)
        return Answer({"exported": written}, lambda _console: None)
    with session.progress("Exporting") as progress:
        total = session.bank.count(state=None)
        written = session.bank.export_to(file, progress=lambda done: progress(done, total))
    value = {"exported": written, "file": file.absolute()}
    return Answer(value, lambda console: views.sentence(console, f"Wrote {written:,} memories to {file}."))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    command(app, "import", panel=PANEL)(import_file)
    command(app, "export", panel=PANEL)(export)
