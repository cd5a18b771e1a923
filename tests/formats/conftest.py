"""Small files in the forms that other tools really write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

# The tables as agentic-flow and claude-flow make them, without those that hold no lessons.
SWARM = """
CREATE TABLE patterns (id TEXT PRIMARY KEY, type TEXT NOT NULL, pattern_data TEXT NOT NULL, confidence REAL NOT NULL
  DEFAULT 0.5, usage_count INTEGER NOT NULL DEFAULT 0, created_at TEXT DEFAULT CURRENT_TIMESTAMP, last_used TEXT);
CREATE TABLE pattern_embeddings (id TEXT PRIMARY KEY, model TEXT NOT NULL, dims INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE TABLE memory_entries (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, value TEXT NOT NULL,
  namespace TEXT NOT NULL DEFAULT 'default', metadata TEXT, created_at INTEGER DEFAULT (strftime('%s', 'now')),
  UNIQUE(key, namespace));
"""
# The later form of the entries.
SWARM_3 = """
CREATE TABLE memory_entries (id TEXT PRIMARY KEY, key TEXT NOT NULL, namespace TEXT DEFAULT 'default', content TEXT NOT
  NULL, type TEXT, embedding TEXT, tags TEXT, metadata TEXT, created_at INTEGER, status TEXT DEFAULT 'active');
"""

LOGIN = {
    "title": "Handle login flows with CSRF tokens",
    "description": "Fetch the token before the POST.",
    "content": "1) Load the login page and read the token. 2) Attach it to the POST.",
    "source": {"task_id": "task-7", "agent_id": "web", "outcome": "Success", "evidence": []},
    "tags": ["web", "auth"],
    "domain": "webarena.admin",
    "created_at": "2025-10-10T12:00:00Z",
    "confidence": 0.76,
    "n_uses": 3,
}
PAGES = {
    "title": "Avoid endless pagination",
    "content": "Stop when a page repeats.",
    "source": {"outcome": "Failure"},
    "domain": "default",
}

PAPER_ITEMS = """The trajectory succeeded because the filters were checked first.

```
# Memory Item 1
## Title Check the filters first
## Description Look at the filters before searching.
## Content Before searching, look which filters are set, and reset them.

# Memory Item 2
## Title Verify the total
## Description Compare sums.
## Content Add up the rows and compare the sum with the total that is shown.
```
"""


def database(path: Path, schema: str, **rows: list[tuple[Any, ...]]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(schema)
        for table, values in rows.items():
            columns, *data = values
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", data)
    return path


@pytest.fixture
def swarm(tmp_path: Path) -> Path:
    """A `.swarm/memory.db` of agentic-flow and claude-flow 2."""
    (tmp_path / ".swarm").mkdir()
    return database(
        tmp_path / ".swarm" / "memory.db",
        SWARM,
        patterns=[
            ("id", "type", "pattern_data", "confidence"),
            ("rm-1", "reasoning_memory", json.dumps(LOGIN), 0.76),
            ("rm-2", "reasoning_memory", json.dumps(PAGES), 0.6),
            ("rm-3", "reasoning_memory", "{torn", 0.6),
            ("sp-1", "something_else", json.dumps(LOGIN), 0.9),
        ],
        memory_entries=[
            ("key", "value", "namespace", "metadata"),
            ("api/limits", "Wait a second between calls", "ops", '{"by": "ada"}'),
            ("style", "Write short sentences", "default", None),
        ],
    )


@pytest.fixture
def swarm_3(tmp_path: Path) -> Path:
    """The entries as claude-flow 3 has them."""
    return database(
        tmp_path / "memory.db",
        SWARM_3,
        memory_entries=[
            ("id", "key", "namespace", "content", "tags", "status"),
            ("e1", "deploy", "ops", "Run the migrations first", '["deploy"]', "active"),
            ("e2", "old", "ops", "Gone", "[]", "deleted"),
        ],
    )


Written = Callable[[str, str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes a file into the test's folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write
