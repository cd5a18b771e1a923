"""Chats in the SQLite stores of editors: Cursor's `state.vscdb` and OpenCode's `opencode.db`. They are only read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reasoningbank.distill.run_folders import open_code_session
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers.cursor import BUBBLES
from reasoningbank.runs.trajectory import BadLine

MAGIC = b"SQLite format 3\0"
# Where Cursor keeps chats: whole ones, each with its bubbles or their names, and in older versions all in one value.
CHATS = "composerData:"
BUBBLE = "bubbleId:{}:{}"
OLD_CHATS = ("workbench.panel.aichat.view.aichat.chatdata", "composer.composerData")
LISTS = ("tabs", "allComposers")
# In place of what is not there or no JSON, so that it is counted among what is left out.
LOST = {"type": "unreadable"}


def is_store(path: Path) -> bool:
    """Tell whether a file is a SQLite database, by its first bytes; OSError if it cannot be read."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def records_in(path: Path) -> Iterator[dict[str, Any] | BadLine]:
    """Yield each chat of a store, one at a time, or a BadLine for one that is no JSON.

    Raises:
        InvalidInputError: the store cannot be read, or holds no chats in a place that is known.
    """
    # Without a log beside it nobody writes now, and then not even a lock is taken.
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?{mode}", uri=True)) as store:
            store.row_factory = sqlite3.Row
            tables = {row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if {"cursorDiskKV", "ItemTable"} & tables:
                yield from _of_cursor(store, tables)
            elif {"session", "message", "part"} <= tables:
                yield from _of_open_code(store)
            else:
                raise InvalidInputError(
                    f"{path} is a database without chats: its tables are {', '.join(sorted(tables))}"
                )
    except sqlite3.Error as error:
        raise InvalidInputError(f"{path} cannot be read ({error}): close the editor, or give a copy") from error


def _of_cursor(store: sqlite3.Connection, tables: set[str]) -> Iterator[dict[str, Any] | BadLine]:
    if "cursorDiskKV" in tables:
        # A range, so that the key's index is used: a store may have gigabytes.
        keys = store.execute("SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?", (CHATS, CHATS[:-1] + ";"))
        for number, (key,) in enumerate(keys.fetchall(), start=1):
            chat = _value(store, "cursorDiskKV", key)
            if chat is None:
                yield BadLine(number, f"{key:.80} is no JSON object")
            else:
                yield from _with_bubbles(store, key.removeprefix(CHATS), chat)
    if "ItemTable" in tables:
        for name in OLD_CHATS:
            held = _value(store, "ItemTable", name) or {}
            chats: list[Any] = next((held[key] for key in LISTS if isinstance(held.get(key), list)), [])
            yield from (chat for chat in chats if isinstance(chat, dict) and any(map(chat.get, BUBBLES)))


def _with_bubbles(store: sqlite3.Connection, name: str, chat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a chat with its bubbles; none of a chat in which nothing was said."""
    heads = chat.get("fullConversationHeadersOnly") or []
    ids = [head.get("bubbleId") for head in heads if isinstance(head, dict)]
    bubbles = [_value(store, "cursorDiskKV", BUBBLE.format(name, one)) or LOST for one in ids]
    conversation = bubbles or chat.get("conversation")
    if conversation:
        yield {**chat, "composerId": chat.get("composerId") or name, "conversation": conversation}


def _value(store: sqlite3.Connection, table: str, key: str) -> dict[str, Any] | None:
    row = store.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()
    return _loaded(row[0]) if row is not None else None


def _loaded(text: str | bytes | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_open_code(store: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    for session in store.execute("SELECT * FROM session ORDER BY id").fetchall():
        own = (session["id"],)
        records = [{"id": session["id"], "time": _times(session)}]
        for row in store.execute("SELECT * FROM message WHERE session_id = ? ORDER BY id", own):
            records.append({"time": _times(row), **(_loaded(row["data"]) or {"role": "unreadable"}), "id": row["id"]})
        for row in store.execute("SELECT * FROM part WHERE session_id = ? ORDER BY id", own):
            records.append({**(_loaded(row["data"]) or LOST), "id": row["id"], "messageID": row["message_id"]})
        if len(records) > 1:
            yield open_code_session([(Path(), record) for record in records])


def _times(row: sqlite3.Row) -> dict[str, Any]:
    held = dict(row)
    return {name: held.get(f"time_{name}") for name in ("created", "updated")}
