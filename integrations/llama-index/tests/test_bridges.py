"""From LlamaIndex's models and messages to distilling."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index.memory.reasoningbank import as_chat, trajectory_of
from reasoningbank import ChatError
from reasoningbank.llm import Chat, ChatRequest, FinishReason
from reasoningbank.llm import ChatMessage as Said

ASK = ChatRequest((Said("user", "how did it go?"),))


def test_an_llm_answers_as_a_chat(agents: Any) -> None:
    chat = as_chat(agents.llm("fine"))
    reply = chat.complete(ASK)

    assert isinstance(chat, Chat)
    assert (reply.text, reply.finish) == ("fine", FinishReason.UNKNOWN)
    assert [message.content for message in agents.prompts[0]] == ["how did it go?"]


def test_what_the_llm_raises_is_a_chat_error(agents: Any) -> None:
    with pytest.raises(ChatError, match="raised ValueError: down"):
        as_chat(agents.llm(ValueError("down"))).complete(ASK)


def test_messages_become_a_run() -> None:
    run = trajectory_of(
        [
            ChatMessage(role="system", content="You are careful."),
            ChatMessage(role="user", content="count the lines"),
            ChatMessage(role="assistant", content="42"),
        ]
    )

    assert (run.task, run.result) == ("count the lines", "42")


async def test_turns_that_leave_the_short_term_memory_are_one_job_when_asked_for(agents: Any) -> None:
    turns = [ChatMessage(role="user", content="count the lines"), ChatMessage(role="assistant", content="42")]
    await agents.block().aput(turns, from_short_term_memory=True)
    assert agents.bank.queue.list() == []

    block = agents.block(distill=True, accept_short_term_memory=True)
    for _ in range(2):
        await block.aput(turns, from_short_term_memory=True)
    assert len(agents.bank.queue.list()) == 1


async def test_content_that_cannot_be_read_raises_nothing(agents: Any) -> None:
    block = agents.block(distill=True)
    await block.aput([ChatMessage(role="assistant", content=None)])
    agents.bank.close()
    await block.aput([ChatMessage(role="user", content="x")])
