from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from reasoningbank import AsyncReasoningBank, InvalidInputError, ReasoningBank
from reasoningbank.storage import migrations


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


def test_a_bank_of_the_version_before_learns_to_note_files(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.record("Quote paths", "Names may hold blanks.", outcome="failure")
    (file,) = tmp_path.rglob("bank.sqlite3")
    with sqlite3.connect(file) as connection:
        # What came with it, and after it.
        connection.execute("DROP TABLE read_files")
        connection.execute("DROP TRIGGER pins_of_deleted")
        connection.execute("DROP TABLE pins")
        connection.execute("ALTER TABLE served DROP COLUMN pinned")
        (script,) = Path(migrations.__file__).parent.glob("*_read_files.sql")
        connection.execute(f"PRAGMA user_version = {int(script.name[:4]) - 1}")
    connection.close()

    with opened(tmp_path) as bank:
        bank.runs.note_read("a")

        assert bank.runs.was_read("a")
        assert bank.count() == 1
