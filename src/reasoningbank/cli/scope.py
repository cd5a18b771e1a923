"""Which bank: from options, else the environment, else the folder's scope file, else the only one there is."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from reasoningbank import BankRoot, ReasoningBank, Tenants
from reasoningbank.address import ServerAddress
from reasoningbank.cli.arguments import UsageError
from reasoningbank.config import ENVIRONMENT, environment

SCOPE_FILE = ".reasoningbank.toml"
NAMED = ("tenant", "project", "root", "embedder", "shared", "person")
ONLY_ONE = "the only one there is"
# Names that an error lists.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """One value of the scope, and in `origin`, in words, where it came from."""

    value: str
    origin: str


Scope = dict[str, Chosen]


def chosen(options: Mapping[str, str | None], folder: Path | None = None) -> Scope:
    """Return what is chosen by options, environment variables and the scope file, by name; what is not is left out.

    Args:
        options: those that the command takes, by name.
        folder: from where a scope file is looked for upwards; the present folder when None.

    Raises:
        UsageError: a scope file that is needed cannot be read, or belongs to another user.
    """
    variables = environment()
    found = {name: Chosen(given, f"--{name}") for name, given in options.items() if given is not None}
    for name in options:
        if name not in found and name in variables:
            found[name] = Chosen(variables[name], ENVIRONMENT[name])
    file = find_scope_file(Path.cwd() if folder is None else folder)
    try:
        said = {} if file is None else read_scope_file(file)
    except UsageError:
        # What is named whole needs no file.
        if not {"tenant", "project"} & options.keys() <= found.keys():
            raise
        said = {}
    return {name: Chosen(value, str(file)) for name, value in said.items() if name in options} | found


def find_scope_file(folder: Path) -> Path | None:
    """Return the scope file of a folder, or of the nearest one above it that has one."""
    return next((file for above in (folder, *folder.parents) if (file := above / SCOPE_FILE).is_file()), None)


def read_scope_file(file: Path) -> dict[str, str]:
    """Return what a scope file says; a root is read from the file's folder.

    Raises:
        UsageError: it cannot be read, holds something else, or belongs to another user, who could so choose where this
            one's lessons come from and go to.
    """
    try:
        # (No such call on Windows, whose folders of others cannot be written to by default.)
        if hasattr(os, "getuid") and file.stat().st_uid not in (os.getuid(), 0):
            raise UsageError(f"{file} belongs to another user and is not followed: give --tenant and --project")
        said = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read ({error}): mend it, or give --tenant and --project") from None
    if wrong := [name for name, value in said.items() if name not in NAMED or not isinstance(value, str)]:
        raise UsageError(f"{file} says {wrong[0]!r}: it can name {', '.join(NAMED)}, each as a text")
    if "root" in said and ServerAddress.of(said["root"]) is None:
        said["root"] = str(file.parent / Path(said["root"]).expanduser())
    return said


def scope_text(said: Mapping[str, str]) -> str:
    """Return the text of a scope file."""
    lines = [f"{name} = {json.dumps(said[name], ensure_ascii=False)}" for name in NAMED if said.get(name)]
    return "\n".join(["# Which memory the commands of `reasoningbank` use in this folder and below.", *lines, ""])


# -- what is not said: the one there is, or an error that says how to go on ------------------------------------------


def needed(scope: Scope, name: str, there: Sequence[str], where: str) -> str:
    """Return the tenant or project that is chosen, else the only one there is, which is noted in the scope.

    Args:
        there: those that there are.
        where: in words.

    Raises:
        UsageError: there is none, or there are several; it says how to name one.
    """
    if name not in scope:
        if len(there) != 1:
            listed = ", ".join(map(repr, there[:SHOWN])) + (", …" if len(there) > SHOWN else "")
            raise UsageError(
                f"no {name}: run `reasoningbank init`, which writes it down for this folder, or give --{name}, or set "
                f"{ENVIRONMENT[name]}; {where} has {listed or 'none'}"
            )
        scope[name] = Chosen(there[0], ONLY_ONE)
    return scope[name].value


def not_there(bank: ReasoningBank) -> str:
    """Say what there is in place of a project that is missing, the nearest name first."""
    tenants = Tenants(bank.root)
    # Which tenants a server has is not told.
    names = tenants.names() if isinstance(bank.root, Path) else []
    there = BankRoot(bank.root, tenant=bank.tenant).projects()
    if near := difflib.get_close_matches(bank.project, there, n=1):
        known = f"did you mean {near[0]!r}?"
    elif there:
        known = f"it has {', '.join(there)} in {bank.root}."
    elif near := difflib.get_close_matches(bank.tenant, names, n=1):
        known = f"did you mean tenant {near[0]!r}? It has {', '.join(tenants.projects(near[0])) or 'none'}."
    elif names:
        known = f"{bank.root} holds tenants {', '.join(names)}."
    else:
        missing = isinstance(bank.root, Path) and not bank.root.is_dir()
        known = f"there is no folder {bank.root}." if missing else f"there is nothing in {bank.root} yet."
    return f"{known} Nothing was made; `record` and `import` begin a new one"


def refuse_another(file: Path) -> NoReturn:
    """Say that a folder has a scope file which says something else."""
    said = ", ".join(f"{name} {value!r}" for name, value in read_scope_file(file).items())
    raise UsageError(f"{file} is there already and says {said}: change it there, or give --force")
