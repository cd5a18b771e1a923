"""The whole way through a real, small language model, from recordings: the tests ask for order, not for wisdom."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from reasoningbank import (
    DistillStatus,
    JudgeUnavailableError,
    LLMDistiller,
    LLMJudge,
    OpenAIChat,
    ReasoningBank,
    Step,
    Trajectory,
    Verdict,
)
from reasoningbank.distill import Distillation
from reasoningbank.distill.prompts import VERDICT_SCHEMA
from reasoningbank.llm import ChatMessage, ChatRequest, FinishReason
from reasoningbank.llm.openai import arguments, read_completion

REFUSED = Step(
    thought="I write the report.",
    action='write_file({"path": "out/report.csv"})',
    tool="write_file",
    observation="Error: folder out does not exist",
    error="Error: folder out does not exist",
)
MADE = Step(action='make_folder({"path": "out"})', tool="make_folder", observation="made")
WRITTEN = REFUSED.model_copy(update={"observation": "written", "error": ""})
TASK = "Convert the quarterly report to CSV and put it into the folder out."
SUCCEEDED = Trajectory(
    task=TASK, steps=(REFUSED, MADE, WRITTEN), result="The report is in out/report.csv.", verdict=Verdict.SUCCESS
)
FAILED = Trajectory(task=TASK, steps=(REFUSED, REFUSED), result="I could not do it.", verdict=Verdict.FAILURE)

pytestmark = [pytest.mark.vcr, pytest.mark.block_network, pytest.mark.timeout(900)]  # a model on a busy machine


def check(result: Distillation, cap: int) -> None:
    """Assert what holds for whatever a model answers."""
    assert result.status is not DistillStatus.FAILED, result.reason
    assert (result.status is DistillStatus.DONE) == bool(result.drafts)
    assert len(result.drafts) <= cap
    assert result.attempts in (1, 2)
    assert result.usage.prompt_tokens > 0
    assert result.usage.completion_tokens > 0
    assert result.reason or result.status is DistillStatus.DONE
    for draft in result.drafts:
        assert draft.title
        assert draft.content
        assert draft.source.by == "gemma3-270m (prompts 1)"
        assert draft.confidence is None


def test_lessons_of_a_success_are_successes(model: OpenAIChat, vcr: Any) -> None:
    result = LLMDistiller(model, answer_tokens=400).distill(SUCCEEDED)

    for request in vcr.requests:  # the run is quoted in one message: a model goes on with a conversation it is shown
        asked = json.loads(request.body)["messages"]
        assert [message["role"] for message in asked[:2]] == ["system", "user"]
        assert all(step.action in asked[1]["content"] for step in SUCCEEDED.steps)
    check(result, 3)
    assert {draft.outcome for draft in result.drafts} <= {Verdict.SUCCESS}


def test_lessons_of_a_failure_are_guard_rails(model: OpenAIChat) -> None:
    result = LLMDistiller(model, answer_tokens=400).distill(FAILED)

    check(result, 3)
    assert {draft.outcome for draft in result.drafts} <= {Verdict.FAILURE}


def test_runs_of_one_task_are_compared(model: OpenAIChat) -> None:
    check(LLMDistiller(model, answer_tokens=400).distill_many([SUCCEEDED, FAILED]), 5)


def test_an_answer_with_too_little_room_is_truncated_and_never_empty(model: OpenAIChat) -> None:
    result = LLMDistiller(model, answer_tokens=8).distill(SUCCEEDED)

    assert (result.status, result.attempts, result.drafts) == (DistillStatus.TRUNCATED, 2, ())


def test_without_a_schema_whatever_it_says_is_sorted_into_one_of_the_ends(model_url: str) -> None:
    free = OpenAIChat("gemma3-270m", base_url=model_url, api_key="none", timeout=600, retries=0, schema=False)

    result = LLMDistiller(free, answer_tokens=200).distill(SUCCEEDED)

    assert result.status in set(DistillStatus) - {DistillStatus.FAILED}
    assert result.reason or result.drafts


@pytest.mark.parametrize("run", [SUCCEEDED, FAILED], ids=["success", "failure"])
def test_the_judge_gives_one_of_three_labels_or_none(model: OpenAIChat, run: Trajectory) -> None:
    try:
        judgement = LLMJudge(model).judge(run)
    except JudgeUnavailableError as error:
        assert "no verdict that can be read" in str(error)  # noqa: PT017 - either end is in order
    else:
        assert judgement.verdict in Verdict
        assert judgement.by == "gemma3-270m"


def test_the_lessons_end_in_the_bank_and_are_found_again(model: OpenAIChat, bank: ReasoningBank) -> None:
    distilled = bank.distill(SUCCEEDED, distiller=LLMDistiller(model, answer_tokens=400))

    assert bank.count() == len(distilled.memories)
    for memory in distilled.memories:
        assert bank.search(f"{memory.title} {memory.content}").hits[0].memory.id == memory.id


async def test_the_async_client_replays_the_same_model(model_url: str) -> None:
    request = ChatRequest((ChatMessage("user", "Is one and one two?"),), VERDICT_SCHEMA, "verdict", max_tokens=48)
    async with openai.AsyncOpenAI(base_url=model_url, api_key="none", timeout=600, max_retries=0) as client:
        given = arguments("gemma3-270m", request)
        given["response_format"] = {"type": "json_object", "schema": dict(VERDICT_SCHEMA)}
        reply = read_completion(await client.chat.completions.create(**given))

    assert reply.finish in (FinishReason.STOP, FinishReason.LENGTH)
    assert reply.text.lstrip().startswith("{")
    assert reply.usage.completion_tokens > 0
