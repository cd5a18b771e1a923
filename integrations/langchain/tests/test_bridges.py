"""From LangChain's models and messages to distilling."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_reasoningbank import ReasoningBankMiddleware, as_chat, attach, trajectory_of
from reasoningbank import ChatError, LLMJudge, ReasoningBank
from reasoningbank.llm import Chat, ChatMessage, ChatRequest, FinishReason, Usage

ASK = ChatRequest((ChatMessage("user", "how did it go?"),))


def test_a_chat_model_answers_as_a_chat(scripted: Any) -> None:
    answer = AIMessage(
        "fine",
        response_metadata={"finish_reason": "length", "model_name": "tiny"},
        usage_metadata={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
    )
    chat = as_chat(scripted(answer, "plain"))
    first, second = chat.complete(ASK), chat.complete(ASK)

    assert isinstance(chat, Chat)
    assert chat.name == "ScriptedModel"
    assert (first.text, first.finish, first.usage, first.model) == ("fine", FinishReason.LENGTH, Usage(3, 1), "tiny")
    assert (second.text, second.finish) == ("plain", FinishReason.UNKNOWN)


def test_what_the_model_raises_is_a_chat_error(scripted: Any) -> None:
    with pytest.raises(ChatError, match="ScriptedModel raised ValueError: down"):
        as_chat(scripted(ValueError("down"))).complete(ASK)


def test_messages_become_a_run(tool_call: Any) -> None:
    run = trajectory_of(
        [
            SystemMessage("You are careful."),
            HumanMessage([{"type": "text", "text": "count the lines"}, {"type": "image_url", "image_url": "data:x"}]),
            tool_call("shell", command="wc -l log"),
            ToolMessage("42 log", tool_call_id="call-shell"),
            AIMessage("42"),
        ]
    )

    assert (run.task, run.result) == ("count the lines", "42")
    assert [(step.tool, step.observation) for step in run.steps] == [("shell", "42 log")]


def test_a_finished_run_is_distilled_once_by_a_worker(bank: ReasoningBank, scripted: Any, tool_call: Any) -> None:
    from langchain_core.tools import tool

    @tool
    def shell(command: str) -> str:
        """Run a command."""
        return "42 access.log"

    middleware = ReasoningBankMiddleware(bank, judge=lambda state: True, distill=True)
    model = scripted(tool_call("shell", command="wc -l access.log"), "There are 42 lines.")
    agent = attach(create_agent(model, [shell], middleware=[middleware]), middleware)
    agent.invoke({"messages": [HumanMessage("count the lines of access.log")]})
    (job,) = bank.queue.list()
    assert job.status == "queued"

    before = bank.count()
    bank.queue.worker().run_once()
    assert bank.queue.get(job.id).status in ("done", "empty")
    assert bank.count() >= before


def test_a_judge_of_langchain_judges(scripted: Any) -> None:
    judge = LLMJudge(as_chat(scripted('{"label": "success", "reason": "the file is there"}')))
    run = trajectory_of([HumanMessage("make a file"), AIMessage("made")])

    assert judge.judge(run).verdict == "success"
