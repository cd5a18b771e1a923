from __future__ import annotations

from typing import Any

import pytest

from reasoningbank.errors import ChatError, InvalidInputError, JudgeUnavailableError
from reasoningbank.llm.base import (
    CallableChat,
    ChatMessage,
    ChatReply,
    ChatRequest,
    FinishReason,
    Usage,
    as_chat,
    read_finish,
)

REQUEST = ChatRequest((ChatMessage("system", "s"), ChatMessage("user", "u")))


def test_a_callable_gets_plain_messages_and_may_return_a_text() -> None:
    def echo(messages: list[dict[str, str]]) -> str:
        return repr(messages)

    reply = as_chat(echo).complete(REQUEST)

    assert reply.text == "[{'role': 'system', 'content': 's'}, {'role': 'user', 'content': 'u'}]"
    assert reply.finish is FinishReason.STOP
    assert as_chat(echo).name == "echo"


def test_a_callable_may_return_a_whole_reply_or_nothing() -> None:
    whole = ChatReply("x", FinishReason.LENGTH, Usage(1, 2))

    assert as_chat(lambda messages: whole).complete(REQUEST) is whole
    assert as_chat(lambda messages: None).complete(REQUEST).text == ""


def test_what_a_callable_raises_is_the_model_s_failure() -> None:
    def broken(messages: Any) -> str:
        raise KeyError("choices")

    with pytest.raises(ChatError, match=r"broken raised KeyError: 'choices'"):
        as_chat(broken).complete(REQUEST)


def test_an_error_of_the_library_stays_what_it_is() -> None:
    def judge(messages: Any) -> str:
        raise JudgeUnavailableError("x")

    with pytest.raises(JudgeUnavailableError):
        as_chat(judge).complete(REQUEST)


def test_a_callable_that_returns_something_else_is_told_what_to_return() -> None:
    with pytest.raises(ChatError, match="my-model returned int: return a text or a ChatReply"):
        CallableChat(lambda messages: 3, "my-model").complete(REQUEST)  # type: ignore[arg-type, return-value]


def test_a_chat_is_itself_and_what_is_none_is_refused() -> None:
    chat = CallableChat(lambda messages: "")

    assert as_chat(chat) is chat
    with pytest.raises(InvalidInputError, match="int is no chat model"):
        as_chat(3)  # type: ignore[arg-type]


def test_usage_adds_up() -> None:
    assert Usage(1, 2) + Usage(10, 20) == Usage(11, 22)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", FinishReason.STOP),
        ("end_turn", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("refusal", FinishReason.REFUSAL),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("something new", FinishReason.UNKNOWN),
        (None, FinishReason.UNKNOWN),
        (FinishReason.LENGTH, FinishReason.LENGTH),
    ],
)
def test_the_words_of_endpoints_for_why_an_answer_ended_are_understood(word: object, finish: FinishReason) -> None:
    assert read_finish(word) is finish
