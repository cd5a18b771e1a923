"""A full disk, short writes, a folder that cannot be written or goes away: clear errors, and the old data intact."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from reasoningbank import ReadOnlyError, ReasoningBank, StorageError
from reasoningbank.storage.project import DATABASE_NAME, SIGNALS_NAME
from reasoningbank.storage.root import project_folder
from tests.processes import in_child
from tests.torture.disk import FullDisk
from tests.torture.life import Known, open_bank

NOBODY = 65534

Act = Callable[[ReasoningBank], object]

ACTS: dict[str, Act] = {
    "record": lambda bank: bank.record("Rotate keys", "Rotate keys before they expire.", outcome="success"),
    "update": lambda bank: bank.update("m0", content="something else"),
    "delete": lambda bank: bank.delete("m1"),
    "recall": lambda bank: bank.recall("lesson 0", min_confidence=0.0),
    "report": lambda bank: bank.report("success", ref="run"),
    "feedback": lambda bank: bank.vote("m0", True, ref="vote"),
    "maintain": lambda bank: bank.upkeep.maintain(),
}


def fill(root: Path) -> None:
    """Make a bank with two memories, an open run, and a segment that is old enough to be rolled up."""
    known = Known()
    bank = open_bank(root, known)
    drafts = [{"title": f"lesson {i}", "content": f"what lesson {i} says", "outcome": "success"} for i in range(2)]
    bank.record_many(drafts, ids=["m0", "m1"])
    bank.vote("m0", True, ref="old vote")
    known.now += timedelta(days=30)
    bank.recall("lesson 0", ref="run", min_confidence=0.0)
    bank.close()


def open_later(root: Path) -> ReasoningBank:
    known = Known()
    known.now += timedelta(days=30)
    return open_bank(root, known)


def what_is_said(act: Act, bank: ReasoningBank) -> str | None:
    """Return what a call that the disk refuses says; None when it went through."""
    try:
        act(bank)
    except StorageError as error:
        return str(error)
    return None


def record_long(bank: ReasoningBank, number: int) -> None:
    bank.record(f"lesson {number}", f"{number} " * 500, outcome="success")


def contents(bank: ReasoningBank) -> list[tuple[str, str, float]]:
    return [(memory.id, memory.content, memory.confidence) for memory in bank.list(limit=100).memories]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled")
    fill(root)
    return root


# -- full ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("short", [False, True], ids=["refused", "short"])
@pytest.mark.parametrize("act", ACTS)
def test_a_disk_that_is_full_at_any_write_costs_that_call_and_nothing_else(
    quick_folder: Path, filled: Path, act: str, short: bool
) -> None:
    full_at, refused = 0, 0
    while True:
        full_at += 1
        root = quick_folder / str(full_at)
        shutil.copytree(filled, root)
        bank = open_later(root)
        before = contents(bank)
        with FullDisk(full_at, short=short) as disk:
            refusal = what_is_said(ACTS[act], bank)
            if refusal is not None:
                refused += 1
                assert "no space left" in refusal or "could not be used" in refusal
                assert str(root) in refusal
                assert disk.was_full
                assert contents(bank) == before, "reading goes on, and nothing was changed"
        ACTS[act](bank)
        bank.upkeep.maintain()
        assert bank.upkeep.doctor(dry_run=True) == []
        bank.close()
        assert len(contents(open_later(root))) == {"record": 3, "delete": 1}.get(act, 2)
        if not disk.was_full:
            break
    assert refused


def test_a_project_that_a_full_disk_did_not_let_be_made_is_made_later(quick_folder: Path) -> None:
    full_at = 0
    while True:
        full_at += 3
        root = quick_folder / str(full_at)
        bank = open_bank(root)
        with FullDisk(full_at) as disk:
            assert str(root) in (what_is_said(ACTS["record"], bank) or str(root))
        ACTS["record"](bank)
        assert bank.count() == 1
        bank.close()
        if not disk.was_full:
            break
    assert full_at > 10


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="mounts a small disk")
def test_a_disk_that_fills_up_refuses_and_goes_on_when_there_is_room(quick_folder: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(quick_folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount")
    try:
        filler = quick_folder / "filler"
        filler.write_bytes(b"x" * 1_000_000)
        bank = open_bank(quick_folder)
        refusal, stored = None, -1
        while refusal is None:
            stored += 1
            refusal = what_is_said(partial(record_long, number=stored), bank)
        assert str(quick_folder) in refusal
        assert bank.count() == stored
        assert bank.search("lesson 0", min_confidence=0.0).hits
        filler.unlink()
        bank.record("room again", "there is room again", outcome="success")
        assert bank.upkeep.doctor(dry_run=True) == []
        bank.close()
    finally:
        subprocess.run(["umount", str(quick_folder)], check=True)


# -- read-only ---------------------------------------------------------------------------------------------------


@pytest.fixture
def shared(quick_folder: Path, filled: Path) -> Iterator[Path]:
    """A bank that another user may read and not write."""
    root = quick_folder / "shared"
    shutil.copytree(filled, root)
    quick_folder.chmod(0o755)
    yield root
    protect(root, writable=True)


def protect(root: Path, *, writable: bool = False) -> None:
    for path in [root, *root.rglob("*")]:
        path.chmod((0o755 if writable else 0o555) if path.is_dir() else (0o644 if writable else 0o444))


def as_another_user(act: Callable[[], object]) -> int:
    """Run `act` in a child without the rights of root."""

    def run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        act()

    return in_child(run)


@pytest.mark.skipif(os.name != "posix", reason="changes the user")
def test_a_bank_that_cannot_be_written_can_be_searched_and_says_so(shared: Path) -> None:
    protect(shared)

    def look() -> None:
        bank = open_later(shared)
        assert [hit.memory.id for hit in bank.search("lesson 1", limit=1, min_confidence=0.0).hits] == ["m1"]
        assert bank.get("m0").content == "what lesson 0 says"
        assert bank.upkeep.status().read_only
        assert "the folder cannot be written by this user" in bank.upkeep.status().problems
        assert bank.upkeep.doctor(dry_run=True) == []
        for act in ACTS.values():
            with pytest.raises(ReadOnlyError, match="give write access, or another root") as caught:
                act(bank)
            assert str(shared) in str(caught.value)
        assert bank.search("lesson 1", limit=1, min_confidence=0.0).hits
        bank.close()

    assert as_another_user(look) == 0


@pytest.mark.skipif(os.name != "posix", reason="changes the user")
def test_a_reader_without_write_access_sees_what_a_writer_has_written(shared: Path) -> None:
    writer = open_later(shared)
    writer.record("Rotate keys", "Rotate keys before they expire.", outcome="success")
    protect(shared)

    def look() -> None:
        bank = open_later(shared)
        assert bank.count() == 3
        assert not any("recent" in problem for problem in bank.upkeep.status().problems)

    assert as_another_user(look) == 0
    writer.close()


@pytest.mark.skipif(os.name != "posix", reason="changes the user")
def test_what_only_the_write_ahead_log_holds_is_said_to_be_hidden(shared: Path) -> None:
    assert in_child(lambda: ACTS["record"](open_later(shared))) == 0
    folder = project_folder(shared, "acme", "billing")
    (folder / f"{DATABASE_NAME}-shm").unlink()
    protect(shared)

    def look() -> None:
        bank = open_later(shared)
        assert bank.count() == 2
        assert any("cannot be shown" in problem for problem in bank.upkeep.status().problems)

    assert as_another_user(look) == 0
    assert open_later(shared).count() == 3


@pytest.mark.skipif(os.name != "posix", reason="changes the user")
def test_a_log_that_cannot_be_written_refuses_the_vote_and_says_where(shared: Path) -> None:
    protect(shared)
    for path in project_folder(shared, "acme", "billing").iterdir():
        path.chmod(0o666 if path.is_file() else 0o555)
    project_folder(shared, "acme", "billing").chmod(0o777)

    def vote() -> None:
        bank = open_later(shared)
        with pytest.raises(ReadOnlyError, match=SIGNALS_NAME):
            bank.vote("m0", True)
        bank.record("Rotate keys", "Rotate keys before they expire.", outcome="success")

    assert as_another_user(vote) == 0


@pytest.mark.skipif(os.name != "posix", reason="changes the user")
def test_a_root_that_may_not_be_looked_into_is_an_error_and_no_empty_bank(shared: Path) -> None:
    project_folder(shared, "acme", "billing").chmod(0o000)

    def look() -> None:
        bank = open_later(shared)
        with pytest.raises(StorageError, match="may not be looked at by this user"):
            bank.search("lesson 0")

    assert as_another_user(look) == 0


# -- gone --------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_removed_under_a_bank_is_an_error_with_its_path(quick_folder: Path, filled: Path) -> None:
    shutil.copytree(filled, quick_folder / "r")
    bank = open_later(quick_folder / "r")
    bank.search("lesson 0")
    shutil.rmtree(quick_folder / "r")

    for act in (lambda bank: bank.search("lesson 0"), *ACTS.values()):
        with pytest.raises(StorageError, match=DATABASE_NAME):
            act(bank)
    assert not (quick_folder / "r").exists()
