"""Connections and transactions: what they promise when something goes wrong."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BusyError, CorruptionError, StorageError
from reasoningbank.errors import NewerFormatError, ReadOnlyError
from reasoningbank.storage import connections as connections_module
from reasoningbank.storage.connections import AT_ONCE
from reasoningbank.storage.database import Database
from reasoningbank.storage.failures import storage_error
from reasoningbank.storage.project import DATABASE_NAME, Project
from tests.storage.files import (
    NOON,
    add_memory,
    log_file,
    open_project,
    project,
    signal,
    transaction_of_another_thread,
    weights,
    write,
)

__all__ = ["project"]


@contextmanager
def lock_held_elsewhere(project: Project) -> Iterator[None]:
    other = sqlite3.connect(project.folder / DATABASE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# -- writing -------------------------------------------------------------------------------------------------------


def test_a_write_that_waits_too_long_is_told_so_and_leaves_what_was_counted(tmp_path: Path) -> None:
    project = Project.open(tmp_path, tenant="t", project="p", durability="normal", busy_timeout=0.05, create_at=NOON)
    assert project is not None
    add_memory(project)
    write(project, signal(project, ref="e1"))
    before = log_file(project).read_bytes()

    with lock_held_elsewhere(project), pytest.raises(BusyError, match="busy_timeout"), project.write():
        pass

    assert log_file(project).read_bytes() == before
    assert weights(project) == {"outcome": (1.0, 0.0)}


def test_threads_of_one_process_wait_for_each_other_and_give_up_in_time(tmp_path: Path) -> None:
    project = open_project(tmp_path)
    with transaction_of_another_thread(project), pytest.raises(BusyError), project.write():
        pass


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")
def test_failed_attempts_at_the_lock_leave_no_file_open(tmp_path: Path) -> None:
    project = open_project(tmp_path)
    database = Database(tmp_path / DATABASE_NAME, durability="normal", busy_timeout=0.0001)
    with lock_held_elsewhere(project):
        with pytest.raises(BusyError), database.write():
            pass
        before = open_files()
        for _ in range(2_000):
            with pytest.raises(BusyError), database.write():
                pass
        assert open_files() <= before


@contextmanager
def connected_by(project: Project, wrapped: Callable[[sqlite3.Connection], object]) -> Iterator[None]:
    """Let connections be wrapped in the block."""
    connections = project.database._connections
    connections.close_idle()
    with pytest.MonkeyPatch.context() as patched:
        connect = connections._connect
        patched.setattr(connections, "_connect", lambda: wrapped(connect()))
        yield
    connections.close_idle()


def test_an_interrupt_just_after_the_commit_takes_nothing_back(project: Project) -> None:
    add_memory(project)

    class Interrupting:
        """A connection whose COMMIT goes through, and is then interrupted."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def execute(self, statement: str, *values: Any) -> object:
            result = self.real.execute(statement, *values)
            if statement == "COMMIT":
                raise KeyboardInterrupt
            return result

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    with connected_by(project, Interrupting), pytest.raises(KeyboardInterrupt):
        write(project, signal(project, ref="e1"))

    assert len(log_file(project).read_bytes().splitlines()) == 1
    assert weights(project) == {"outcome": (1.0, 0.0)}


def test_a_commit_that_fails_takes_its_lines_back_under_the_lock(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))

    class Failing:
        """A connection whose COMMIT fails and rolls back, as SQLite does on a full disk."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def execute(self, statement: str, *values: Any) -> object:
            if statement == "COMMIT":
                self.real.execute("ROLLBACK")
                raise sqlite3.OperationalError("database or disk is full")
            return self.real.execute(statement, *values)

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    with connected_by(project, Failing), pytest.raises(StorageError):
        write(project, signal(project, ref="e2"))

    assert len(log_file(project).read_bytes().splitlines()) == 1
    write(project, signal(project, ref="e3"))
    assert weights(project) == {"outcome": (2.0, 0.0)}


def test_a_broken_connection_is_not_kept(project: Project) -> None:
    with pytest.raises(StorageError), project.write() as writing:
        writing.connection.close()

    add_memory(project)


# -- closing -------------------------------------------------------------------------------------------------------


def test_a_closed_database_says_so(project: Project) -> None:
    project.close()
    project.close()

    with pytest.raises(StorageError, match="was closed: open a new bank"), project.database.read():
        pass


def test_closing_while_a_read_is_under_way_lets_it_end(project: Project) -> None:
    add_memory(project)
    with project.database.read() as connection:
        project.close()
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (1,)

    with pytest.raises(StorageError, match="was closed"), project.database.read():
        pass


def test_closing_does_not_wait_for_another_writer(tmp_path: Path) -> None:
    project = open_project(tmp_path)
    add_memory(project)

    with lock_held_elsewhere(project):
        project.close()


# -- many threads --------------------------------------------------------------------------------------------------


def in_threads(count: int, act: Callable[[], object]) -> None:
    threads = [threading.Thread(target=act) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_only_a_few_threads_are_in_a_transaction_at_once(project: Project) -> None:
    lent, most = project.database._connections._lent, list[int]()

    def read_often() -> None:
        for _ in range(20):
            with project.database.read() as connection:
                connection.execute("SELECT count(*) FROM memories").fetchone()
                most.append(len(lent))

    in_threads(5 * AT_ONCE, read_often)

    assert len(most) == 100 * AT_ONCE
    assert max(most) <= AT_ONCE


def test_a_thread_that_reads_and_reads_again_meanwhile_does_not_wait_for_itself(project: Project) -> None:
    with ExitStack() as reads:
        for _ in range(2 * AT_ONCE):
            connection = reads.enter_context(project.database.read())
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)


def test_threads_that_wait_for_each_other_go_on_and_only_a_few_idle_connections_are_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections_module, "LONGEST_TURN", 0.05)
    barrier = threading.Barrier(AT_ONCE + 4)

    def read() -> None:
        with project.database.read():
            barrier.wait()

    in_threads(barrier.parties, read)

    assert len(project.database._connections._idle) == AT_ONCE


# -- the file under us ---------------------------------------------------------------------------------------------


def test_a_file_that_was_replaced_is_neither_read_nor_written(project: Project, tmp_path: Path) -> None:
    add_memory(project)
    other = open_project(tmp_path / "other")
    other.close()
    (tmp_path / "other" / DATABASE_NAME).replace(project.folder / DATABASE_NAME)

    with (
        pytest.raises(StorageError, match="removed or replaced while it was open: open a new bank"),
        project.database.read(),
    ):
        pass
    with pytest.raises(StorageError, match="replaced"), project.write():
        pass


def test_looking_for_a_file_that_is_not_there_never_makes_it(tmp_path: Path) -> None:
    for read_only in (True, False):
        database = Database(tmp_path / DATABASE_NAME, durability="normal", busy_timeout=1.0, read_only=read_only)
        with pytest.raises(StorageError, match="is gone or cannot be opened"), database.read():
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone_is_an_error_with_its_path(project: Project) -> None:
    (project.folder / DATABASE_NAME).unlink()

    with pytest.raises(StorageError, match=DATABASE_NAME) as caught, project.database.read():
        pass
    assert caught.value.path == project.folder / DATABASE_NAME


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (OSError(28, "No space left"), StorageError, "no space left for"),
        (OSError(27, "File too large"), StorageError, "no space left for"),
        (OSError(13, "Permission denied"), ReadOnlyError, "cannot be written by this user"),
        (OSError(2, "No such file"), StorageError, "is gone or cannot be opened"),
        (OSError(5, "Input/output error"), StorageError, "could not be used"),
        (sqlite3.DatabaseError("odd"), StorageError, "could not be used: odd"),
    ],
)
def test_what_the_disk_refuses_is_said_with_the_path(error: OSError, kind: type[StorageError], says: str) -> None:
    said = storage_error(error, Path("/data/bank.sqlite3"))

    assert type(said) is kind
    assert says in str(said)
    assert "/data/bank.sqlite3" in str(said)


def test_a_damaged_file_is_named_with_what_to_do(project: Project) -> None:
    add_memory(project)
    project.close()
    path = project.folder / DATABASE_NAME
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)

    def use() -> None:
        add_memory(open_project(project.folder))

    with pytest.raises(CorruptionError, match="restore a backup"):
        use()


def test_a_bank_that_a_newer_version_migrated_meanwhile_is_neither_written_nor_read(project: Project) -> None:
    add_memory(project)
    with closing(sqlite3.connect(project.database.path)) as newer:
        newer.execute("PRAGMA user_version = 999")
        newer.commit()

    with pytest.raises(NewerFormatError, match="format 999"), project.write():
        pass
    with pytest.raises(NewerFormatError, match="format 999"), project.read():
        pass
