"""What several commands take: the bank they work on, labels, filters and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from reasoningbank.cli.streams import standard_input
from reasoningbank.config import ENVIRONMENT, environment

Outcome = Literal["success", "failure"]

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as search or list shows it.")]
Words = Annotated[
    list[str], typer.Argument(metavar="TEXT...", help="What is to be done, in words; - reads it from standard input.")
]
WordsOrNone = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEXT...]", help="What is to be done, in words; - reads it from standard input."),
]
OfOutcome = Annotated[Outcome | None, typer.Option("--outcome", "-o", help="Only lessons from runs that ended so.")]
Tagged = Annotated[list[str] | None, typer.Option("--tag", help="Only memories with this tag; may be repeated.")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only memories whose metadata hold this; may be repeated."),
]
IntoFile = Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to; standard output when not given.")]
STANDARD_STREAM = Path("-")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
By = Annotated[str | None, typer.Option("--by", help="Who judged.")]


class UsageError(Exception):
    """The command was not given what it needs; exit code 2."""


def text_of(words: Sequence[str]) -> str:
    """Return the words as one text; a lone `-` stands for standard input."""
    return standard_input() if list(words) == ["-"] else " ".join(words)


def output_of(file: str) -> str:
    """Return what a command printed, from a file; a lone `-` stands for standard input."""
    if file == "-":
        return standard_input()
    try:
        return Path(file).read_text("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}): give the file that holds the output") from None


def pairs(given: Sequence[str] | None) -> dict[str, Any]:
    """Read KEY=VALUE pairs: a value that is JSON (a number, true, null, a quoted text) is that, any other is text.

    UsageError when one has no `=`.
    """
    found: dict[str, Any] = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise UsageError(f"{pair!r} is not KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


# -- which bank: from the options, else from the environment, else from nothing ----------------------------------------


@dataclass(frozen=True, slots=True)
class Chosen:
    """One value of the scope, and in `origin`, in words, where it came from."""

    value: str
    origin: str


def chosen(options: Mapping[str, str | None]) -> dict[str, Chosen]:
    """Return what is chosen by options, environment variables and defaults, by name; what is not is left out."""
    variables = environment()
    found = {}
    for name, given in options.items():
        if given is not None:
            found[name] = Chosen(given, f"--{name}")
        elif name in variables:
            found[name] = Chosen(variables[name], ENVIRONMENT[name])
    return found


def needed(scope: Mapping[str, Chosen], name: str) -> str:
    """Return a value of the scope; UsageError, which names the option and the variable, when it is not chosen."""
    if name not in scope:
        raise UsageError(f"no {name}: give --{name}, or set {ENVIRONMENT[name]}")
    return scope[name].value
