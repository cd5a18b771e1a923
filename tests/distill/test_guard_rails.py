"""What a failed run teaches: one thing, the most telling first."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import Verdict
from reasoningbank.distill.template import TemplateDistiller
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Step
from tests.distill.test_template import BUILD, BUILT, LOOK, NPM, PAID, REFUSED, lesson, run

RUNS_BUILD = {"task": "Build it."}
TESTS = Step(action="pytest -q", error="E   assert 2 == 3")
EDIT = Step(action='edit({"path": "a.py"})', tool="edit")
CHANGE = Step(action="update_it()", tool="update_it")
ESCALATE = Step(action="escalate()", tool="escalate")


@pytest.mark.parametrize("verdict", ["failure", "partial"])
def test_a_reason_is_a_guard_rail_also_without_steps(verdict: str) -> None:
    reason = "Wrong bucket: compare the full name first."
    draft = lesson(run(verdict=verdict, task="Clean the bucket", reason=reason))

    assert draft.title == "Avoid: Wrong bucket: compare the full name first."
    assert draft.content.splitlines() == [
        "Task: Clean the bucket",
        "What went wrong: Wrong bucket: compare the full name first.",
        "Warning: Check this before finishing.",
    ]
    assert draft.outcome is Verdict.FAILURE
    assert "Wrong bucket" in lesson(run(verdict=verdict, task="", reason=reason)).content


@pytest.mark.parametrize("reason", ["", "0.0", "failed", "reward: 0"])
def test_a_reason_that_says_nothing_is_none(reason: str) -> None:
    assert TemplateDistiller().distill(run(verdict="failure", reason=reason)).status is DistillStatus.EMPTY


@pytest.mark.parametrize(
    ("steps", "fields", "title", "wrong", "instead"),
    [
        (
            [EDIT, TESTS],
            {"task": "Fix it."},
            "pytest -q: assert 2 == 3",
            "It ended while pytest -q still failed: assert 2 == 3.",
            "Do not finish before pytest -q passes; run it after each change.",
        ),
        (
            [BUILD, NPM, BUILT],
            RUNS_BUILD,
            "docker build .: failed to solve: npm ci",
            "docker build . first failed: failed to solve: npm ci; it worked after: npm install.",
            "When docker build . says so, go on with: npm install.",
        ),
        (
            [TESTS, EDIT, Step(action="pytest -q")],
            RUNS_BUILD,
            "pytest -q: assert 2 == 3",
            "pytest -q first failed: assert 2 == 3; it worked after: edit a.py.",
            "When pytest -q says so, change what it names (edit a.py) and run it again.",
        ),
        (
            [Step(action="pip install x==9", error="ERROR: no version"), Step(action="pip install x==1")],
            RUNS_BUILD,
            "pip install x==9: no version",
            "pip install x==9 first failed: no version; what worked instead: pip install x==1.",
            "When pip install x==9 says so, go on with: pip install x==1.",
        ),
        (
            [BUILD, BUILT],
            RUNS_BUILD,
            "docker build .: failed to solve: npm ci",
            "docker build . first failed: failed to solve: npm ci; the same worked when it was tried again.",
            "When docker build . says so, try it once more before taking another way.",
        ),
        (
            [REFUSED, PAID],
            {"task": "Settle it."},
            "pay: not enough",
            "pay first failed: not enough; with another amount it worked.",
            "When pay says so, look at amount first.",
        ),
        (
            [BUILD, NPM, BUILT, REFUSED, REFUSED],
            RUNS_BUILD,
            "pay: not enough",
            "pay failed 2 times for good: not enough.",
            "Settle that before calling pay, and change the way after one such answer.",
        ),
        (
            [REFUSED, LOOK],
            {"task": "Settle it."},
            "pay: not enough",
            "pay failed for good: not enough.",
            "Settle that before calling pay, and change the way after one such answer.",
        ),
        (
            [LOOK] * 3,
            {},
            "Do not repeat look",
            "look was done 3 times with the same outcome.",
            "When look shows nothing new, take another way.",
        ),
        (
            [LOOK, Step(thought="It can't be done.", action="escalate()", tool="escalate")],
            {},
            "Try book before handing over: Book the cheapest flight to Rome and…",
            "It handed the task over after saying: It can't be done.",
            "Hand over only after trying book by itself.",
        ),
        (
            [LOOK, ESCALATE],
            {},
            "Try book before handing over: Book the cheapest flight to Rome and…",
            "It handed the task over.",
            "Hand over only after trying book by itself.",
        ),
        (
            [LOOK],
            {},
            "Do not leave undone: book",
            "It only looked; no step did book.",
            "Do or explicitly rule out: book.",
        ),
        (
            [CHANGE],
            {"task": "Look at it."},
            "Check after update_it: Look at it.",
            "Nothing was looked at or run after update_it.",
            "After update_it, compare what it did with each request.",
        ),
        (
            [EDIT],
            {"task": "Fix it."},
            "Check after edit a.py: Fix it.",
            "Nothing was looked at or run after edit a.py.",
            "After edit a.py, run the tests or the program.",
        ),
    ],
)
def test_a_guard_rail_says_what_this_run_shows(
    steps: list[Step], fields: dict[str, Any], title: str, wrong: str, instead: str
) -> None:
    draft = lesson(run(*steps, verdict="failure", **fields))

    assert draft.title == title
    assert f"What went wrong: {wrong}\n" in draft.content
    assert draft.content.endswith(f"Warning: {instead}")
