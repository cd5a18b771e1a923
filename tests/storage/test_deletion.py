"""Deleting a project, whole or not at all, and starting it anew."""

from __future__ import annotations

import errno
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from reasoningbank import ProjectNotFoundError
from reasoningbank.errors import ProjectDeletedError, ReadOnlyError
from reasoningbank.storage import files, lifecycle, meta
from reasoningbank.storage.database import Database
from reasoningbank.storage.lifecycle import remove_deleted
from reasoningbank.storage.project import DATABASE_NAME, Project
from reasoningbank.storage.root import delete_project_files, list_projects, project_folder
from tests.processes import exit_code, start
from tests.storage.files import add_memory, count, open_project, refusing


def mark_deleted(folder: Path) -> None:
    opened = open_project(folder)
    with opened.write() as writing:
        meta.put(writing, "deleted", "1")
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a project with one memory."""
    folder = project_folder(tmp_path, "acme", "billing")
    opened = open_project(folder)
    add_memory(opened)
    opened.close()
    return folder


def test_a_deleted_project_is_gone_with_its_folder(folder: Path, tmp_path: Path) -> None:
    delete_project_files(tmp_path, "acme", "billing")

    assert list(folder.parent.iterdir()) == []
    with pytest.raises(ProjectNotFoundError):
        delete_project_files(tmp_path, "acme", "billing")


def test_those_who_have_a_deleted_project_open_refuse(folder: Path, tmp_path: Path) -> None:
    opened = open_project(folder)
    add_memory(opened, "other")

    delete_project_files(tmp_path, "acme", "billing")

    with pytest.raises(ProjectDeletedError), opened.read():
        pass
    with pytest.raises(ProjectDeletedError), opened.write():
        pass


def test_an_old_handle_that_is_closed_does_not_harm_the_project_that_was_started_anew(
    folder: Path, tmp_path: Path
) -> None:
    old = open_project(folder)
    add_memory(old, "old")
    delete_project_files(tmp_path, "acme", "billing")
    new = open_project(folder)
    add_memory(new, "new")

    old.close()
    add_memory(new, "newer")
    assert new.folder == folder
    again = open_project(folder)
    assert count(again) == 2


def test_a_deletion_that_was_killed_after_its_mark_is_finished_by_whoever_starts_anew(folder: Path) -> None:
    mark_deleted(folder)

    assert Project.open(folder, tenant="acme", project="billing", durability="normal", busy_timeout=1.0) is None
    assert folder.is_dir()
    opened = open_project(folder)

    assert count(opened) == 0
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]


def test_a_deletion_that_was_killed_after_its_mark_goes_on_when_it_is_asked_for_again(
    folder: Path, tmp_path: Path
) -> None:
    mark_deleted(folder)
    delete_project_files(tmp_path, "acme", "billing")

    assert list(folder.parent.iterdir()) == []


def test_what_a_killed_deletion_left_beside_is_swept_away_by_the_next(folder: Path, tmp_path: Path) -> None:
    left = folder.with_name(f".deleted-{folder.name}-0a1b2c3d")
    shutil.copytree(folder, left)

    delete_project_files(tmp_path, "acme", "billing")
    assert not left.exists()

    shutil.copytree(tmp_path, tmp_path / "elsewhere")
    left.mkdir()
    with pytest.raises(ProjectNotFoundError):
        delete_project_files(tmp_path, "acme", "billing")
    assert not left.exists()


def test_a_marked_project_is_not_listed(folder: Path, tmp_path: Path) -> None:
    assert list_projects(tmp_path, "acme") == ["billing"]
    mark_deleted(folder)

    assert list_projects(tmp_path, "acme") == []


def test_one_who_comes_too_late_does_not_take_away_what_was_started_anew(folder: Path) -> None:
    mark_deleted(folder)
    late = Database(folder / DATABASE_NAME, durability="normal", busy_timeout=1.0)
    with late.write():
        pass
    new = open_project(folder)
    add_memory(new, "new")

    remove_deleted(late)

    assert count(open_project(folder)) == 1


def test_a_project_that_is_not_marked_is_not_removed(folder: Path) -> None:
    opened = open_project(folder)
    remove_deleted(opened.database)

    assert count(open_project(folder)) == 1


def test_eight_processes_that_start_anew_together_finish_the_deletion_once(folder: Path) -> None:
    mark_deleted(folder)
    go = os.pipe()

    def start_anew(number: int) -> None:
        os.read(go[0], 1)
        add_memory(open_project(folder), f"new{number}")

    children = [start(partial(start_anew, number)) for number in range(8)]
    os.write(go[1], b"." * 8)

    assert [exit_code(child) for child in children] == [0] * 8
    assert count(open_project(folder)) == 8
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]


def test_a_damaged_project_can_be_deleted(folder: Path, tmp_path: Path) -> None:
    (folder / DATABASE_NAME).write_bytes(b"not a database at all" * 100)

    delete_project_files(tmp_path, "acme", "billing")

    assert list(folder.parent.iterdir()) == []


def test_a_folder_that_cannot_be_removed_is_named_and_stays_marked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PAUSES", ())
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refusing(99))
        with pytest.raises(ReadOnlyError):
            delete_project_files(tmp_path, "acme", "billing")
    opened = Project(folder, durability="normal", busy_timeout=1.0)
    with pytest.raises(ProjectDeletedError), opened.read():
        pass

    delete_project_files(tmp_path, "acme", "billing")

    assert list(folder.parent.iterdir()) == []


def test_where_open_files_hold_a_folder_in_place_it_is_closed_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_POSIX", False)

    delete_project_files(tmp_path, "acme", "billing")

    assert list(folder.parent.iterdir()) == []


def test_two_that_remove_one_folder_at_once_both_come_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed = tmp_path / "doomed"
    (doomed / "deep").mkdir(parents=True)
    rmtree = shutil.rmtree
    left = [FileNotFoundError(errno.ENOENT, "gone")]

    def racing(folder: Path) -> None:
        if left:
            raise left.pop()
        rmtree(folder)

    monkeypatch.setattr(shutil, "rmtree", racing)
    files.remove_tree(doomed)

    assert not doomed.exists()
