"""How runs of a framework end, and what their episodes are told."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import numpy as np
import pytest

from reasoningbank import ReasoningBank, Verdict
from reasoningbank.adapters import RunOutcomes, is_neutral


class GraphInterrupt(Exception):  # noqa: N818 - named as the framework names it
    """Stands for a framework's own way to pause."""


@pytest.fixture
def ref(bank: ReasoningBank) -> str:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    return bank.recall("put paths in quotes", thread="t").ref


def outcomes(bank: ReasoningBank, ref: str, **options: Any) -> RunOutcomes:
    made = RunOutcomes(**options)
    made.runs.begin("root", None, thread="t")
    made.runs.begin("node", "root")
    made.opened("node", bank, ref)
    return made


def verdict(bank: ReasoningBank, ref: str) -> Verdict | None:
    return bank.runs.get(ref).verdict


def good(given: object) -> bool:
    return given == "good"


async def good_in_a_while(given: object) -> bool:
    await asyncio.sleep(0)
    return given == "good"


def broken(given: object) -> bool:
    raise ValueError("no idea")


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (None, Verdict.UNKNOWN),
        (good, Verdict.SUCCESS),
        (lambda given: "failure", Verdict.FAILURE),
        (lambda given: None, Verdict.UNKNOWN),
        (lambda given: {"key": "k", "score": np.True_, "comment": "c"}, Verdict.SUCCESS),
        (lambda given: 0.2, Verdict.FAILURE),
        (good_in_a_while, Verdict.SUCCESS),
    ],
)
def test_a_run_that_ended_is_judged_by_what_it_gave(
    bank: ReasoningBank, ref: str, judge: Any, expected: Verdict
) -> None:
    made = outcomes(bank, ref, judge=judge)
    made.finished("node", "not the root")
    assert verdict(bank, ref) is None

    made.finished("root", "good")
    assert verdict(bank, ref) is expected
    assert len(made.runs) == 0


async def broken_in_a_while(given: object) -> bool:
    raise ValueError("no idea")


@pytest.mark.parametrize("judge", [broken, broken_in_a_while, lambda given: "no idea", lambda given: ["no idea"]])
def test_a_judge_that_fails_is_one_warning_and_the_verdict_is_unknown(
    bank: ReasoningBank, ref: str, caplog: pytest.LogCaptureFixture, judge: Any
) -> None:
    outcomes(bank, ref, judge=judge).finished("root", "x")

    assert verdict(bank, ref) is Verdict.UNKNOWN
    assert ["no idea" in record.message for record in caplog.records] == [True]


@pytest.mark.parametrize("judge", [good, good_in_a_while])
def test_in_async_code_a_judge_runs_beside_the_loop_or_in_it(bank: ReasoningBank, ref: str, judge: Any) -> None:
    made = outcomes(bank, ref, judge=judge)

    assert asyncio.run(made.aclose(bank, ref, "good")) is Verdict.SUCCESS
    assert verdict(bank, ref) is Verdict.SUCCESS


@pytest.mark.parametrize("judge", [broken, broken_in_a_while, lambda given: object()])
def test_a_judge_that_fails_in_async_code_leaves_the_verdict_unknown(bank: ReasoningBank, ref: str, judge: Any) -> None:
    assert asyncio.run(outcomes(bank, ref, judge=judge).aclose(bank, ref, "x")) is Verdict.UNKNOWN
    assert verdict(bank, ref) is Verdict.UNKNOWN


def test_the_evaluator_is_named_with_its_reason(bank: ReasoningBank, ref: str) -> None:
    said = {"key": "correctness", "score": 0.0, "comment": "the total is wrong"}
    outcomes(bank, ref, judge=lambda given: said).finished("root", "x")

    episode = bank.runs.get(ref)
    assert (episode.by, episode.reason) == ("correctness", "the total is wrong")


def test_an_exception_is_a_failure(bank: ReasoningBank, ref: str) -> None:
    outcomes(bank, ref).failed("root", ValueError("broken"))

    episode = bank.runs.get(ref)
    assert (episode.verdict, episode.reason) == (Verdict.FAILURE, "ValueError: broken")


@pytest.mark.parametrize(
    "error", [GraphInterrupt(), asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt()], ids=repr
)
def test_a_pause_or_a_caller_that_left_keeps_the_episode_open(
    bank: ReasoningBank, ref: str, error: BaseException
) -> None:
    assert is_neutral(error)
    outcomes(bank, ref).failed("root", error)

    assert verdict(bank, ref) is None


def test_a_failure_that_is_not_the_lessons_fault_keeps_the_episode_open(bank: ReasoningBank, ref: str) -> None:
    made = outcomes(bank, ref, failure_filter=lambda error: not isinstance(error, ConnectionError))
    made.failed("root", ConnectionResetError())

    assert verdict(bank, ref) is None


def test_a_paused_run_keeps_its_episode_open(bank: ReasoningBank, ref: str) -> None:
    made = outcomes(bank, ref)
    made.paused("root")

    assert verdict(bank, ref) is None
    assert len(made.runs) == 0


@pytest.mark.parametrize(("resumed", "expected"), [(True, Verdict.FAILURE), (False, None)])
def test_a_run_resumed_in_a_new_process_finds_its_episode_by_the_thread(
    bank: ReasoningBank, ref: str, resumed: bool, expected: Verdict | None
) -> None:
    made = RunOutcomes()
    made.runs.begin("root", None, thread="t")
    if resumed:
        made.runs.resume("root")
    made.failed("root", ValueError("after the resume"), resumable=bank)

    assert verdict(bank, ref) is expected


def test_a_resumed_run_fails_no_episode_that_is_closed(bank: ReasoningBank, ref: str) -> None:
    bank.report("success", ref=ref)
    for thread in ("t", "a thread nobody knows"):
        made = RunOutcomes()
        made.runs.begin("root", None, thread=thread)
        made.runs.resume("root")
        made.failed("root", ValueError("x"), resumable=bank)

    assert verdict(bank, ref) is Verdict.SUCCESS


def test_merely_ending_never_takes_back_a_verdict_somebody_gave(bank: ReasoningBank, ref: str) -> None:
    bank.report("success", ref=ref)
    outcomes(bank, ref).finished("root", "x")

    assert verdict(bank, ref) is Verdict.SUCCESS


def test_what_cannot_be_recorded_is_logged_and_breaks_nothing(
    bank: ReasoningBank, ref: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = outcomes(bank, ref, judge=lambda given: True)
    bank.close()
    with caplog.at_level(logging.WARNING):
        made.finished("root", "x")

    assert "was not recorded" in caplog.text


def test_ends_of_runs_nobody_began_are_passed_over(bank: ReasoningBank) -> None:
    made = RunOutcomes()
    made.opened("unknown", bank, "ref")
    made.opened(None, bank, "")
    made.finished("unknown", "x")
    made.failed("unknown", ValueError())
    made.close(bank, "", "x")

    assert len(made.runs) == 0
