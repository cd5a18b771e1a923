"""A forked child and its parent use one project without harm to each other."""

from __future__ import annotations

import os
import threading

import pytest

from reasoningbank import StorageError
from reasoningbank.storage import connections as connections_module
from reasoningbank.storage import meta
from reasoningbank.storage.project import Project
from tests.processes import exit_code, in_child, start
from tests.storage.files import add_memory, count, open_project, project, transaction_of_another_thread

__all__ = ["project"]


def test_what_a_child_writes_stays_when_the_parent_closes(project: Project) -> None:
    add_memory(project)
    first, second = os.pipe(), os.pipe()

    def write_before_and_after() -> None:
        add_memory(project, "before")
        os.write(first[1], b".")
        os.read(second[0], 1)
        add_memory(project, "after")

    child = start(write_before_and_after)
    os.read(first[0], 1)
    project.close()
    os.write(second[1], b".")
    assert exit_code(child) == 0

    anew = open_project(project.folder)
    assert count(anew) == 3


def test_a_fork_waits_for_the_transactions_of_other_threads(project: Project) -> None:
    with transaction_of_another_thread(project) as leave:
        threading.Timer(0.2, leave.set).start()

        assert in_child(lambda: add_memory(project, "child")) == 0
    add_memory(project, "parent")
    assert count(project) == 2


def test_a_child_forked_in_the_middle_of_a_transaction_refuses_and_harms_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections_module, "FORK_WAIT", 0.05)

    def refused() -> None:
        with pytest.raises(StorageError, match="forked in the middle of a transaction"), project.read():
            pass

    with transaction_of_another_thread(project):
        assert in_child(refused) == 0
    with project.read() as reading:
        assert meta.read(reading)["x"] == "y"


def test_a_child_forked_inside_a_transaction_of_its_own_thread_leaves_it_to_the_parent(project: Project) -> None:
    with project.write() as writing:
        meta.put(writing, "x", "y")

        def refused() -> None:
            with pytest.raises(StorageError, match="forked in the middle"), project.read():
                pass

        assert in_child(refused) == 0

    with project.read() as reading:
        assert meta.read(reading)["x"] == "y"
