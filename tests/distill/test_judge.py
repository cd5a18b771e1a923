from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from reasoningbank import Verdict
from reasoningbank.distill.judge import (
    CallableJudge,
    LLMJudge,
    RunJudge,
    as_judge,
    read_judgement,
    read_label,
)
from reasoningbank.errors import ChatError, InvalidInputError, JudgeUnavailableError
from reasoningbank.judgement import Judgement
from reasoningbank.llm.base import ChatReply, FinishReason
from reasoningbank.runs.trajectory import Step, Trajectory
from tests.distill.scripted import Scripted

RUN = Trajectory(task="List files", steps=(Step(action="ls", observation="a"),), result="a", verdict=Verdict.SUCCESS)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("unsuccessful", Verdict.FAILURE),
        ("Thoughts: success criteria not met\nStatus: failure", Verdict.FAILURE),
        ("Thoughts: success criteria not met / Status: failure", Verdict.FAILURE),
        ("Success.", Verdict.SUCCESS),
        ("**Verdict:** success", Verdict.SUCCESS),
        ('```json\n{"verdict": "failure", "reasons": ["no success yet"]}\n```', Verdict.FAILURE),
        ('<think>{"verdict": "success"}</think>{"verdict": "uncertain"}', Verdict.UNKNOWN),
        ('{"label": "Partially successful"}', Verdict.PARTIAL),
        ('{"success": false}', Verdict.FAILURE),
        ('{"verdict": "failure", "reasons": ["it was cut o', Verdict.FAILURE),
        ('{"status": "not_successful"}', Verdict.FAILURE),
    ],
)
def test_a_label_is_read_whole_and_never_by_what_it_holds(answer: str, label: Verdict) -> None:
    judgement = read_judgement(answer)

    assert judgement is not None
    assert judgement.verdict is label


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The success criteria were considered at length.",
        "Status: success criteria not met",
        "Status: success\nOn second thought:\nStatus: failure",
        '{"verdict": "success" | "failure" | "uncertain"}',
        '{"type": "object", "properties": {"verdict": {"enum": ["success"]}}}',
        '{"verdict": "succ',
        "[1, 2]",
        '{"verdict": 3} [{"verdict": "success"}]',
    ],
)
def test_what_holds_no_label_or_two_is_no_verdict(answer: str) -> None:
    assert read_judgement(answer) is None


def test_reasons_come_with_the_verdict() -> None:
    listed = read_judgement('{"verdict": "failure", "reasons": ["one", 2, " ", "three"]}')
    single = read_judgement('{"verdict": "failure", "reason": "one"}')
    neither = read_judgement('{"verdict": "failure", "reasons": 3}')
    prose = read_judgement("Thoughts: the file was never written\nStatus: failure")

    assert [j.reasons for j in (listed, single, neither, prose) if j] == [
        ("one", "three"),
        ("one",),
        (),
        ("Thoughts: the file was never written",),
    ]
    assert listed is not None
    assert listed.reason == "one three"


def test_the_model_is_asked_at_temperature_zero_without_the_verdict_that_is_there() -> None:
    chat = Scripted('{"verdict": "success", "reasons": ["it listed them"]}')

    judgement = LLMJudge(chat).judge(RUN)

    assert judgement == Judgement(Verdict.SUCCESS, ("it listed them",), "scripted")
    (request,) = chat.asked
    assert request.temperature == 0.0
    assert request.schema is not None
    assert "Verdict: unknown" in request.messages[1].content


def test_it_judges_what_a_run_gave_as_adapters_call_it() -> None:
    chat = Scripted('{"verdict": "uncertain"}')
    state = {"messages": [{"role": "user", "content": "Add"}, {"role": "assistant", "content": "Added."}]}

    assert LLMJudge(chat)(state) is Verdict.UNKNOWN
    assert "Added." in chat.asked[0].messages[1].content


def test_an_unreadable_answer_is_asked_for_once_more_and_in_other_words() -> None:
    chat = Scripted("It went rather well.", '{"verdict": "success", "reasons": []}')

    assert LLMJudge(chat).judge(RUN).verdict is Verdict.SUCCESS
    first, second = chat.asked
    assert second.messages[:2] == first.messages
    assert second.messages[2].content == "It went rather well."


def test_no_verdict_after_two_answers_is_unavailable_and_not_failure() -> None:
    with pytest.raises(JudgeUnavailableError, match="no verdict that can be read"):
        LLMJudge(Scripted("hm", "hm hm")).judge(RUN)


def test_an_empty_answer_is_unavailable_at_once() -> None:
    chat = Scripted("")

    with pytest.raises(JudgeUnavailableError):
        LLMJudge(chat).judge(RUN)
    assert len(chat.asked) == 1


def test_no_key_or_no_endpoint_is_unavailable_and_not_failure() -> None:
    with pytest.raises(JudgeUnavailableError, match="there is no key"):
        LLMJudge(Scripted(ChatError("there is no key"))).judge(RUN)


@pytest.mark.parametrize("finish", [FinishReason.REFUSAL, FinishReason.CONTENT_FILTER])
def test_a_refusal_is_unavailable_and_not_failure(finish: FinishReason) -> None:
    with pytest.raises(JudgeUnavailableError, match="refused to judge"):
        LLMJudge(Scripted(ChatReply("failure", finish))).judge(RUN)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("success", Verdict.SUCCESS),
        (False, Verdict.FAILURE),
        (Verdict.PARTIAL, Verdict.PARTIAL),
        ("uncertain", Verdict.UNKNOWN),
        (0.9, Verdict.SUCCESS),
        ({"key": "tests", "score": False}, Verdict.FAILURE),
    ],
)
def test_any_callable_is_a_judge(said: Any, label: Verdict) -> None:
    assert as_judge(lambda run: said).judge(RUN).verdict is label


def test_an_async_callable_is_a_judge_in_a_thread_with_a_loop_and_without() -> None:
    async def passes(run: Trajectory) -> bool:
        await asyncio.sleep(0)
        return True

    async def within_a_loop() -> Judgement:
        return as_judge(passes).judge(RUN)

    assert as_judge(passes).judge(RUN) == asyncio.run(within_a_loop()) == Judgement(Verdict.SUCCESS, (), "passes")


def test_a_callable_may_give_a_whole_judgement() -> None:
    judgement = Judgement(Verdict.SUCCESS, ("tests pass",), "ci")

    assert CallableJudge(lambda run: judgement).judge(RUN) is judgement


@pytest.mark.parametrize("said", [None, "well done", 7, []])
def test_a_callable_that_gives_no_verdict_is_unavailable(said: Any) -> None:
    with pytest.raises(JudgeUnavailableError, match="no verdict"):
        as_judge(lambda run: said).judge(RUN)


def test_a_callable_that_raises_is_unavailable() -> None:
    def check(run: Trajectory) -> bool:
        raise KeyError("result")

    with pytest.raises(JudgeUnavailableError, match="check raised KeyError"):
        as_judge(check).judge(RUN)


def test_a_judge_is_itself_and_what_is_none_is_refused() -> None:
    judge = LLMJudge(Scripted())

    assert as_judge(judge) is judge
    assert isinstance(judge, RunJudge)
    with pytest.raises(InvalidInputError, match="int is no judge"):
        as_judge(3)  # type: ignore[arg-type]


def test_only_texts_and_booleans_are_labels() -> None:
    assert read_label(True) is Verdict.SUCCESS
    assert read_label(None) is None
    assert read_label(json.loads("1")) is None
