"""Backups put back, damaged banks saved as far as they can be read, and doctor, which never says that all is well."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


@pytest.fixture
def filled(bank: ReasoningBank) -> Path:
    """The folder of a closed bank with many lessons, a run and a vote; what is in it is no lock any more."""
    bank.exchange.import_from({"id": f"m-{n}", "text": f"Lesson {n} says: {'words ' * 60}"} for n in range(200))
    bank.report("success", ref=bank.recall("Lesson 7 says words", ref="r-1").ref)
    folder = Path(bank.upkeep.status().folder)
    bank.close()
    return folder


def damage(database: Path, table: str) -> None:
    """Overwrite a page in the middle of a table."""
    with sqlite3.connect(database) as connection:
        page = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 3", (table,)
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    content = bytearray(database.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    database.write_bytes(content)


def has_dbstat() -> bool:
    try:
        sqlite3.connect(":memory:").execute("SELECT 1 FROM dbstat")
    except sqlite3.Error:
        return False
    return True


needs_dbstat = pytest.mark.skipif(not has_dbstat(), reason="this SQLite cannot say where its pages are")


@needs_dbstat
def test_a_damaged_bank_is_saved_as_far_as_it_can_be_read_and_put_back(cli: Cli, filled: Path, tmp_path: Path) -> None:
    damage(filled / "bank.sqlite3", "memories")
    seen = cli("doctor", "--dry-run")
    assert "damaged" in seen.out + seen.err
    assert "salvage" in seen.out + seen.err

    saved = cli("salvage", str(tmp_path / "saved"), "--json")
    assert saved.code == 1
    assert 150 < saved.json["memories"] < 200
    assert "memories" in saved.json["torn"]
    assert saved.json["episodes"] == 1

    back = cli("restore", str(tmp_path / "saved"), "--json")

    assert (back.code, back.json["memories"]) == (0, saved.json["memories"])
    assert (Path(back.json["kept_aside"]) / "bank.sqlite3").is_file()
    assert cli("doctor").out == "All is as it should be.\n"
    assert "Lesson " in cli("search", "Lesson 7 says words").out
    assert cli("episode", "r-1", "--json").json["verdict"] == "success"
    assert cli("projects", "--json").json["projects"][0]["memories"] == {"active": saved.json["memories"]}


def test_a_whole_bank_is_saved_whole(cli: Cli, filled: Path, tmp_path: Path) -> None:
    before = cli("export", "--all", "--expired").out

    assert cli("salvage", str(tmp_path / "saved")).code == 0
    assert cli("restore", str(tmp_path / "saved")).code == 0

    assert cli("export", "--all", "--expired").out == before
    assert cli("salvage", str(tmp_path / "saved")).code == 1  # it is there already


def test_what_is_no_database_any_more_is_said_with_what_is_left_to_do(cli: Cli, filled: Path, tmp_path: Path) -> None:
    (filled / "bank.sqlite3").write_bytes(b"\0" * 40_960)

    ran = cli("salvage", str(tmp_path / "saved"))

    assert (ran.code, "restore a backup" in ran.err) == (1, True)
    assert not (tmp_path / "saved").exists()


def test_a_backup_is_put_back_whatever_is_in_its_place(cli: Cli, filled: Path, tmp_path: Path) -> None:
    assert cli("backup", str(tmp_path / "monday")).code == 0
    cli("record", "New", "since monday")
    assert cli("restore", str(tmp_path / "monday"), "--json").json["memories"] == 200
    assert cli("status", "--json").json["memories"] == {"active": 200}

    # Nothing at all, an empty file, and another project's backup.
    shutil.rmtree(filled)
    assert cli("restore", str(tmp_path / "monday"), "--json").json == {"memories": 200, "kept_aside": None}
    (filled / "bank.sqlite3").write_bytes(b"")
    assert cli("restore", str(tmp_path / "monday")).code == 0
    assert cli("list", "--json").code == 0
    ran = cli("restore", str(tmp_path / "monday"), "-p", "other")
    assert (ran.code, "project 'billing'" in ran.err) == (1, True)
    ran = cli("restore", str(tmp_path))
    assert (ran.code, "is no backup" in ran.err) == (1, True)


def test_of_an_empty_file_nothing_can_be_saved_and_none_says_so(cli: Cli, filled: Path, tmp_path: Path) -> None:
    (filled / "bank.sqlite3").write_bytes(b"")

    said = cli("list").err

    assert "is empty, or holds no bank: restore a backup of it" in said
    assert "salvage" not in said
    assert cli("salvage", str(tmp_path / "saved")).code == 1


@pytest.mark.parametrize("lost", ["gone", "empty", "another", "text"])
@pytest.mark.parametrize("command", ["doctor", "status", "list", "search"])
def test_no_command_says_that_all_is_well_when_the_database_is_not_there(
    cli: Cli, bank: ReasoningBank, tmp_path: Path, lost: str, command: str
) -> None:
    bank.report("success", ref=bank.recall("x").ref)
    bank.vote(bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id, True)
    database = Path(bank.upkeep.status().folder) / "bank.sqlite3"
    bank.close()
    for left in database.parent.glob("bank.sqlite3*"):
        left.unlink()
    if lost == "empty":
        database.touch()
    if lost == "text":
        database.write_text("this is no database\n" * 100, "utf-8")
    if lost == "another":
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE other(a)")
        connection.close()

    ran = cli(command, *(["x"] if command == "search" else []))

    assert ran.code == 1
    assert "All is as it should be" not in ran.out
    assert ran.err.startswith("Error: ")
    assert "backup" in ran.err
    assert "no such table" not in ran.err
