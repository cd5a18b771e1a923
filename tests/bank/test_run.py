"""A run in plain Python."""

from __future__ import annotations

import pytest

from reasoningbank import ReasoningBank, Verdict


def test_steps_are_added_as_they_happen_and_become_a_run(bank: ReasoningBank) -> None:
    with bank.episode("count the lines") as run:
        run.step("wc -l log", "No such file", thought="count them", error="No such file")
        run.step("wc -l app.log", "42 app.log")
        run.report("success")

    trajectory = run.trajectory
    assert trajectory.task == "count the lines"
    assert [(step.action, step.observation) for step in trajectory.steps] == [
        ("wc -l log", "No such file"),
        ("wc -l app.log", "42 app.log"),
    ]
    assert trajectory.verdict == "success"


def test_a_run_can_be_distilled_and_found_again(bank: ReasoningBank) -> None:
    with bank.episode("count the lines of app.log") as run:
        run.step("wc -l log", "wc: log: No such file or directory", error="wc: log: No such file or directory")
        run.step("wc -l app.log", "42 app.log")
        run.report("success")
    distilled = bank.distill(run.trajectory)

    assert distilled.status == "done"
    assert bank.count() >= 1


@pytest.mark.parametrize(
    ("end", "verdict"), [(None, Verdict.UNKNOWN), ("failure", Verdict.FAILURE), (True, Verdict.SUCCESS)]
)
def test_a_run_ends_as_it_was_reported_or_unknown(
    bank: ReasoningBank, end: str | bool | None, verdict: Verdict
) -> None:
    with bank.episode("count") as run:
        if end is not None:
            run.report(end)

    assert bank.runs.get(run.ref).verdict is verdict


def test_an_exception_is_a_failure_and_goes_on(bank: ReasoningBank) -> None:
    refs = []

    def broken() -> None:
        with bank.episode("count") as run:
            refs.append(run.ref)
            raise KeyError("lost")

    with pytest.raises(KeyError):
        broken()

    episode = bank.runs.get(refs[0])
    assert (episode.verdict, episode.reason) == (Verdict.FAILURE, "KeyError: 'lost'")


def test_a_verdict_given_elsewhere_is_kept(bank: ReasoningBank) -> None:
    with bank.episode("count") as run:
        bank.report("success", ref=run.ref)

    assert bank.runs.get(run.ref).verdict is Verdict.SUCCESS
