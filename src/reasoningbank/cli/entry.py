"""The program: its commands, in the order of its help; and from the process's arguments to its exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, NoReturn, cast

import typer

from reasoningbank import __version__
from reasoningbank.cli import (
    bus,
    connecting,
    correcting,
    distilling,
    editing,
    graph,
    hooks,
    learning,
    memories,
    merging,
    promoting,
    running,
    scoping,
    server,
    serving,
    shared,
    streams,
    transfer,
    trusting,
    upkeep,
)
from reasoningbank.cli.arguments import UsageError
from reasoningbank.cli.help import Group
from reasoningbank.errors import ReasoningBankError

app = typer.Typer(
    name="reasoningbank",
    cls=Group,
    help="An experience memory for AI agents: lessons from what worked, guard-rails from what failed.\n\n"
    "Every command works on one project of one tenant. `reasoningbank init` writes down for a folder which; else name "
    "them with --tenant and --project, or set REASONINGBANK_TENANT and REASONINGBANK_PROJECT.",
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


PARTS = (
    ("Memories", memories.app),
    ("Memories", correcting.app),
    ("Memories", editing.app),
    ("Learning", learning.app),
    ("Runs", running.app),
    ("Runs", distilling.app),
    ("Trust", trusting.app),
    ("Trust", promoting.app),
    ("In and out", transfer.app),
    ("The bank", scoping.app),
    ("The bank", upkeep.app),
    ("The bank", merging.app),
    ("The bank", server.moving),
    ("Servers", serving.app),
)
for panel, part in PARTS:
    for registered in part.registered_commands:
        registered.rich_help_panel = panel
    app.registered_commands += part.registered_commands
app.add_typer(graph.app, rich_help_panel="Memories")
app.add_typer(shared.app, rich_help_panel="Trust")
app.add_typer(connecting.app, rich_help_panel="Servers")
app.add_typer(bus.app, rich_help_panel="Servers")
app.add_typer(hooks.app, rich_help_panel="Servers")
app.add_typer(server.app, rich_help_panel="Servers")


@cache
def program() -> Any:
    """Return the program as the parser sees it: a group of commands, made once, for that takes longer than most do."""
    return typer.main.get_command(app)


INTERRUPTED = 130

# Whatever the parser refuses. Its class lives in click or, in newer versions, in Typer's own copy of it.
REFUSED = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def main() -> NoReturn:
    """Run the command line with the process's arguments."""
    streams.use_utf8()
    sys.exit(run([streams.repaired(argument) for argument in sys.argv[1:]]))


def run(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit code: 0 done, 1 an error, 2 wrong usage, 130 interrupted.

    Errors are one sentence on standard error; with --json also one object on standard output.
    """
    try:
        code = program()(args=list(arguments), prog_name="reasoningbank", standalone_mode=False)
    except UsageError as problem:
        return _failed(arguments, problem, str(problem), code=2)
    except REFUSED as error:
        return _failed(arguments, error, _sentence(error), code=error.exit_code)
    except (ReasoningBankError, OSError) as error:
        return _failed(arguments, error, str(error), code=1)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("\nInterrupted. What was stored until now is whole.\n")
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _sentence(error: typer.BadParameter) -> str:
    context = getattr(error, "ctx", None)
    where = f"{context.command_path} --help" if context else "reasoningbank --help"
    # What Typer's own reader of choices puts before its sentence.
    return f"{error.format_message().replace('Value error, ', '')} (see {where})"


def _failed(arguments: Sequence[str], error: Exception, message: str, *, code: int) -> int:
    sys.stderr.write(f"Error: {message}\n")
    if "--json" in arguments:
        with streams.forgiving_a_closed_pipe():
            sys.stdout.write(streams.json_line({"error": {"type": type(error).__name__, "message": message}}) + "\n")
    return code
