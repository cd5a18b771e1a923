"""How runs ended, from where people already judge: scores, records, exit codes and test reports."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank, Verdict
from reasoningbank.adapters import check_result

TASK = "quote the paths in the shell"
PASSED, FAILED = "<testsuite><testcase/></testsuite>", "<testsuite><testcase><failure/></testcase></testsuite>"


@pytest.fixture
def lesson(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Quote every path in the shell: names hold blanks", outcome="success").memory.id


@pytest.mark.parametrize(
    ("said", "verdict", "reason", "by"),
    [
        (0.9, Verdict.SUCCESS, "", ""),
        ({"key": "correctness", "score": 0.2, "comment": "wrong total"}, Verdict.FAILURE, "wrong total", "correctness"),
        ({"criteria": {"right": True, "polite": False}}, Verdict.UNKNOWN, "right: success polite: failure", ""),
        (SimpleNamespace(returncode=1), Verdict.FAILURE, "exit code 1", ""),
        (PASSED, Verdict.SUCCESS, "1 passed", ""),
    ],
)
def test_a_report_takes_what_evaluators_and_test_runners_say(
    bank: ReasoningBank, lesson: str, said: Any, verdict: Verdict, reason: str, by: str
) -> None:
    reported = bank.report(said, ref=bank.recall(TASK).ref)

    assert (reported.episode.verdict, reported.episode.reason, reported.episode.by) == (verdict, reason, by)
    assert reported.credited == (() if verdict is Verdict.UNKNOWN else (lesson,))


def test_own_words_stand_before_those_of_the_record(bank: ReasoningBank, lesson: str) -> None:
    said = {"key": "correctness", "score": 1, "comment": "fine"}
    episode = bank.report(said, ref=bank.recall(TASK).ref, reason="checked by hand", by="ada").episode

    assert (episode.reason, episode.by) == ("checked by hand", "ada")


def test_a_score_near_one_half_moves_a_belief_less(bank: ReasoningBank) -> None:
    moved = []
    for score in (1.0, 0.6):
        memory = bank.record(f"Lesson {score}", f"{TASK}, in the way of {score}", outcome="success").memory
        bank.report(score, ref=bank.recall(f"Lesson {score}", 1).ref)
        moved.append(bank.get(memory.id).confidence - memory.confidence)

    assert moved[0] > 2.0 * moved[1] > 0.0


@pytest.mark.parametrize("said", [None, 7, {}, "<testsuite>", "perhaps"])
def test_what_says_nothing_of_a_run_is_refused(bank: ReasoningBank, lesson: str, said: Any) -> None:
    with pytest.raises(InvalidInputError):
        bank.report(said, ref=bank.recall(TASK).ref)


def test_a_check_carries_its_kind(bank: ReasoningBank, lesson: str, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(FAILED, "utf-8")
    with bank.episode(TASK) as run:
        assert run.check("pytest", exit_code=0).credited == (lesson,)
        assert run.trajectory.verdict is Verdict.SUCCESS
        assert bank.runs.get(run.ref).by == "pytest"
        run.check("ui tests", junit=tmp_path / "report.xml")
        run.check("approval", True)
    episode = bank.runs.get(run.ref)

    assert (episode.verdict, episode.by, episode.reason) == (Verdict.FAILURE, "ui tests", "1 failed")


def test_a_check_that_passes_at_last_replaces_its_failure(bank: ReasoningBank, lesson: str) -> None:
    with bank.episode(TASK) as run:
        run.check("pytest", exit_code=1)
        run.check("pytest", exit_code=0)
        run.check("mypy", exit_code=130)

    assert bank.runs.get(run.ref).verdict is Verdict.SUCCESS


def test_a_check_that_was_not_carried_out_says_nothing(bank: ReasoningBank, lesson: str) -> None:
    with bank.episode(TASK) as run:
        assert run.check("pytest", exit_code=5).episode.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "given", [{}, {"result": True, "exit_code": 0}, {"exit_code": "0"}, {"exit_code": True}, {"junit": "no such.xml"}]
)
def test_a_check_needs_exactly_one_thing_that_it_says(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        check_result("pytest", **{"result": None, **given})


def test_a_check_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"kind|name"):
        check_result(None, True)


def test_kinds_of_checks_are_told_apart_in_what_is_learned(bank: ReasoningBank) -> None:
    """A check that fails whatever was handed out weighs less than one that depends on it, with the same counts."""
    helps = bank.record("Quote paths", "Quote every path in the shell: names hold blanks", outcome="success").memory
    for number in range(120):
        recall = bank.recall(TASK, ref=f"r{number}", holdout=0.5)
        by = "mypy" if number % 2 else "pytest"
        bank.report(number % 4 < 2 if by == "mypy" else not recall.held_out, ref=recall.ref, by=by)
    learned = dict(bank.upkeep.status().parameters["reporters"])  # type: ignore[index]

    assert learned["mypy"] < learned["pytest"] == 1.0
    assert bank.get(helps.id).confidence > 0.5
