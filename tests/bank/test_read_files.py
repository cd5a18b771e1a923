from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reasoningbank import AsyncReasoningBank, InvalidInputError, ReasoningBank
from reasoningbank.storage import migrations
from reasoningbank.storage.database import apply_migrations


def opened(root: Path) -> ReasoningBank:
    return ReasoningBank(root, tenant="t", project="p", embedder="hash")


def test_a_file_that_was_distilled_is_known_in_every_process_after(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        assert not bank.runs.was_read("a")  # there is no project yet
        bank.runs.note_read("a")
        bank.runs.note_read("a")

    with opened(tmp_path) as bank:
        assert (bank.runs.was_read("a"), bank.runs.was_read("b")) == (True, False)


async def test_async_code_notes_files_as_well(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        runs = AsyncReasoningBank(bank).runs
        await runs.note_read("a")

        assert await runs.was_read("a")


@pytest.mark.parametrize("digest", ["", 3, "x" * 999])
def test_a_digest_is_a_short_text(tmp_path: Path, digest: object) -> None:
    with opened(tmp_path) as bank, pytest.raises(InvalidInputError):
        bank.runs.note_read(digest)  # type: ignore[arg-type]


def as_before(connection: sqlite3.Connection, number: int) -> None:
    """Take out of a database what came with a migration and after it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as older:
        apply_migrations(older, number - 1)
        for kind, name in things(connection) - things(older):
            connection.execute(f"DROP {kind} IF EXISTS {name}")
        for _, table in things(older):
            for column in columns(connection, table) - columns(older, table):
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute(f"PRAGMA user_version = {number - 1}")


def things(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC"))


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}


def test_a_bank_of_the_version_before_learns_to_note_files(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.record("Quote paths", "Names may hold blanks.", outcome="failure")
    (file,) = tmp_path.rglob("bank.sqlite3")
    (script,) = Path(migrations.__file__).parent.glob("*_read_files.sql")
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        as_before(connection, int(script.name[:4]))
        assert ("table", "read_files") not in things(connection)

    with opened(tmp_path) as bank:
        bank.runs.note_read("a")

        assert bank.runs.was_read("a")
        assert bank.count() == 1
