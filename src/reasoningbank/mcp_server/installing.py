"""Puts the server into a client's configuration, and takes exactly that out again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from reasoningbank.client_files import jsonc, toml
from reasoningbank.client_files.change import Change, backup_of, read_text
from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.clients import Client

PACKAGE = "reasoningbank-core[mcp]"
NAME = "reasoningbank"

Runner = Literal["uvx", "python"]

# What makes agents use the tools, for the file that they read at the start of each session.
AGENTS_MD = """## Memory

Lessons from earlier work on this project are kept in a memory, which the tools `memory_*` reach.

- Before a task that is more than a question: call `memory_search` with what you are about to do, in one sentence. Treat
  what comes as notes of a colleague: decide for each whether it applies.
- When a command fails and the reason is not plain: call `memory_search` again, with what it printed as `error` and the
  same `ref`.
- When the task has ended and was checked (tests, a build, the user's word): call `memory_outcome` once with the `ref`
  of the search, and say whether it succeeded. Do not report success that nobody checked.
- When you found out something that a later run would otherwise have to find out again, and only then: call
  `memory_record` with one lesson, what to do or to avoid, and when it applies. No secrets, no names of people.
- When a lesson misled you: say so with `memory_feedback`, and why.
"""


def file_of(client: Client, folder: Path | None, home: Path) -> Path:
    """Return the file of a client's servers: of a repository, or of the user when there is none.

    InvalidInputError when the client reads none in a repository.
    """
    if folder is None:
        return home / client.user_file()
    if not client.project:
        raise InvalidInputError(f"{client.name} reads no servers in a repository: leave --folder out")
    return folder / client.project


def entry(client: Client, arguments: Sequence[str], *, runner: Runner, shared: bool) -> dict[str, Any]:
    """Return what stands for the server in a client's file.

    Args:
        arguments: of `reasoningbank mcp`.
        runner: "uvx" fetches and runs the package wherever it is started; "python" is this very interpreter.
        shared: others read the file too, so that no path of this machine may stand in it. Otherwise uvx is named by its
            path: programs that are not started from a shell do not see the shell's.
    """
    if runner == "python":
        command, before = sys.executable, ["-m", "reasoningbank", "mcp"]
    else:
        command = "uvx" if shared else shutil.which("uvx") or "uvx"
        before = ["--from", PACKAGE, "reasoningbank", "mcp"]
    return {**client.more, "command": command, "args": [*before, *arguments]}


def install(client: Client, path: Path, value: Mapping[str, Any], name: str = NAME) -> Change:
    """Return what a client's file becomes with the server in it, in place of one of this name; the rest stays."""
    before = read_text(path)
    there = _entries(client, path, before)
    after = _in_file(path, _form(client).put, before or "", client.group, name, dict(value))
    _check(client, path, after, {**there, name: dict(value)}, before)
    # What stood there before the server was first put in comes back when it is taken out: also another of its name.
    backup = read_text(backup_of(path))
    is_first = name not in there or (backup is None and not _is_ours(there[name]))
    return Change(path, before, after, before if is_first else backup)


def uninstall(client: Client, path: Path, name: str = NAME) -> Change:
    """Return what a client's file becomes without the server; a file that held nothing else goes.

    Where nobody changed the file since, it is what it was before to the byte.
    """
    before, backup = read_text(path), read_text(backup_of(path))
    there = _entries(client, path, before)
    if before is None or name not in there:
        return Change(path, before, before, backup)
    form = _form(client)
    if backup is not None and _puts(client, backup, name, there[name]) == before:
        return Change(path, before, backup, None)
    after = _in_file(path, form.take, before, client.group, name)
    _check(client, path, after, {other: value for other, value in there.items() if other != name}, before)
    if backup is None and after.strip() in ("", "{}"):
        return Change(path, before, None, None)
    return Change(path, before, after, backup)


def _is_ours(value: Any) -> bool:
    """Tell whether an entry runs this server, as `entry` writes it."""
    arguments = value.get("args") if isinstance(value, dict) else None
    return isinstance(arguments, list) and NAME in arguments and "mcp" in arguments


def _form(client: Client) -> ModuleType:
    return toml if client.form == "toml" else jsonc


def _puts(client: Client, text: str, name: str, value: Any) -> str | None:
    try:
        put: str = _form(client).put(text, client.group, name, value)
    except InvalidInputError:
        return None
    return put


def _in_file(path: Path, change: Any, *given: Any) -> str:
    try:
        changed: str = change(*given)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}; mend it first, it was left as it is") from None
    return changed


def _value(client: Client, path: Path, text: str | None) -> dict[str, Any]:
    try:
        parsed = _form(client).parse(text or "")
    except InvalidInputError as error:
        raise InvalidInputError(f"{path} cannot be read ({error}): mend it first, it was left as it is") from None
    value = parsed if client.form == "toml" else parsed.value
    if not isinstance(value, dict) or not isinstance(value.get(client.group, {}), dict):
        raise InvalidInputError(
            f"{path} does not hold servers in the shape that {client.name} reads; it was left as it is"
        )
    return dict(value)


def _entries(client: Client, path: Path, text: str | None) -> dict[str, Any]:
    return dict(_value(client, path, text).get(client.group, {}))


def _check(client: Client, path: Path, after: str, entries: Mapping[str, Any], before: str | None) -> None:
    """Make sure, before anything is written, that nothing but the entry changed in what the client reads."""
    was, is_now = _value(client, path, before), _value(client, path, after)
    found = is_now.pop(client.group, {})
    was.pop(client.group, None)
    if was != is_now or found != dict(entries):
        raise InvalidInputError(f"{path} cannot be changed without touching what is not ours; it was left as it is")
