"""The program: its commands, in the order of its help."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoningbank import __version__
from reasoningbank.cli import distilling, graph, learning, memories, serving, transfer, trust, upkeep

app = typer.Typer(
    name="reasoningbank",
    help="An experience memory for AI agents: lessons from what worked, guard-rails from what failed.\n\n"
    "Every command works on one project of one tenant: name them with --tenant and --project, or set "
    "REASONINGBANK_TENANT and REASONINGBANK_PROJECT.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reasoningbank {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


for part in (memories, learning, distilling, trust, transfer, upkeep, serving):
    app.registered_commands += part.app.registered_commands
app.add_typer(graph.app, rich_help_panel="Memories")
