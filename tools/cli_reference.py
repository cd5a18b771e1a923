"""The page of the command line, from the program itself."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from reasoningbank.cli.entry import program
from reasoningbank.cli.examples import EXAMPLES
from reasoningbank.cli.help import ALIASES

# Shown once, above the commands.
SHARED = {"root", "tenant", "project", "embedder", "settings", "as_json", "plain", "help"}

INTRODUCTION = """\
```console
$ reasoningbank [--help] [--version] COMMAND …
```

`python -m reasoningbank` is the same program. `reasoningbank --install-completion` teaches your shell its commands and
options.

**Output.** Text for people, laid out for the terminal it goes to, with colours unless `NO_COLOR` is set. Into a pipe or
a file, or with `--plain`, nothing is coloured, wrapped, cut or padded: ids and paths stand whole on one line. `--json`
prints exactly one JSON object on standard output, also for an error (`{"error": {"type": …, "message": …}}`).
Everything is UTF-8, whatever the locale. Errors, questions and progress go to standard error.

**Exit codes.** 0: done. 1: an error, in one sentence with the next step; or part of what was asked for could not be
done. 2: wrong usage. 130: interrupted; what was stored until then is whole.

**Scope.** Most commands work on one project of one tenant. Options win over the environment, the environment over the
folder's scope file: `reasoningbank init` writes `.reasoningbank.toml`, which every command in that folder and below it
finds (`tenant`, `project`, and where given `root`, read from the file's folder, and `embedder`). A file that belongs to
another user is not followed. Where nothing says which, the only tenant or project there is is meant; `status` says of
each value where it came from.

**Ids.** Of an id or ref that the bank gave, a beginning of four characters or more is enough, as long as it is the only
one; what others chose as an id is known whole only.
"""


def cli_pages(made: str) -> dict[str, Callable[[], str]]:
    """Return the pages of the commands, one for each group in which the help shows them, and one that leads to them.

    Args:
        made: the line that says how a page is made.
    """
    whole: Any = program()
    groups: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name, command in whole.commands.items():
        groups[command.rich_help_panel].update(_commands(name, command))
    return {
        "cli.md": partial(_overview, made, whole, groups),
        **{_page_of(group): partial(_group_page, made, group, commands) for group, commands in groups.items()},
    }


def _page_of(group: str) -> str:
    return f"cli/{group.lower().replace(' ', '-')}.md"


def _overview(made: str, whole: Any, groups: Mapping[str, Mapping[str, Any]]) -> str:
    aliases = ", ".join(f"`{alias}` is `{name}`" for alias, name in ALIASES.items())
    parts = [made, "# Command line", INTRODUCTION.strip(), _shared(whole)]
    for group, commands in groups.items():
        rows = [
            f"| [`{name}`]({_page_of(group)}#{name.replace(' ', '-')}) | {_first(of)} |"
            for name, of in commands.items()
        ]
        parts += [f"## {group}", "\n".join(["| command | |", "|---|---|", *rows])]
    return "\n\n".join([*parts, f"Names that people try: {aliases}."]) + "\n"


def _first(command: Any) -> str:
    """Return the first sentence of a command's help."""
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split()).partition(". ")[0].rstrip(".") + "."


def _group_page(made: str, group: str, commands: Mapping[str, Any]) -> str:
    parts = [made, f"# Command line: {group}"]
    for name, command in commands.items():
        parts += _described(name, command)
    return "\n\n".join(parts) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for inner, one in command.commands.items():
            yield from _commands(f"{name} {inner}", one)
    else:
        yield name, command


def _shared(group: Any) -> str:
    parameters = {p.name: p for p in group.commands["record"].params if p.name in SHARED}
    return _table(
        "option",
        [parameters[name] for name in ("root", "tenant", "project", "embedder", "settings", "as_json", "plain")],
    )


def _described(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name not in SHARED]
    usage = " ".join(["reasoningbank", name, *(["[OPTIONS]"] if options else []), *map(_argument, arguments)])
    yield f"## `{name}`"
    yield f"```console\n$ {usage}\n```"
    yield inspect.cleandoc(command.help or "")
    if name in EXAMPLES:
        yield "```console\n" + "\n".join(f"$ {example}" for example in EXAMPLES[name]) + "\n```"
    if arguments:
        yield _table("argument", arguments)
    if options:
        yield _table("option", options)


def _argument(parameter: Any) -> str:
    shown: str = parameter.metavar or parameter.name.upper()
    return shown if parameter.required or shown.startswith("[") else f"[{shown}]"


def _table(kind: str, parameters: list[Any]) -> str:
    rows = [f"| {_flags(p)} | {_meaning(p)} |" for p in parameters]
    return "\n".join([f"| {kind} | |", "|---|---|", *rows])


def _flags(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name.upper()).strip('[]')}`"
    both = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(f"`{flag}`" for flag in dict.fromkeys(both))


def _meaning(parameter: Any) -> str:
    text = (parameter.help or "").replace("|", "\\|")
    default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    if parameter.show_default and default not in (None, False, (), []) and not callable(default):
        text += f" Default: `{getattr(default, 'value', default)}`."
    return text
