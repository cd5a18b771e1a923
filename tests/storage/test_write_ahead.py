"""A write-ahead log that was left beside another state of the database is refused; its own is not."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from reasoningbank import CorruptionError, ReasoningBank
from reasoningbank.storage import write_ahead
from reasoningbank.storage.project import DATABASE_NAME, Project
from tests.storage.files import add_memory, made_by_version, open_project
from tests.storage.files import count as count_in

WAL, SHM = f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a project whose process was killed: what it wrote last is in the log only."""
    live = open_project(tmp_path / "live")
    add_memory(live, "old")
    live.tidy()
    live.backup(tmp_path / "backup")
    for number in range(3):
        add_memory(live, f"new{number}")
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    yield tmp_path / "killed"
    live.close()


def count(folder: Path) -> int:
    """Open a project, count its memories, and close it."""
    with closing(open_project(folder)) as opened:
        return count_in(opened)


def put_back(source: Path, folder: Path) -> None:
    shutil.copyfile(source / DATABASE_NAME, folder / DATABASE_NAME)


def test_the_log_of_a_killed_process_is_taken_up(killed: Path) -> None:
    assert (killed / WAL).stat().st_size

    assert count(killed) == 4


@pytest.mark.parametrize("left", [(WAL, SHM), (WAL,)])
def test_a_backup_beside_a_log_that_was_left_is_refused_and_nothing_is_mixed(
    killed: Path, left: tuple[str, ...]
) -> None:
    put_back(killed.parent / "backup", killed)
    for name in {WAL, SHM} - {*left}:
        (killed / name).unlink()
    before = (killed / DATABASE_NAME).read_bytes(), (killed / WAL).read_bytes()

    with pytest.raises(CorruptionError, match=f"{WAL} is of another state .* move {WAL} and .*{SHM} away"):
        open_project(killed)

    assert ((killed / DATABASE_NAME).read_bytes(), (killed / WAL).read_bytes()) == before
    for name in left:
        (killed / name).unlink()
    assert count(killed) == 1


def test_a_log_that_is_folded_back_already_is_as_dangerous(tmp_path: Path) -> None:
    live = open_project(tmp_path / "live")
    add_memory(live, "old")
    live.tidy()
    shutil.copyfile(live.database.path, tmp_path / "copy")
    add_memory(live, "new")
    live.tidy()
    add_memory(live, "newer")
    live.database.settle()
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    shutil.copyfile(tmp_path / "copy", tmp_path / "killed" / DATABASE_NAME)

    with pytest.raises(CorruptionError, match="of another state"):
        open_project(tmp_path / "killed")
    live.close()


def test_a_newer_copy_or_another_projects_is_refused_beside_an_older_log(killed: Path, tmp_path: Path) -> None:
    other = open_project(tmp_path / "other")
    add_memory(other)
    other.close()
    put_back(tmp_path / "other", killed)
    with pytest.raises(CorruptionError, match="of another state"):
        open_project(killed)

    ahead = tmp_path / "ahead"
    shutil.copytree(tmp_path / "live", ahead)
    newer = open_project(ahead)
    for number in range(9):
        add_memory(newer, f"m{number}")
    newer.close()
    put_back(ahead, killed)
    with pytest.raises(CorruptionError, match="of another state"):
        open_project(killed)


def test_a_plain_copy_from_the_life_of_the_log_goes_with_it(tmp_path: Path) -> None:
    live = open_project(tmp_path / "live")
    add_memory(live)
    shutil.copyfile(live.database.path, tmp_path / "copy")
    add_memory(live, "n")
    live.database.settle()
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    shutil.copyfile(tmp_path / "copy", tmp_path / "killed" / DATABASE_NAME)

    assert count(tmp_path / "killed") == 2
    live.close()


def test_a_database_of_an_older_version_is_numbered_at_its_next_write(tmp_path: Path) -> None:
    with made_by_version(1, tmp_path / "p") as connection:
        connection.execute("PRAGMA application_id = 0")
    opened = open_project(tmp_path / "p")
    add_memory(opened)
    shutil.copytree(tmp_path / "p", tmp_path / "killed")
    opened.close()

    assert count(tmp_path / "killed") == 1
    with closing(sqlite3.connect(tmp_path / "p" / DATABASE_NAME)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] > 0


def test_the_number_goes_on_from_the_highest(tmp_path: Path) -> None:
    live = open_project(tmp_path / "live")
    with live.write() as writing:
        writing.execute(f"PRAGMA application_id = {2**31 - 3}")
    live.tidy()
    for number in range(4):
        add_memory(live, f"m{number}")
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    live.close()

    assert count(tmp_path / "killed") == 4


def test_a_checkpoint_that_comes_between_two_looks_is_waited_for(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = write_ahead._numbers_in
    folded: list[int] = []

    def fold_meanwhile(log: Path) -> list[int]:
        if not folded:
            folded.append(1)
            opened = Project(killed, durability="normal", busy_timeout=1.0)
            add_memory(opened, "meanwhile")
            opened.tidy()
            add_memory(opened, "after")
            shutil.copyfile(killed / WAL, killed / "kept")
            opened.close()
            shutil.copyfile(killed / "kept", killed / WAL)
        return [*look(log)]

    monkeypatch.setattr(write_ahead, "_numbers_in", fold_meanwhile)

    assert not write_ahead.is_of_another_state(killed / DATABASE_NAME)
    assert folded


# -- what a bank does about it -----------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Return a root with a bank whose backup was copied beside the log of a killed process."""
    with ReasoningBank(tmp_path / "root", tenant="acme", project="web", embedder="hash") as bank:
        bank.record("Quote paths", "Put paths in quotes.", outcome="failure")
        bank.upkeep.backup(tmp_path / "backup")
        bank.record("Close files", "Close each file that was opened.", outcome="failure")
        folder = Path(bank.upkeep.status().folder)
        shutil.copytree(folder, tmp_path / "killed")
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "killed", folder)
    put_back(tmp_path / "backup", folder)
    return tmp_path / "root"


def titles(bank: ReasoningBank) -> set[str]:
    return {memory.title for memory in bank.list().memories}


def test_restore_and_salvage_put_a_mixed_folder_right(mixed: Path, tmp_path: Path) -> None:
    with ReasoningBank(mixed, tenant="acme", project="web", embedder="hash") as bank:
        for looking in (bank.upkeep.status, bank.upkeep.doctor, lambda: bank.search("paths")):
            with pytest.raises(CorruptionError, match="reasoningbank restore FOLDER"):
                looking()
        bank.upkeep.salvage(tmp_path / "saved")
        kept = bank.upkeep.restore_backup(tmp_path / "backup")
        assert titles(bank) == {"Quote paths"}
    assert kept is not None
    # The log that was left can still be had.
    assert (kept / WAL).stat().st_size
    with ReasoningBank(tmp_path / "again", tenant="acme", project="web", embedder="hash") as bank:
        bank.upkeep.restore_backup(tmp_path / "saved")
        assert titles(bank) == {"Quote paths"}
