"""Help: short at the top, grouped, with an example for each command; the names that people try, understood."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from reasoningbank.cli.examples import EXAMPLES

# The names under which other tools have these commands.
ALIASES: Final = {
    "add": "record",
    "remember": "record",
    "save": "record",
    "get": "show",
    "view": "show",
    "cat": "show",
    "rm": "delete",
    "remove": "delete",
    "del": "delete",
    "ls": "list",
    "find": "search",
    "query": "search",
    "feedback": "vote",
    "outcome": "report",
    "finish": "report",
    "runs": "episodes",
    "run": "episode",
    "steps": "trajectory",
    "change": "update",
    "retire": "archive",
    "unarchive": "restore",
    "info": "status",
    "stats": "metrics",
    "check": "doctor",
    "repair": "doctor",
    "dedupe": "consolidate",
    "learn": "distill",
    "load": "import",
    "dump": "export",
    "serve": "mcp",
    "connect": "hooks",
    "untrust": "trust",
}
# What stands in the short help: the first hour and the daily loop, in that order.
FIRST: Final = ("init", "record", "recall", "report", "search", "list", "show", "vote", "review", "import", "status")
# Commands that a group may have and show all of them.
MANY: Final = 15
WIDEST: Final = 100
# Where the second column begins: beside options, and beside names of commands.
COLUMN, NARROW = 26, 18
INDENT: Final = "  "


class Command(TyperCommand):
    """A command whose help has examples, and says what kind of value an option takes in plain words."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(command_help(self, ctx.command_path) + "\n")


class Group(TyperGroup):
    """The program, or a group of its commands: its help names the ones for every day, and only names the others."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help where nothing is asked, and for `help` and `help COMMAND`."""
        if not args or args == ["help"]:
            args = ["--help"]
        elif args[0] == "help":
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, or by one that people try."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(group_help(self, ctx.command_path) + "\n")


def group_help(group: Any, path: str) -> str:
    """Return the help of a group of commands."""
    commands = dict(group.commands)
    lines = [f"Usage: {path} COMMAND [OPTIONS] ...", "", *_wrapped(inspect.cleandoc(group.help or "")), ""]
    first = [name for name in FIRST if name in commands] if len(commands) > MANY else list(commands)
    lines += _rows(((name, summary(commands[name])) for name in first), NARROW)
    others: dict[str, list[str]] = {}
    for name, command in commands.items():
        if name not in first:
            others.setdefault(command.rich_help_panel or "Others", []).append(name)
    if others:
        lines += ["", "All others:", *_rows(((panel, ", ".join(names)) for panel, names in others.items()), NARROW)]
    lines += ["", *_wrapped(f"`{path} COMMAND --help` explains a command, with examples.")]
    return "\n".join(lines)


def command_help(command: Any, path: str) -> str:
    """Return the help of a command: what it does, examples, and what it takes.

    Examples are never broken, so that they can be copied.
    """
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    name = path.partition(" ")[2]
    lines = [f"Usage: {' '.join([path, *map(argument_name, arguments), '[OPTIONS]'])}", ""]
    lines += [*_wrapped(inspect.cleandoc(command.help or "")), ""]
    lines += ["Examples:", *(f"{INDENT}{example}" for example in EXAMPLES.get(name, ()))]
    if described := [(argument_name(p).strip("[]"), p.help) for p in arguments if p.help]:
        lines += ["", "What it takes:", *_rows(described)]
    kinds = kinds_of(command)
    panels: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        panels.setdefault(option.rich_help_panel or "Options", []).append((flags(option, kinds), meaning(option)))
    for panel, rows in panels.items():
        lines += ["", f"{panel}:", *_rows(rows)]
    return "\n".join(lines)


def summary(command: Any) -> str:
    """Return the first sentence about a command."""
    text = inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ")
    return text.split(". ")[0].rstrip(".")


def argument_name(parameter: Any) -> str:
    """Return an argument as it stands in a usage line."""
    shown: str = parameter.metavar or parameter.name.upper()
    return shown if parameter.required or shown.startswith("[") else f"[{shown}]"


def flags(option: Any, kinds: Mapping[str, Any]) -> str:
    """Return an option as it is typed, with the kind of value it takes, in plain words."""
    names = ", ".join(dict.fromkeys(sorted(option.opts, key=len)))
    if option.secondary_opts:
        names += f" / {', '.join(option.secondary_opts)}"
    return names if option.is_flag else f"{names} {option.metavar or _value_name(option, kinds.get(option.name))}"


def _value_name(option: Any, kind: Any) -> str:
    choices = [str(getattr(choice, "value", choice)) for choice in _choices(kind)]
    if choices:
        return "|".join(choices)
    leaves = {kind, *get_args(kind)}
    if leaves & {int, float}:
        return "N"
    return "FILE" if Path in leaves else max(option.opts, key=len).lstrip("-").replace("-", "_").upper()


def _choices(kind: Any) -> Iterator[Any]:
    """Yield what a value can be, where it can only be one of some."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        yield from kind
    elif get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _choices(part)


def kinds_of(command: Any) -> dict[str, Any]:
    """Return the kinds of value that a command's parameters take, by name."""
    taken = inspect.signature(command.callback).parameters.values()
    return {each.name: get_args(each.annotation)[0] for each in taken if get_args(each.annotation)}


def meaning(parameter: Any) -> str:
    """Return what a parameter is for, and what holds when it is not given."""
    text = parameter.help or ""
    shown = parameter.show_default
    default = shown if isinstance(shown, str) else parameter.default
    if shown and default not in (None, False, (), [], "") and not callable(default):
        text += f" Default: {getattr(default, 'value', default)}."
    return text


def _rows(rows: Any, column: int = COLUMN) -> Iterator[str]:
    """Lay out two columns; what is too wide for the first has a line of its own."""
    for left, right in rows:
        beside = len(left) <= column - 4
        if not beside:
            yield f"{INDENT}{left}"
        first = f"{INDENT}{left:<{column - 2}}" if beside else " " * column
        yield from textwrap.wrap(
            right, width(), initial_indent=first, subsequent_indent=" " * column, break_on_hyphens=False
        ) or [first.rstrip()]


def _wrapped(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), width(), break_on_hyphens=False)


def width() -> int:
    """Return the columns that help may take: a terminal's, up to 100; 80 where there is none."""
    console = Console()
    return min(console.width, WIDEST) if console.is_terminal else 80
