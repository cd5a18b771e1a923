"""Numbered schema changes, applied in order inside one write transaction each time a project is opened."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib import resources


@cache
def scripts() -> tuple[tuple[int, str], ...]:
    """Return (number, SQL) of every migration, in order; the last number is the present format."""
    folder = resources.files(__name__)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), (folder / name).read_text(encoding="utf-8")) for name in names)


def statements(script: str) -> list[str]:
    """Split a script at its statement ends; a semicolon inside a statement does not split it."""
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current.strip())
            current = ""
    return found
