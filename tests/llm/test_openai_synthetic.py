"""An OpenAI-compatible endpoint, from recordings of the small loopback server in `endpoint.py`: synthetic answers.

`pytest tests/llm --record-mode=rewrite` makes the recordings anew. Nothing here reaches a network.
"""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from reasoningbank import ChatError, LLMDistiller, LLMJudge, OpenAIChat, Verdict
from reasoningbank import DistillStatus as Status
from reasoningbank.distill.prompts import LESSONS_SCHEMA
from reasoningbank.errors import JudgeUnavailableError, MissingExtraError
from reasoningbank.llm import ChatMessage, ChatRequest, FinishReason, Usage
from reasoningbank.llm.openai import adapted, arguments, read_completion
from reasoningbank.runs.trajectory import Step, Trajectory
from tests.llm.endpoint import LESSONS, serving

KEY = "sk-" + "test-" + "0123456789abcdef"
ASKED = ChatRequest((ChatMessage("user", "What did you learn?"),), LESSONS_SCHEMA, "lessons", max_tokens=64)
RUN = Trajectory(task="List files", steps=(Step(action="ls", observation="a"),), verdict=Verdict.SUCCESS)


def chat(model: str, base_url: str, **options: Any) -> OpenAIChat:
    return OpenAIChat(model, base_url=base_url, api_key=KEY, **options)


@pytest.mark.vcr
@pytest.mark.parametrize("model", ["good", "gzipped", "tool-call", "blocks", "parsed", "busy", "ailing", "overloaded"])
def test_an_answer_comes_whatever_wraps_or_delays_it(model: str, base_url: str) -> None:
    reply = chat(model, base_url).complete(ASKED)

    assert json.loads(reply.text) == json.loads(LESSONS)
    assert reply.usage == Usage(11, 7)
    assert reply.model in (model, "busy", "ailing", "overloaded")


@pytest.mark.vcr
@pytest.mark.parametrize(
    ("model", "finish", "status"),
    [
        ("good", FinishReason.STOP, Status.DONE),
        ("tool-call", FinishReason.TOOL_CALLS, Status.DONE),
        ("truncated", FinishReason.LENGTH, Status.TRUNCATED),
        ("thinking", FinishReason.LENGTH, Status.TRUNCATED),
        ("refusing", FinishReason.REFUSAL, Status.REFUSED),
        ("filtered", FinishReason.CONTENT_FILTER, Status.REFUSED),
        ("silent", FinishReason.UNKNOWN, Status.UNPARSEABLE),
    ],
)
def test_how_an_answer_ended_decides_what_came_of_it(
    model: str, finish: FinishReason, status: Status, base_url: str
) -> None:
    assert chat(model, base_url).complete(ASKED).finish is finish
    assert LLMDistiller(chat(model, base_url)).distill(RUN).status is status


@pytest.mark.vcr
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("empty-choices", "answered with no choices at all"),
        ("no-choices", "answered with no choices at all"),
        ("locked", "AuthenticationError"),
        ("unknown", "NotFoundError"),
        ("strict", "roles must alternate"),
    ],
)
def test_an_endpoint_that_fails_for_good_is_named_with_its_reason(model: str, words: str, base_url: str) -> None:
    with pytest.raises(ChatError, match=words) as raised:
        chat(model, base_url).complete(ASKED)

    assert model in str(raised.value)


@pytest.mark.vcr
def test_retries_are_bounded(base_url: str) -> None:
    with pytest.raises(ChatError, match="InternalServerError"):
        chat("down", base_url, retries=1).complete(ASKED)


@pytest.mark.vcr
@pytest.mark.parametrize("model", ["schemaless", "json-object-only", "internal-error", "modern", "moderner"])
def test_what_a_server_does_not_know_is_left_out_and_asked_again(model: str, base_url: str) -> None:
    assert chat(model, base_url, retries=0).complete(ASKED).text == LESSONS


@pytest.mark.vcr
def test_what_a_server_does_not_know_is_left_out_from_then_on(base_url: str, vcr: Any) -> None:
    model = chat("json-object-only", base_url)

    assert [model.complete(ASKED).text for _ in range(3)] == [LESSONS] * 3
    assert len(vcr) == 4


@pytest.mark.vcr
def test_a_judge_without_a_key_gives_no_verdict_and_no_failure(base_url: str) -> None:
    with pytest.raises(JudgeUnavailableError, match="AuthenticationError"):
        LLMJudge(chat("locked", base_url)).judge(RUN)


@pytest.mark.vcr
async def test_the_async_client_replays_the_same_way(base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=base_url, api_key=KEY) as client:
        reply = read_completion(await client.chat.completions.create(**arguments("good", ASKED)))

    assert reply.text == LESSONS


@pytest.mark.vcr
def test_a_secret_in_an_answer_is_not_recorded(base_url: str) -> None:
    assert chat("leaking", base_url).complete(ASKED).text == LESSONS


def test_a_slow_answer_comes_and_one_that_is_too_slow_is_given_up() -> None:
    with serving() as base_url:
        assert chat("dribbling", base_url, timeout=10).complete(ASKED).text == LESSONS
        with pytest.raises(ChatError, match="APITimeoutError"):
            chat("dribbling", base_url, timeout=0.005, retries=0).complete(ASKED)


def test_nobody_at_the_address_is_an_error_and_not_an_empty_answer() -> None:
    with pytest.raises(ChatError, match="APIConnectionError"):
        chat("good", "http://127.0.0.1:9/v1", retries=0).complete(ASKED)


def test_without_a_key_openai_itself_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ChatError, match="there is no key for OpenAI"):
        OpenAIChat("gpt")


def test_a_server_of_one_s_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with serving() as base_url:
        assert OpenAIChat("good", base_url=base_url).complete(ASKED).text == LESSONS


def test_a_client_of_one_s_own_is_used_and_the_schema_can_be_left_out() -> None:
    with serving() as base_url, openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        own = OpenAIChat("good", client=client, schema=False)

        assert own.complete(ASKED).text == LESSONS
    assert own.name == "good"
    assert "response_format" not in arguments("m", ASKED, schema=False)
    assert "response_format" not in arguments("m", ChatRequest(()))


def test_without_the_package_the_error_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'reasoningbank-core\[openai\]'"):
        OpenAIChat("gpt")


def test_adapting_ends_where_nothing_is_left_to_leave_out() -> None:
    given = arguments("m", ASKED)

    without_schema = adapted(adapted(given, "response_format"), "response_format")
    assert "response_format" not in without_schema
    assert adapted(without_schema, "response_format") == {}
    assert adapted(given, "something else") == {}
