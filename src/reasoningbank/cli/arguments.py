"""What several commands take: labels, filters and texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.streams import standard_input

Outcome = Literal["success", "failure"]


MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as search or list shows it.")]
Words = Annotated[
    list[str], typer.Argument(metavar="TEXT...", help="What is to be done, in words; - reads it from standard input.")
]
OfOutcome = Annotated[Outcome | None, typer.Option("--outcome", "-o", help="Only lessons from runs that ended so.")]
WithTags = Annotated[list[str] | None, typer.Option("--tag", help="Only memories with this tag; may be repeated.")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only memories whose metadata hold this; may be repeated."),
]
By = Annotated[str | None, typer.Option("--by", help="Who judged.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, in words.")]


def text_of(words: Sequence[str]) -> str:
    """Return the words as one text; a lone `-` stands for standard input."""
    return standard_input() if list(words) == ["-"] else " ".join(words)


def json_of(file: Path) -> Any:
    """Return what a file holds as JSON; `-` stands for standard input.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    try:
        text = standard_input() if str(file) == "-" else file.read_bytes().decode("utf-8", "replace")
        return json.loads(text.removeprefix("\ufeff"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON ({error})") from None


def pairs(given: Sequence[str] | None) -> dict[str, Any]:
    """Read KEY=VALUE pairs: a value that is JSON (a number, true, null, a quoted text) is that, any other is text.

    Raises:
        UsageError: one has no `=`.
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
