"""An agent whose tool fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from langchain_reasoningbank import ReasoningBankMiddleware, ToolFailureMiddleware, attach
from reasoningbank import ReasoningBank

PUSH = "error: src refspec main does not match any"


@tool
def bash(command: str) -> str:
    """Run a command."""
    return PUSH if command.startswith("git push") else "done"


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_it_gave_back_holds_the_lessons_and_they_join_the_run(
    bank: ReasoningBank, scripted: Callable[..., Any], tool_call: Callable[..., AIMessage], is_async: bool
) -> None:
    bank.record("Commit first", "There is no commit yet: commit, then push", outcome="failure", signatures=[PUSH])
    recalling = ReasoningBankMiddleware(bank)
    failing = ToolFailureMiddleware(bank)
    model = scripted(tool_call("bash", command="git push origin main"), AIMessage("done"))
    order: list[Any] = [recalling, failing]
    agent: Any = attach(create_agent(model, [bash], middleware=order), recalling)
    given = {"messages": [HumanMessage("parse the dates of the invoices of May")]}
    state = await agent.ainvoke(given) if is_async else agent.invoke(given)

    (said,) = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert said.text.startswith(PUSH)
    assert "There is no commit yet" in said.text
    (run,) = bank.runs.list().episodes
    assert run.memories[-1].step == 1
