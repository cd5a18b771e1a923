"""Writes a client's configuration, takes exactly that out again, and says what would be silent."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reasoningbank.client_files.change import Change, read_text
from reasoningbank.errors import InvalidInputError
from reasoningbank.hooks import entry
from reasoningbank.hooks.clients import CLIENTS, Client

# By which our commands are known again, whatever the folder that they were installed from.
MARK = "reasoningbank/hooks/entry.py"


def client_named(name: str) -> Client:
    """Return a client; InvalidInputError when there is none of this name."""
    if name not in CLIENTS:
        raise InvalidInputError(f"client {name!r} is not known: use one of {', '.join(CLIENTS)}")
    return CLIENTS[name]


def file_of(client: Client, folder: Path | None, home: Path) -> Path:
    """Return the file of a client's hooks: of a repository, or of the user when there is none."""
    return home / client.user if folder is None else folder / client.project


def command(client: Client, event: str, options: Mapping[str, str]) -> str:
    """Return the command line that the client starts at an event."""
    script = Path(entry.__file__).as_posix()
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    return shlex.join([Path(sys.executable).as_posix(), script, client.name, event, *given])


def install(client: Client, path: Path, options: Mapping[str, str]) -> Change:
    """Return what the file becomes with our hooks in it, in place of those that were there; the rest stays."""
    before = read_text(path)
    settings = _without_ours(_settings(before, path))
    if client.shape != "grouped":
        settings.setdefault("version", 1)
    events = settings.setdefault("hooks", {})
    for event in client.events:
        made = client.entry(event, lambda name: command(client, name, options))
        events.setdefault(event, []).append(made)
    return Change(path, before, _text(settings))


def uninstall(client: Client, path: Path) -> Change:  # noqa: ARG001 - called as `install` is
    """Return what the file becomes without our hooks; a file in which nothing else stands goes."""
    before = read_text(path)
    if before is None:
        return Change(path, None, None)
    found = _settings(before, path)
    settings = _without_ours(found)
    if settings == found:
        return Change(path, before, before)
    left = {key: value for key, value in settings.items() if key != "version"}
    return Change(path, before, _text(settings) if left else None)


def doctor(client: Client, path: Path, state: Path) -> list[str]:
    """Return what is wrong with a client's hooks, and what would be silent."""
    text = read_text(path)
    if text is None:
        return [f"{path} is not there: reasoningbank hooks install {client.name}"]
    try:
        settings = _settings(text, path)
    except InvalidInputError as error:
        return [str(error)]
    problems = [problem for event in client.events for problem in _problems(client, settings, event)]
    seen = {file.stem for file in (state / client.name).glob("*.seen")}
    never = [event for event in client.events if event not in seen]
    if never and not problems:
        problems.append(f"never fired so far: {', '.join(never)}")
    last = state / "last-problem.txt"
    if last.exists():
        problems.append(f"the last problem of a hook: {last.read_text('utf-8', errors='replace')}")
    return [*problems, *(f"note: {silence}" for silence in client.silences)]


def _problems(client: Client, settings: Mapping[str, Any], event: str) -> list[str]:
    hooks = settings.get("hooks")
    found = [line for line in _lines(hooks.get(event) if isinstance(hooks, dict) else None) if MARK in line]
    if not found:
        return [f"nothing is hooked at {event}: reasoningbank hooks install {client.name}"]
    gone = [part for line in found for part in shlex.split(line)[:2] if not Path(part).exists()]
    return [f"{event} starts {part}, which is not there: install it again" for part in gone]


def _lines(value: Any) -> list[str]:
    """Return all texts in a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [line for item in value for line in _lines(item)] if isinstance(value, list) else []


def _without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without our commands, and without the lists and objects that held nothing else."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict) or not any(MARK in line for line in _lines(hooks)):
        return dict(settings)
    kept = {event: _other(entries) if isinstance(entries, list) else entries for event, entries in hooks.items()}
    kept = {event: entries for event, entries in kept.items() if entries or not hooks[event]}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": kept} if kept else rest


def _other(entries: list[Any]) -> list[Any]:
    left = []
    for each in entries:
        if isinstance(each, dict) and isinstance(each.get("hooks"), list):
            inner = [hook for hook in each["hooks"] if not any(MARK in line for line in _lines(hook))]
            if inner or not each["hooks"]:
                left.append({**each, "hooks": inner})
        elif not any(MARK in line for line in _lines(each)):
            left.append(each)
    return left


def _settings(text: str | None, path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        raise InvalidInputError(f"{path} is not JSON ({error}): mend it first; it was left as it is") from None
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks", {}), dict):
        raise InvalidInputError(f"{path} does not hold hooks in the shape that its client reads; it was left as it is")
    return settings


def _text(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
