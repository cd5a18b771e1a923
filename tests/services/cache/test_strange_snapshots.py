"""Snapshots that are damaged, left over, or of another state: never needed, and never believed."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache import snapshots, vectors
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.storage import stored_vectors
from reasoningbank.storage.files import rename
from tests.conftest import OpenBank
from tests.processes import in_child
from tests.services.cache.snapshot_bank import TOPICS, answers, closed, files, fill, found, path
from tests.services.cache.views import no_snapshot

pytestmark = pytest.mark.usefixtures("small_banks_have_snapshots", "written")


# -- what does not fit ---------------------------------------------------------------------------------------------


def test_an_older_database_put_back_never_meets_the_newer_snapshot(open_bank: OpenBank, tmp_path: Path) -> None:
    first = open_bank()
    fill(first)
    first.search("promotions")
    first.upkeep.backup(tmp_path / "copy")
    first.close()
    assert not [entry for entry in (tmp_path / "copy").iterdir() if "index" in entry.name]

    second = open_bank()
    for topic in TOPICS:
        second.record(f"{topic} that will not have been", f"Forget about {topic}", outcome="success")
    second.search("promotions")
    second.close()
    # Only the database is put back; then as many changes come as there were, under the same numbers.
    shutil.copy(tmp_path / "copy" / "bank.sqlite3", Path(second._engine.where) / "bank.sqlite3")
    third = open_bank()
    for topic in TOPICS:
        third.record(f"{topic} in another life", f"Another word on {topic}", outcome="success")
    assert "quotas in another life" in found(third, "quotas another word")
    assert answers(third) == answers_of_a_bank_without_snapshot(third)


def answers_of_a_bank_without_snapshot(bank: ReasoningBank) -> list[Any]:
    cache = bank._engine.cache
    anew = VectorCache(cache.vectors._stored, no_snapshot)
    with bank._engine.read() as view, pytest.MonkeyPatch.context() as patched:
        patched.setattr(vectors, "load", lambda *_: None)
        anew.follow(view)
    kept, cache.vectors = cache.vectors, anew
    try:
        return answers(bank)
    finally:
        cache.vectors = kept


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def turn_a_bit(path: Path) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[-50] ^= 4
    path.write_bytes(damaged)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, turn_a_bit, empty])
def test_a_damaged_one_is_reported_and_made_anew_and_changes_no_answer(
    open_bank: OpenBank, built: list[str], caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    closed(open_bank)
    with open_bank() as whole:
        before = answers(whole)
    damage(path(whole))
    built.clear()

    bank = open_bank()
    with caplog.at_level(logging.WARNING, logger="reasoningbank"):
        assert answers(bank) == before
    assert "vectors.index is damaged" in caplog.text
    assert built == ["vectors"]
    bank.close()
    built.clear()
    assert answers(open_bank()) == before
    assert not built


def strange_token(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE meta SET value = 'another' WHERE key = 'snapshot of vectors'")


def no_token(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM meta WHERE key = 'snapshot of vectors'")


def strange_embedder(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE generations SET generation = 5")
    connection.execute("UPDATE vectors SET generation = 5")


def trimmed_feed(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO changes(op, memory) VALUES ('put', 1), ('put', 1)")
    connection.execute("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")


def forgetful_feed(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM changes")
    connection.execute("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'changes'")


@pytest.mark.parametrize("change", [strange_token, no_token, strange_embedder, trimmed_feed, forgetful_feed])
def test_one_of_another_state_is_not_used_and_is_replaced(
    open_bank: OpenBank, built: list[str], change: Callable[[sqlite3.Connection], None]
) -> None:
    closed(open_bank)
    with open_bank() as whole:
        before = found(whole, "promotions")
    old = path(whole).read_bytes()
    with sqlite3.connect(Path(whole._engine.where) / "bank.sqlite3") as connection:
        change(connection)
    connection.close()
    built.clear()

    bank = open_bank()
    assert found(bank, "promotions") == before
    assert built == ["vectors"]
    bank.close()
    assert path(bank).read_bytes() != old
    built.clear()
    assert found(open_bank(), "promotions") == before
    assert not built


def test_a_process_that_is_killed_before_the_rename_leaves_what_the_next_round_of_upkeep_removes(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = open_bank()
    fill(bank)
    bank.search("promotions")

    def die(*_: object) -> None:
        os._exit(9)

    def killed() -> None:
        monkeypatch.setattr(stored_vectors, "rename", die)
        bank.close()

    assert in_child(killed) == 9
    (left,) = files(bank)
    assert left.startswith(".new-vectors.index-")
    assert found(open_bank(), "promotions")
    open_bank().upkeep.maintain()
    assert left not in files(bank)


def test_a_process_that_is_killed_after_the_rename_leaves_what_nobody_believes(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    bank = open_bank()
    fill(bank)
    bank.search("promotions")

    def rename_and_die(source: Path, target: Path) -> None:
        rename(source, target)
        os._exit(9)

    def killed() -> None:
        monkeypatch.setattr(stored_vectors, "rename", rename_and_die)
        bank.close()

    assert in_child(killed) == 9
    assert files(bank) == {"vectors.index"}
    built.clear()
    other = open_bank()
    assert found(other, "promotions")
    assert built == ["vectors"]
    assert [repair.done for repair in other.upkeep.doctor()] == [True]
    assert not files(bank)


# -- what the disk says --------------------------------------------------------------------------------------------


def test_a_disk_that_refuses_costs_nothing_but_the_snapshot(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    bank = open_bank()
    fill(bank)
    bank.search("promotions")
    monkeypatch.setattr(snapshots, "write", full)
    bank.close()
    assert not files(bank)
    assert found(open_bank(), "promotions")


def test_a_disk_that_is_nearly_full_is_left_to_the_bank(open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(Path.cwd())
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=1_000))
    bank = open_bank()
    fill(bank)
    bank.search("promotions")
    bank.close()
    assert not files(bank)


def test_a_bank_that_cannot_be_written_uses_the_snapshot_and_writes_none(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    closed(open_bank)
    monkeypatch.setattr("reasoningbank.storage.project._is_protected", lambda _: True)
    built.clear()
    with open_bank() as reader:
        assert found(reader, "promotions")
    assert not built

    path(reader).unlink()
    with open_bank() as reader:
        assert found(reader, "promotions")
    assert not files(reader)


# -- doctor --------------------------------------------------------------------------------------------------------


def test_doctor_says_that_a_damaged_one_does_no_harm_and_removes_it(open_bank: OpenBank) -> None:
    closed(open_bank)
    bank = open_bank()
    assert bank.upkeep.doctor() == []
    cut(path(bank))
    (repair,) = bank.upkeep.doctor(dry_run=True)
    assert "vectors.index is damaged" in repair.what
    assert "it is not used" in repair.what
    assert files(bank) == {"vectors.index"}

    assert bank.upkeep.doctor()[0].done
    assert not files(bank)
    assert bank.upkeep.doctor() == []


def test_the_exact_vectors_are_those_of_the_database(open_bank: OpenBank) -> None:
    closed(open_bank)
    bank = open_bank()
    with bank._engine.read() as view:
        rows = dict(view.execute("SELECT id, vector FROM vectors").fetchall())
        bank._engine.cache.follow(view)
        exact = bank._engine.cache.vectors.vectors(view, np.array(list(rows)), 1024)
    assert [row.tobytes() for row in exact] == list(rows.values())
    assert exact.dtype == np.float32
