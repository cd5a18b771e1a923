"""Which errors of its run a lesson answers: those that were overcome, and that it speaks of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank import Draft, LLMDistiller, ReasoningBank, Trajectory, Verdict
from reasoningbank.distill.answering import answered_by, overcome

YAML = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"
FAILED = ("python load.py", YAML)


def run(*acts: tuple[str, str]) -> Trajectory:
    steps = [{"action": action, "observation": output} for action, output in acts]
    return Trajectory.of({"task": "Load the rows", "steps": steps, "verdict": "success"})


MENDED = run(FAILED, ("pip install pyyaml", "Successfully installed pyyaml"), ("python load.py", "12 rows"))


@pytest.mark.parametrize(
    "following",
    [
        [("ls", "load.py")],
        [("cat load.py", "import yaml")],
        [("git status", "clean")],
        [("git push", "done")],
        [("python report.py --monthly", "written")],
        [("npm run build", "built")],
        [("echo done", "done")],
        [("pip install pyyaml", "Successfully installed pyyaml")],
        [("pip install pyyaml", "Successfully installed pyyaml"), ("python other_thing.py -x", "ok")],
        [("pip install pyyaml", "ERROR: no network"), ("python load.py", YAML)],
        [("python load.py", "12 rows")],
        [("ls", "load.py"), ("cat load.py", "import yaml"), ("python load.py", "12 rows")],
        [],
    ],
)
def test_what_comes_after_a_failure_is_most_often_no_answer_to_it(following: list[tuple[str, str]]) -> None:
    assert overcome(run(FAILED, *following)) == []


@pytest.mark.parametrize(
    "following",
    [
        [("pip install pyyaml", "Successfully installed pyyaml"), ("python load.py", "12 rows")],
        [("pip install pyyaml", "Successfully installed"), ("ls", "load.py"), ("python load.py", "12 rows")],
        [("sed -i s/yaml/json/ load.py", ""), ("python load.py", "12 rows")],
    ],
)
def test_a_failure_a_change_and_a_success_of_the_same_are_a_pair(following: list[tuple[str, str]]) -> None:
    (pair,) = overcome(run(FAILED, *following))

    assert "yaml" in pair.said


def lesson(title: str, content: str, **more: Any) -> Draft:
    return Draft(title=title, content=content, outcome=Verdict.SUCCESS, **more)


@pytest.mark.parametrize(
    ("title", "content", "answers"),
    [
        ("Install missing modules", "When an import fails, install the package and run it again.", True),
        ("A script cannot load", "Install the package that it is missing.", True),
        ("When python complains", "Read which module is missing, and install it.", True),
        ("Load rows in one go", "Read the whole table before it is counted.", False),  # of no failure
        ("Back up first", "A failed migration is restored from the backup.", False),  # of another failure
        ("Retry later", "When the network fails, wait a minute.", False),
    ],
)
def test_a_lesson_in_free_words_answers_the_failure_that_it_speaks_of(title: str, content: str, answers: bool) -> None:
    assert bool(answered_by(lesson(title, content), [MENDED])) is answers


def test_a_lesson_that_names_an_error_answers_that_one_and_a_run_without_a_pair_gives_none() -> None:
    named = lesson("Install PyYAML", "Seen as: ModuleNotFoundError: No module named 'toml'")
    plain = lesson("Install missing modules", "When an import fails, install the package.")

    assert answered_by(named, [MENDED]) is None
    assert answered_by(plain, [run(FAILED, ("ls", "load.py"))]) is None


def test_a_model_s_lesson_is_found_at_the_error_that_its_run_overcame(bank: ReasoningBank) -> None:
    items = [
        {"title": "Install missing modules", "content": "When an import fails, install the package and run it again."},
        {"title": "Back up first", "content": "Before dropping a table, write a backup."},
    ]
    distiller = LLMDistiller(lambda _: json.dumps({"memories": items}))

    drawn = bank.distill(MENDED, "success", distiller=distiller)

    assert [memory.signatures for memory in drawn.memories] == [("ModuleNotFoundError: No module named 'yaml'",), ()]
    found = bank.recall_failure(YAML, command="python export.py", exit_code=1)
    assert (found.match, [memory.title for memory in found.memories]) == ("exact", ["Install missing modules"])
