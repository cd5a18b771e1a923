"""Making, deleting and starting anew a project, whole or not at all."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path

import pytest

from reasoningbank import CorruptionError, StorageError
from reasoningbank.errors import ReadOnlyError
from reasoningbank.storage import files, lifecycle, meta
from reasoningbank.storage.lifecycle import create_database
from reasoningbank.storage.project import DATABASE_NAME, Project
from tests.processes import exit_code, start
from tests.storage.files import add_memory, count, open_project, refusing

META = {"tenant": "acme", "project": "billing", "created_at": "2026-03-14T12:00:00.000000Z"}


def owner(path: Path) -> str:
    project = Project(path.parent, durability="normal", busy_timeout=1.0)
    with project.read() as reading:
        found = meta.read(reading)["project"]
    project.close()
    return found


# -- making ----------------------------------------------------------------------------------------------------------


def test_the_first_of_two_makers_wins_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_NAME
    create_database(path, META)
    create_database(path, META | {"project": "other"})

    assert owner(path) == "billing"
    assert [entry.name for entry in tmp_path.iterdir()] == [DATABASE_NAME]


def test_eight_processes_that_make_a_project_together_make_one(tmp_path: Path) -> None:
    ready, go = os.pipe(), os.pipe()

    def make(number: int) -> None:
        os.write(ready[1], b".")
        os.read(go[0], 1)
        opened = open_project(tmp_path / "p")
        add_memory(opened, f"m{number}")
        opened.close()

    children = [start(partial(make, number)) for number in range(8)]
    for _ in children:
        os.read(ready[0], 1)
    os.write(go[1], b"." * 8)

    assert [exit_code(child) for child in children] == [0] * 8
    assert count(open_project(tmp_path / "p")) == 8


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def no_links(source: Path, target: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / DATABASE_NAME
    create_database(path, META)
    create_database(path, META | {"project": "other"})

    assert owner(path) == "billing"
    assert [entry.name for entry in tmp_path.iterdir()] == [DATABASE_NAME]


def test_what_killed_makers_left_is_swept_away(tmp_path: Path) -> None:
    (tmp_path / f".new-{DATABASE_NAME}-0a1b2c3d").write_bytes(b"half made")
    (tmp_path / f".new-{DATABASE_NAME}-0a1b2c3d-wal").write_bytes(b"half made")

    open_project(tmp_path).close()

    assert [entry.name for entry in tmp_path.iterdir()] == [DATABASE_NAME]


def test_a_maker_whose_file_was_swept_away_by_the_first_takes_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / DATABASE_NAME
    build = lifecycle._build

    def build_and_be_second(made: Path, meta: dict[str, str]) -> None:
        build(made, meta)
        monkeypatch.setattr(lifecycle, "_build", build)
        create_database(path, META | {"project": "first"})

    monkeypatch.setattr(lifecycle, "_build", build_and_be_second)
    create_database(path, META)

    assert owner(path) == "first"


def test_a_write_ahead_log_without_its_database_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE_NAME}-wal").write_bytes(b"pages of a database that is gone")

    with pytest.raises(CorruptionError, match="put the file or a backup of it back, or move"):
        open_project(tmp_path)

    assert not (tmp_path / DATABASE_NAME).exists()


def test_an_empty_write_ahead_log_of_one_who_came_too_late_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE_NAME}-wal").touch()

    add_memory(open_project(tmp_path))

    assert count(open_project(tmp_path)) == 1


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StorageError, match="file"):
        open_project(tmp_path / "file" / "p")


# -- renaming --------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(files, "_PAUSES", (0.0, 0.0, 0.0))
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    return tmp_path / "new", tmp_path / "old"


def test_a_rename_that_is_refused_for_a_moment_is_tried_again(
    two_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", refusing(2))
    files.rename(*two_files)

    assert two_files[1].read_text() == "new"


def test_a_rename_that_stays_refused_is_an_error_and_the_old_file_stays(
    two_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", refusing(99))
    with pytest.raises(PermissionError):
        files.rename(*two_files)

    assert two_files[1].read_text() == "old"


def test_a_backup_that_cannot_be_put_into_place_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_project(tmp_path / "p")
    add_memory(project)
    monkeypatch.setattr(files, "_PAUSES", ())
    monkeypatch.setattr(os, "replace", refusing(99))

    with pytest.raises(ReadOnlyError, match="backup"):
        project.backup(tmp_path / "backup")

    assert [entry.name for entry in tmp_path.iterdir()] == ["p"]
    assert count(project) == 1
