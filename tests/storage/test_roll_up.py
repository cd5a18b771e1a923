"""Old segments are folded for good, and no confidence changes by it."""

from __future__ import annotations

from datetime import UTC, datetime

from reasoningbank.storage import episodes
from reasoningbank.storage.project import Project
from tests.storage.files import (
    DAY,
    NOON,
    add_memory,
    differences,
    log_file,
    log_health,
    project,
    signal,
    weights,
    write,
)

__all__ = ["project"]


def test_roll_up_deletes_old_segments_and_changes_no_weight(project: Project) -> None:
    add_memory(project)
    for days in range(40):
        write(project, signal(project, (-1) ** days, ref=f"e{days}"), now=NOON + days * DAY)
    before = weights(project)

    rolled = project.roll_up(NOON + 39 * DAY, keep_days=30)

    assert len(rolled) == 9
    assert len(project.ledger.log.segments()) == 31
    assert weights(project) == before
    assert differences(project) == []
    assert project.roll_up(NOON + 39 * DAY, keep_days=30) == []


def test_a_segment_with_a_bad_line_is_kept(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))
    with log_file(project).open("ab") as file:
        file.write(b"not a signal\n")
    write(project, signal(project, ref="e2"))
    write(project, signal(project, ref="e3"), now=NOON + 60 * DAY)

    assert project.roll_up(NOON + 60 * DAY, keep_days=30) == []
    assert log_health(project).bad == 1


def test_a_segment_that_is_put_back_after_roll_up_does_not_count_again(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"))
    file = log_file(project)
    lines = file.read_bytes()
    write(project, signal(project, ref="e2"), now=NOON + 60 * DAY)
    project.roll_up(NOON + 60 * DAY, keep_days=30)
    file.write_bytes(lines)

    write(project, signal(project, ref="e3"), now=NOON + 60 * DAY)
    assert log_health(project).strays == (file.name,)
    project.refold()

    assert weights(project) == {"outcome": (3.0, 0.0)}


def test_the_newest_segment_is_never_rolled_up(project: Project) -> None:
    add_memory(project)
    write(project, signal(project))

    assert project.roll_up(NOON + 400 * DAY, keep_days=30) == []


def test_a_segment_of_a_wrong_future_day_is_as_old_as_the_ones_after_it(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1"), now=datetime(2999, 1, 1, tzinfo=UTC))
    write(project, signal(project, ref="e2"), now=NOON)
    write(project, signal(project, ref="e3"), now=NOON + 60 * DAY)

    assert len(project.roll_up(NOON + 60 * DAY, keep_days=30)) == 2


def test_evidence_that_is_rolled_up_seals_its_episode(project: Project) -> None:
    add_memory(project)
    with project.write() as writing:
        episodes.open_episode(writing, ref="e", task="t", thread=None, served=[], tokens=0, now=NOON)
    write(project, signal(project))
    write(project, signal(project, ref="e2"), now=NOON + 60 * DAY)
    project.roll_up(NOON + 60 * DAY, keep_days=30)

    with project.read() as reading:
        assert episodes.is_sealed(reading, "e")
        assert not episodes.is_sealed(reading, "e2")
