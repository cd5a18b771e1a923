"""What was deleted is gone from the files, once upkeep went over them, and from every later backup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reasoningbank import CorruptionError, ReasoningBank
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME
from tests.torture.life import Known, open_bank


def test_what_a_bank_of_an_older_version_deleted_goes_at_its_next_upkeep(quick_folder: Path) -> None:
    bank = open_bank(quick_folder)
    kept = bank.record("Lesson zygomorph", "Do wrenchfish.", outcome="success").memory.id
    with bank._engine.write() as edit:
        assert edit.execute("SELECT count(*) FROM meta WHERE key = 'words_left'").fetchone() == (1,)
    bank.upkeep.maintain()
    with bank._engine.write() as edit:
        assert edit.execute("SELECT count(*) FROM meta WHERE key = 'words_left'").fetchone() == (0,)
    assert bank.get(kept).title == "Lesson zygomorph"


# -- a database that is gone or empty is never taken for a new bank --------------------------------------------------


def deep(bank: ReasoningBank) -> Path:
    return Path(bank.upkeep.status().folder)


def test_a_database_that_is_gone_beside_its_signals_is_an_error_in_every_call_and_nothing_is_begun_anew(
    quick_folder: Path,
) -> None:
    bank = open_bank(quick_folder)
    memory = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory.id
    bank.vote(memory, True, ref="one")
    folder = deep(bank)
    bank.close()
    for path in folder.glob(f"{DATABASE_NAME}*"):
        path.unlink()
    before = sorted(folder.rglob("*"))

    calls: list[Callable[[ReasoningBank], object]] = [
        lambda bank: bank.search("paths"),
        lambda bank: bank.upkeep.status(),
        lambda bank: bank.upkeep.doctor(),
        lambda bank: bank.record("New", "Begun anew.", outcome="success"),
    ]
    for call in calls:
        with pytest.raises(CorruptionError, match=f"{DATABASE_NAME} is gone, but {SIGNALS_NAME} is there: put"):
            call(open_bank(quick_folder))
    assert sorted(folder.rglob("*")) == before
    (folder / SIGNALS_NAME).rename(quick_folder / "away")

    assert open_bank(quick_folder).record("New", "Begun anew.", outcome="success").created


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(4080)])
def test_a_database_that_is_empty_is_said_to_be(quick_folder: Path, content: bytes) -> None:
    bank = open_bank(quick_folder, Known())
    bank.record("Quote paths", "Put paths in quotes.", outcome="success")
    folder = deep(bank)
    bank.close()
    (folder / DATABASE_NAME).write_bytes(content)

    calls: list[Callable[[ReasoningBank], object]] = [
        lambda bank: bank.search("paths"),
        lambda bank: bank.upkeep.doctor(),
    ]
    for call in calls:
        with pytest.raises(CorruptionError, match="backup"):
            call(open_bank(quick_folder))
