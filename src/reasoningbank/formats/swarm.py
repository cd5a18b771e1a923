"""The SQLite file of agentic-flow and claude-flow (`.swarm/memory.db`), read and never written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reasoningbank.errors import InvalidInputError

HEADER = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    """Tell whether a file is a SQLite database."""
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def read_swarm(path: Path) -> list[str | dict[str, Any]]:
    """Return the lessons (`patterns`) and the entries (`memory_entries`) of a database, as records.

    Raises:
        InvalidInputError: it has neither table, or is damaged.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables & {"patterns", "memory_entries"}:
                raise InvalidInputError(f"{path} holds neither patterns nor memory_entries: is it a .swarm/memory.db?")
            found: list[str | dict[str, Any]] = []
            if "patterns" in tables:
                found += _patterns(connection)
            if "memory_entries" in tables:
                found += _entries(connection)
            return found
    except sqlite3.Error as error:
        raise InvalidInputError(f"{path} cannot be read as a database: {error}") from error


def _patterns(connection: sqlite3.Connection) -> Iterator[str | dict[str, Any]]:
    for row in connection.execute(
        "SELECT id, pattern_data FROM patterns WHERE type = 'reasoning_memory' ORDER BY rowid"
    ):
        lesson = _json(row["pattern_data"])
        # What is no JSON goes on as it is, to be named as a bad line.
        yield {"id": row["id"], "pattern_data": lesson} if isinstance(lesson, Mapping) else str(row["pattern_data"])


def _entries(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Versions differ: the text is `value` or `content`, and later ones mark what is deleted."""
    for row in connection.execute("SELECT * FROM memory_entries ORDER BY rowid"):
        entry = {key: row[key] for key in row.keys()}  # noqa: SIM118 - a Row is no dictionary
        if entry.get("status") in (None, "active"):
            yield {
                "key": entry["key"],
                "value": entry.get("value", entry.get("content")),
                "namespace": entry.get("namespace"),
                "tags": _json(entry.get("tags")),
                "metadata": _json(entry.get("metadata")),
            }


def _json(text: object) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
