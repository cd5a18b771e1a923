"""The demonstration as a whole: it learns, and without memory it does not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from examples.demo.__main__ import main
from examples.demo.failing import Failed
from examples.demo.rounds import Event, Finished, Learned, Measured, Step, run
from examples.demo.tasks import TASKS
from reasoningbank import BankRoot
from tests.cli.conftest import Cli, cli, scope  # noqa: F401 - fixtures


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    root = tmp_path_factory.mktemp("demo")
    with BankRoot(root, tenant="demo", embedder="hash") as banks:
        emptied = banks.open("emptied")
        emptied.delete(emptied.record("Do not split lines", "at the commas with cut", outcome="failure").memory.id)
        return list(run(banks.open("demo"), emptied))


def finished(events: list[Event]) -> Finished:
    return next(event for event in events if isinstance(event, Finished))


def steps(events: list[Event], number: int) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and event.round == number]


def test_it_passes_more_with_memory_and_no_more_without(events: list[Event]) -> None:
    figures = finished(events).figures

    assert figures.after > figures.before
    assert figures.after_without_memory == figures.before
    assert 0 < figures.before < figures.after < 1


def test_every_failure_became_a_lesson_and_every_task_asked(events: list[Event]) -> None:
    failures = [step.task.name for step in steps(events, 1) if not step.attempt.passed]

    assert [event.task.name for event in events if isinstance(event, Learned)] == failures
    assert finished(events).figures.memories == len(failures)
    assert finished(events).figures.recalls == 2 * len(TASKS)


def test_a_lesson_comes_up_when_a_command_fails_and_gains_when_it_helped(events: list[Event]) -> None:
    (failed,) = [event for event in events if isinstance(event, Failed)]

    assert failed.recall.match in ("exact", "template")
    assert failed.repaired
    assert failed.after > failed.before


def test_at_its_end_it_says_what_lessons_do(events: list[Event]) -> None:
    failed, measured, end = events[-3:]

    assert isinstance(failed, Failed)
    assert isinstance(measured, Measured)
    assert isinstance(end, Finished)
    assert measured.lift.overall is not None
    assert measured.lift.overall.difference is not None
    assert measured.lift.overall.difference > 0.2
    assert "they help" in measured.lift.words


def test_without_hits_it_does_what_it_is_used_to(events: list[Event]) -> None:
    unread = [step for number in (1, 2, 3) for step in steps(events, number) if not step.recall.hits]

    assert len(unread) >= 2 * len(TASKS)
    assert [step.task.name for step in unread if step.changed] == []


def test_what_it_followed_gained_when_it_helped_and_ended_below_that_when_it_misled(events: list[Event]) -> None:
    moved = {before.id: now.confidence - before.confidence for before, now in finished(events).moved}
    ended: dict[str, set[bool]] = defaultdict(set)
    for step in steps(events, 2):
        for memory_id in step.followed:
            ended[memory_id].add(step.attempt.passed)
    helped = [moved[memory_id] for memory_id, passed in ended.items() if passed == {True}]
    misled = [moved[memory_id] for memory_id, passed in ended.items() if passed == {False}]

    assert len(helped) >= 5
    assert misled
    # Most of what failures taught helps here, which the bank learns too: what misled may rise, but not as far.
    assert min(helped) > max(0.0, *misled)


# -- in a terminal -------------------------------------------------------------------------------------------------


def test_it_tells_the_story_and_where_the_data_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with BankRoot(tmp_path, tenant="demo", embedder="hash") as banks:
        banks.open("demo").record("Mine", "A lesson of my own in a project of that name", outcome="success")
    monkeypatch.setattr("sys.argv", ["demo", "--root", str(tmp_path), "--embedder", "hash"])

    main()

    out = capsys.readouterr().out
    for part in ("Round 1", "Round 2", "Round 3", "csv-total", "recalled", "so it did", "before", "after", "→"):
        assert part in out
    assert f"reasoningbank list --root '{tmp_path}' --tenant demo --project demo-2" in out
    long = [line for line in out.splitlines() if len(line) > 80]
    assert all("data is in" in line or "Look at it" in line for line in long)
    with BankRoot(tmp_path, tenant="demo", embedder="hash") as banks:
        assert sorted(banks.projects()) == ["demo", "demo-2"]
        assert banks.open("demo").count() == 1
