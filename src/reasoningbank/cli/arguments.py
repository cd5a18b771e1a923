"""What several commands take: labels, filters and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from reasoningbank.cli.streams import standard_input

Outcome = Literal["success", "failure"]

MemoryId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The memory's id, as search or list shows it, or its first 4 characters or more."
    ),
]
Words = Annotated[
    list[str], typer.Argument(metavar="TEXT...", help="What is to be done, in words; - reads it from standard input.")
]
WordsOrNone = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEXT...]", help="What is to be done, in words; - reads it from standard input."),
]
NewestFirst = Annotated[bool, typer.Option("--newest-first", help="What happened last comes first.")]
IntoFile = Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to; standard output when not given.")]
STANDARD_STREAM = Path("-")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Every = Annotated[bool, typer.Option("--all", help="Every project of the tenant, in place of --project.")]
EveryTenant = Annotated[bool, typer.Option("--every-tenant", help="Every project of every tenant under the root.")]
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
        found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# -- which memories: the options of every command that takes filters, and what they ask for --------------------------

_TAGS = {"tag": "all", "any_tag": "any", "no_tag": "none"}
_COMPARED = re.compile(r"([^<>=]+)(>=|<=|>|<)(.*)", re.DOTALL)
_OPERATORS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}

FILTERS: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "tag": (list[str] | None, ("--tag",), {"help": "Only memories with this tag; may be repeated."}),
    "any_tag": (list[str] | None, ("--any-tag",), {"help": "Only with this tag or another one given so."}),
    "no_tag": (list[str] | None, ("--no-tag",), {"help": "Only memories without this tag; may be repeated."}),
    "where": (
        list[str] | None,
        ("--where",),
        {
            "metavar": "KEY=VALUE",
            "help": "Only memories whose metadata hold this; also KEY>=VALUE, >, <= and <, and KEY='{\"in\": [1, 2]}'; "
            "may be repeated.",
        },
    ),
    "outcome": (Outcome | None, ("--outcome", "-o"), {"help": "Only lessons from runs that ended so."}),
    "source": (list[str] | None, ("--source",), {"help": "Only from this person or session; or another one given so."}),
    "since": (str | None, ("--since",), {"metavar": "TIME", "help": "Only what happened from then on: a date, or 7d."}),
    "until": (str | None, ("--until",), {"metavar": "TIME", "help": "Only what happened before: a date, or 7d."}),
}


def filters_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that these options ask for, as every call takes them; those that are not given are left out.

    UsageError where one cannot be read.
    """
    tags = {word: given[option] for option, word in _TAGS.items() if given.get(option)}
    found = {name: given[name] for name in ("outcome", "source", "since", "until") if given.get(name)}
    where = [_condition(asked) for asked in given.get("where") or ()]
    return found | ({"tags": tags} if tags else {}) | ({"where": where} if where else {})


def _condition(asked: str) -> dict[str, Any]:
    if compared := _COMPARED.fullmatch(asked):
        return {compared[1]: {_OPERATORS[compared[2]]: _value(compared[3])}}
    return pairs([asked])
