"""The database, the log and the fold together: one project's files."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reasoningbank import NewerFormatError, ScopeError, StorageError
from reasoningbank.errors import ProjectDeletedError
from reasoningbank.signals import SignalKind
from reasoningbank.storage import meta
from reasoningbank.storage.project import DATABASE_NAME, Project
from tests.storage.files import (
    DAY,
    NOON,
    add_memory,
    differences,
    log_file,
    log_health,
    open_project,
    project,
    signal,
    weights,
    write,
)

__all__ = ["project"]


# -- counting --------------------------------------------------------------------------------------------------


def test_a_signal_is_counted_once_however_often_it_comes(project: Project) -> None:
    add_memory(project)

    assert write(project, signal(project), signal(project)) == ["counted", "repeated"]
    assert write(project, signal(project)) == ["repeated"]
    assert weights(project) == {"outcome": (1.0, 0.0)}


def test_an_opposite_verdict_replaces_the_first(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, +1))
    write(project, signal(project, -1))

    assert weights(project) == {"outcome": (0.0, 1.0)}
    assert differences(project) == []


def test_a_withdrawn_signal_counts_no_more(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, +1))
    write(project, signal(project, 0))

    assert weights(project) == {}
    assert differences(project) == []


@pytest.mark.parametrize("vote_first", [True, False])
def test_a_vote_supersedes_the_outcome_of_its_own_episode_in_either_order(project: Project, vote_first: bool) -> None:
    add_memory(project)
    vote, outcome = signal(project, -1, kind=SignalKind.EXPLICIT), signal(project, +1)
    write(project, *((vote, outcome) if vote_first else (outcome, vote)))

    assert weights(project) == {"explicit": (0.0, 1.0), "outcome (superseded)": (1.0, 0.0)}
    assert differences(project) == []


def test_withdrawing_the_vote_brings_the_outcome_back(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, +1), signal(project, -1, kind=SignalKind.EXPLICIT))
    write(project, signal(project, 0, kind=SignalKind.EXPLICIT))

    assert weights(project) == {"outcome": (1.0, 0.0)}


def test_a_signal_about_an_older_text_is_an_orphan(project: Project) -> None:
    add_memory(project)
    old = signal(project)
    with project.write() as writing:
        writing.execute("UPDATE memories SET revision = revision + 1")

    assert write(project, old) == ["orphan"]


def test_a_usage_without_its_episode_is_an_orphan(project: Project) -> None:
    add_memory(project)
    usage = signal(project, kind=SignalKind.USAGE, ref="never opened")

    assert write(project, usage) == ["orphan"]
    assert log_health(project).orphans == 1


def test_votes_confirm_and_refute_the_kinds_they_validate_once(project: Project) -> None:
    add_memory(project)
    kinds = (SignalKind.USAGE, SignalKind.OUTCOME)
    write(project, signal(project, +1, kind=SignalKind.EXPLICIT, validates=kinds))
    write(project, signal(project, +1, kind=SignalKind.EXPLICIT, validates=kinds))
    write(project, signal(project, -1, kind=SignalKind.EXPLICIT, ref="e2", validates=kinds))

    with project.read() as reading:
        rows = reading.execute("SELECT kind, confirmed, refuted FROM validations ORDER BY kind").fetchall()
    assert rows == [("outcome", 1, 1), ("usage", 1, 1)]


# -- the log -----------------------------------------------------------------------------------------------------


def test_a_line_whose_writer_was_killed_before_the_commit_is_counted_by_the_next_write(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))
    project.ledger.log.append(project.ledger.log.segments()[-1], [signal(project, ref="e2")])

    write(project, signal(project, ref="e3"))

    assert weights(project) == {"outcome": (3.0, 0.0)}


def test_a_segment_whose_maker_was_killed_before_the_commit_is_counted(project: Project) -> None:
    from reasoningbank.signals import day_number
    from reasoningbank.storage.signal_log import segment_of

    add_memory(project)
    project.ledger.log.append(segment_of(1, day_number(NOON - DAY)), [signal(project, ref="e1")])

    write(project, signal(project, ref="e2"))

    assert [s.number for s in project.ledger.log.segments()] == [1, 2]
    assert weights(project) == {"outcome": (2.0, 0.0)}


def test_a_position_behind_the_end_is_set_back_and_skips_nothing_that_comes(project: Project) -> None:
    add_memory(project)
    write(project, *(signal(project, ref=f"e{i}") for i in range(5)))
    file = log_file(project)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))

    for i in range(5, 9):
        write(project, signal(project, ref=f"e{i}"))

    assert weights(project) == {"outcome": (9.0, 0.0)}
    assert log_health(project).set_back == 1


def test_a_failed_transaction_takes_its_lines_back(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))

    def write_and_fail() -> None:
        with project.write() as writing:
            writing.write_signals([signal(project, ref="e2")], NOON)
            raise RuntimeError("something went wrong later")

    with pytest.raises(RuntimeError, match="later"):
        write_and_fail()

    assert len(log_file(project).read_bytes().splitlines()) == 1
    write(project, signal(project, ref="e3"))
    assert weights(project) == {"outcome": (2.0, 0.0)}


def test_a_new_day_begins_a_new_segment(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))
    write(project, signal(project, ref="e2"), now=NOON + DAY)

    assert [s.name for s in project.ledger.log.segments()] == ["000001-2026-03-14.jsonl", "000002-2026-03-15.jsonl"]


def test_a_clock_that_steps_back_over_midnight_goes_on_in_the_newest_segment(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, -1), now=NOON + DAY)
    write(project, signal(project, +1), now=NOON)

    assert len(project.ledger.log.segments()) == 1
    assert weights(project) == {"outcome": (1.0, 0.0)}
    project.refold()
    assert weights(project) == {"outcome": (1.0, 0.0)}


def test_a_day_far_in_the_future_does_not_hold_all_that_follows(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"), now=datetime(2999, 1, 1, tzinfo=UTC))
    write(project, signal(project, ref="e2"), now=NOON)

    assert [s.name for s in project.ledger.log.segments()] == ["000001-2999-01-01.jsonl", "000002-2026-03-14.jsonl"]


# -- opening ------------------------------------------------------------------------------------------------------


def test_looking_for_a_project_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    opened = Project.open(tmp_path / "p", tenant="t", project="p", durability="normal", busy_timeout=1.0)

    assert opened is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_another_scope_is_refused(project: Project) -> None:
    with pytest.raises(ScopeError, match="belongs to project 'billing' of tenant 'acme'"):
        open_project(project.folder, tenant="acme", project="other")


def test_a_newer_format_is_refused_and_left_alone(project: Project) -> None:
    project.close()
    path = project.folder / DATABASE_NAME
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()

    with pytest.raises(NewerFormatError, match="upgrade reasoningbank-core"):
        open_project(project.folder)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"not a database at all" * 100)

    with pytest.raises(StorageError, match=DATABASE_NAME):
        open_project(tmp_path)


def test_a_deleted_project_refuses_every_call(project: Project) -> None:
    with project.write() as writing:
        meta.put(writing, "deleted", "1")

    with pytest.raises(ProjectDeletedError), project.read():
        pass
    with pytest.raises(ProjectDeletedError), project.write():
        pass


def test_writing_to_a_folder_that_was_removed_is_an_error_with_its_path(project: Project) -> None:
    import shutil

    shutil.rmtree(project.folder)

    with pytest.raises(StorageError, match=DATABASE_NAME), project.write():
        pass


def test_the_files_an_aborted_creation_left_are_not_in_the_way(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / f".{DATABASE_NAME}-1-2-abc").write_bytes(b"half made")

    open_project(folder).close()
