"""The tasks are real: files, commands and checks in a folder."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from examples.demo.task import Approach, Task, attempt, py, sh
from examples.demo.tasks import TASKS
from examples.demo.tasks.easy import COUNT

HOPELESS = {"distinct-names"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_works_works_in_both_variants(task: Task, tmp_path: Path) -> None:
    folders = (tmp_path / str(n) for n in itertools.count())
    passed = [
        [attempt(task, approach, next(folders), variant).passed for approach in task.approaches] for variant in (0, 1)
    ]

    assert passed[0] == passed[1]
    assert any(passed[0]) == (task.name not in HOPELESS)


def test_most_tasks_fail_at_first_and_a_few_succeed(tmp_path: Path) -> None:
    passed = [attempt(task, task.approaches[0], tmp_path / task.name, 1).passed for task in TASKS]

    assert len(TASKS) >= 8
    assert 0 < sum(passed) < len(TASKS) / 2


def test_the_two_wordings_differ() -> None:
    assert [task.name for task in TASKS if task.words[0] == task.words[1]] == []


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (sh("echo no such thing in $PWD >&2; exit 3"), "no such thing in ."),
        (sh("exit 3"), "it ended with exit code 3"),
        (("reasoningbank-no-such-program",), "No such file or directory: 'reasoningbank-no-such-program'"),
        (sh("true"), "the answer was empty, but 3 is right"),
        (py("print(4)"), "the answer was 4, but 3 is right"),
    ],
)
def test_what_goes_wrong_is_told_in_words(command: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    tried = attempt(COUNT, Approach("try", command), tmp_path / "t", 0)

    assert not tried.passed
    assert tried.problem.endswith(problem)
