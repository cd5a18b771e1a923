from __future__ import annotations

import threading
from typing import Any

import pytest

from reasoningbank import Verdict
from reasoningbank.distill import prompts
from reasoningbank.distill.best_of import Attempt, LLMSelector, Rollout, by_verdict, read_choice, roll_out, try_once
from reasoningbank.distill.judge import as_judge
from reasoningbank.errors import ChatError, InvalidInputError
from reasoningbank.judgement import Judgement
from reasoningbank.llm.base import ChatReply, ChatRequest, FinishReason
from reasoningbank.runs.trajectory import Step, Trajectory

ATTEMPT = Attempt(0, "T")


def rollout(verdict: str, *, steps: int = 1, errors: int = 0, result: str = "") -> Rollout:
    made = tuple(Step(action="a", error="Error" if n < errors else "") for n in range(steps))
    return Rollout(ATTEMPT, Trajectory(task="T", steps=made, verdict=Verdict(verdict), result=result))


def test_every_rollout_is_given_the_task_and_the_lessons() -> None:
    given: list[Attempt] = []

    def run(attempt: Attempt) -> dict[str, Any]:
        given.append(attempt)
        return {"result": "r"}

    done = roll_out(run, "T", 3, lessons="L", judge=None, mode="parallel")

    assert sorted((a.number, a.task, a.lessons) for a in given) == [(0, "T", "L"), (1, "T", "L"), (2, "T", "L")]
    assert [r.attempt.number for r in done] == [0, 1, 2]
    assert all(r.run is not None and r.run.task == "T" for r in done)


def test_parallel_rollouts_run_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=10)

    done = roll_out(lambda a: {"result": str(barrier.wait())}, "T", 3, lessons="", judge=None, mode="parallel")

    assert {r.run.result for r in done if r.run} == {"0", "1", "2"}


def test_a_rollout_that_raises_costs_the_others_nothing() -> None:
    def run(attempt: Attempt) -> dict[str, Any]:
        if attempt.number == 1:
            raise RuntimeError("socket closed")
        return {"result": "r", "verdict": "success"}

    done = roll_out(run, "T", 3, lessons="", judge=None, mode="parallel")

    assert [r.error for r in done] == ["", "RuntimeError: socket closed", ""]
    assert done[1].verdict is Verdict.UNKNOWN


def test_a_task_that_a_run_states_stays() -> None:
    done = try_once(lambda a: {"task": "own", "result": "r"}, ATTEMPT, None)

    assert done.run is not None
    assert done.run.task == "own"


def test_what_is_no_run_is_an_error_of_that_rollout() -> None:
    assert "cannot be read" in try_once(lambda a: "words", ATTEMPT, None).error


def test_a_run_without_a_verdict_is_judged_and_one_with_its_own_is_not() -> None:
    judge = as_judge(lambda run: Judgement(Verdict.FAILURE, ("half done",)))

    judged = try_once(lambda a: {"result": "r"}, ATTEMPT, judge)
    stated = try_once(lambda a: {"result": "r", "verdict": "success"}, ATTEMPT, judge)

    assert judged.run is not None
    assert (judged.verdict, judged.run.reason) == (Verdict.FAILURE, "half done")
    assert stated.verdict is Verdict.SUCCESS


@pytest.mark.parametrize(("said", "why"), [(None, "no verdict"), ("uncertain", "the judge is uncertain")])
def test_a_judge_without_a_verdict_leaves_the_rollout_unknown_and_says_why(said: str | None, why: str) -> None:
    done = try_once(lambda a: {"result": "r"}, ATTEMPT, as_judge(lambda run: said))

    assert done.verdict is Verdict.UNKNOWN
    assert why in done.unjudged


def test_in_sequence_each_try_re_examines_the_one_before_and_the_success_is_part_of_it() -> None:
    given: list[Attempt] = []

    def run(attempt: Attempt) -> dict[str, Any]:
        given.append(attempt)
        if attempt.number == 1:
            raise OSError("lost")
        return {"result": str(attempt.number), "verdict": "success" if attempt.number == 3 else "failure"}

    done = roll_out(run, "T", 5, lessons="L", judge=None, mode="sequential")

    assert [r.verdict for r in done] == ["failure", "unknown", "failure", "success"]
    assert [a.instruction for a in given] == [
        "",
        prompts.REEXAMINE_V1,
        prompts.CHECK_AGAIN_V1,
        prompts.CHECK_AGAIN_V1,
    ]
    assert [a.previous.result if a.previous else None for a in given] == [None, "0", "0", "2"]


def test_in_sequence_the_last_try_ends_it() -> None:
    done = roll_out(lambda a: {"result": "r"}, "T", 2, lessons="", judge=None, mode="sequential")

    assert len(done) == 2


@pytest.mark.parametrize("n", [0, 33])
def test_the_number_of_rollouts_is_bounded(n: int) -> None:
    with pytest.raises(InvalidInputError, match="give 1 to 32 rollouts"):
        roll_out(lambda a: {}, "T", n, lessons="", judge=None, mode="parallel")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="parallel, sequential"):
        roll_out(lambda a: {}, "T", 2, lessons="", judge=None, mode="both")  # type: ignore[arg-type]


def test_the_best_by_verdict_has_fewer_errors_then_fewer_steps_then_comes_first() -> None:
    assert by_verdict([rollout("failure"), rollout("unknown"), rollout("success", steps=9), rollout("partial")]) == 2
    assert by_verdict([rollout("success", steps=2, errors=1), rollout("success", steps=5)]) == 1
    assert by_verdict([rollout("success", steps=5), rollout("success", steps=2), rollout("success", steps=2)]) == 1
    assert by_verdict([Rollout(ATTEMPT, error="x")]) == 0


class Asked:
    """A chat that gives one answer and remembers the request."""

    name = "asked"

    def __init__(self, answer: str | ChatError) -> None:
        self.answer = answer
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if isinstance(self.answer, ChatError):
            raise self.answer
        return ChatReply(self.answer, FinishReason.STOP)


def test_the_selector_compares_runs_without_their_verdicts() -> None:
    chat = Asked('{"best": 2, "reason": "complete"}')

    chosen = LLMSelector(chat)([rollout("success"), rollout("failure", result="better"), Rollout(ATTEMPT, error="x")])

    assert chosen == 1
    assert "Verdict: success" not in chat.requests[0].messages[1].content
    assert "better" in chat.requests[0].messages[1].content


@pytest.mark.parametrize("answer", ["neither", '{"best": 9}', '{"best": true}', ChatError("gone")])
def test_without_a_readable_choice_the_selector_goes_by_verdict(answer: str | ChatError) -> None:
    assert LLMSelector(Asked(answer))([rollout("failure"), rollout("success")]) == 1


@pytest.mark.parametrize(
    ("answer", "choice"), [('{"best": 1}', 0), ("2.", 1), ("3", None), ("0", None), ("[1]", None), ("two", None)]
)
def test_a_choice_is_a_number_that_is_there(answer: str, choice: int | None) -> None:
    assert read_choice(answer, 2) == choice
