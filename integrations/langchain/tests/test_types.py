"""A program as users write it, checked by mypy: what `attach` gives has the type of what it was given."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from langchain_reasoningbank import ReasoningBankMiddleware, attach
from reasoningbank import ReasoningBank


def test_an_attached_agent_is_still_an_agent(bank: ReasoningBank, scripted: Any) -> None:
    middleware = ReasoningBankMiddleware(bank)
    agent = attach(
        create_agent(scripted("done"), [], middleware=[middleware], checkpointer=InMemorySaver()), middleware
    )
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage("parse the dates of the invoices")]}, config)

    assert agent.get_state(config).values["messages"][-1].text == "done"
    assert [node for node in agent.get_graph().nodes if "model" in node] == ["model"]
