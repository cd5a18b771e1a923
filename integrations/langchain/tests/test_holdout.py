"""A run that is held out is shown no lesson by any door, is one episode, and is drawn once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_reasoningbank import (
    ReasoningBankMiddleware,
    ReasoningBankRetriever,
    ReasoningBankToolkit,
    attach,
    format_lessons,
)
from reasoningbank import InvalidInputError, ReasoningBank

DATES = "parse the dates of the invoices"
OTHER = "delete the invoices"
LESSONS = ("tz=UTC", "Void invoices", "Quote the names")
MOST = 40  # so many runs fall into one arm once in 500,000,000,000 times


class Traces(BaseCallbackHandler):
    """Keeps all that a tracer would see."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.seen.append(outputs)

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.seen.append(output)

    def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
        self.seen.append(documents)

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self.seen.append(messages)


def leaks(*seen: Any) -> bool:
    return any(lesson in str(seen) for lesson in LESSONS)


def both_arms(bank: ReasoningBank, run: Callable[[Any], Any]) -> None:
    """Run, each time under an id of its own, until both arms were seen; lessons are there just in runs not held out."""
    arms: list[bool] = []
    while len(set(arms)) < 2 and len(arms) < MOST:
        run_id = uuid4()
        shown = leaks(run(run_id))
        episode = bank.runs.get(str(run_id))

        assert shown is not episode.held_out
        assert bool(episode.memories) is shown
        arms.append(shown)
    assert set(arms) == {True, False}
    assert len(bank.runs.list(limit=100).episodes) == len(arms)


@pytest.mark.parametrize("attached", [True, False])
def test_an_agent_with_every_door(bank: ReasoningBank, scripted: Any, tool_call: Any, attached: bool) -> None:
    middleware = ReasoningBankMiddleware(bank, holdout=0.5)
    looking = ReasoningBankRetriever(bank=bank)
    counting = ReasoningBankRetriever(bank=bank, record_usage=True)
    tools = [
        *ReasoningBankToolkit(bank).get_tools(),
        create_retriever_tool(looking, "look", "Looks."),
        create_retriever_tool(counting, "count", "Counts."),
    ]

    def run(run_id: Any) -> Any:
        model = scripted(
            tool_call("memory_search", query=DATES),
            tool_call("memory_search", query=OTHER),
            tool_call("look", query=DATES),
            tool_call("count", query=OTHER),
            "done",
        )
        saver, traces = InMemorySaver(), Traces()
        agent: Any = create_agent(model, tools, middleware=[middleware], checkpointer=saver)
        agent = attach(agent, middleware) if attached else agent
        config: Any = {"run_id": run_id, "callbacks": [traces], "configurable": {"thread_id": str(run_id)}}
        state = agent.invoke({"messages": [("user", DATES)]}, config)
        return model.seen, state, traces.seen, list(saver.list(config))

    both_arms(bank, run)


def test_an_agent_with_tools_alone(bank: ReasoningBank, scripted: Any, tool_call: Any) -> None:
    tools = ReasoningBankToolkit(bank, holdout=0.5).get_tools()

    def run(run_id: Any) -> Any:
        model = scripted(*[tool_call("memory_search", query=query) for query in (DATES, OTHER)], "done")
        agent: Any = create_agent(model, tools)
        return agent.invoke({"messages": [("user", DATES)]}, {"run_id": run_id}), model.seen

    both_arms(bank, run)


def test_searches_of_a_run_without_an_id_or_a_thread_are_one_episode(
    bank: ReasoningBank, scripted: Any, tool_call: Any
) -> None:
    for _ in range(2):
        model = scripted(*[tool_call("memory_search", query=query) for query in (DATES, OTHER)], "done")
        agent: Any = create_agent(model, ReasoningBankToolkit(bank).get_tools())
        agent.invoke({"messages": [("user", DATES)]})

    assert len(bank.runs.list().episodes) == 2


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_chain(bank: ReasoningBank, scripted: Any, way: str) -> None:
    retriever = ReasoningBankRetriever(bank=bank, record_usage=True, holdout=0.5)
    prompt = ChatPromptTemplate.from_messages([("system", "{lessons}"), ("user", "{question}")])

    def run(run_id: Any) -> Any:
        model, traces = scripted("ok"), Traces()
        steps: Any = {"lessons": retriever | format_lessons, "question": RunnablePassthrough()} | prompt | model
        chain, config = attach(steps, retriever, judge=bool), {"run_id": run_id, "callbacks": [traces]}
        said = chain.invoke(DATES, config) if way == "sync" else asyncio.run(chain.ainvoke(DATES, config))
        assert bank.runs.get(str(run_id)).verdict == "success"
        return said, model.seen, traces.seen

    both_arms(bank, run)


def asking(worker: Any) -> Any:
    @tool
    def ask(what: str) -> str:
        """Ask somebody."""
        return str(worker.invoke({"messages": [("user", what)]})["messages"][-1].text)

    return ask


@pytest.mark.parametrize("threads", [True, False])
def test_what_is_withheld_from_an_agent_does_not_come_in_by_its_sub_agents(
    bank: ReasoningBank, scripted: Any, tool_call: Any, threads: bool
) -> None:
    outer, inner = ReasoningBankMiddleware(bank, holdout=0.5), ReasoningBankMiddleware(bank, holdout=0)
    held_out: list[bool] = []
    while True not in held_out and len(held_out) < MOST:
        below, run_id = scripted(tool_call("memory_search", query=DATES), "found"), uuid4()
        worker = attach(create_agent(below, ReasoningBankToolkit(bank).get_tools(), middleware=[inner]), inner)
        model = scripted(tool_call("ask", what=DATES), "done")
        agent: Any = create_agent(model, [asking(worker)], middleware=[outer])
        thread = {"thread_id": str(run_id)} if threads else {}
        attach(agent, outer).invoke({"messages": [("user", DATES)]}, {"run_id": run_id, "configurable": thread})
        held_out.append(bank.runs.get(str(run_id)).held_out)

        assert leaks(model.seen) is leaks(below.seen) is not held_out[-1]
    assert held_out[-1]


def test_a_share_that_is_none_is_refused_before_any_run(bank: ReasoningBank) -> None:
    for wrong in (2, "some", -0.1):
        with pytest.raises(InvalidInputError, match="holdout"):
            ReasoningBankMiddleware(bank, holdout=wrong)
        for make in (ReasoningBankToolkit, ReasoningBankRetriever):
            with pytest.raises(ValueError, match="holdout"):
                make(bank=bank, holdout=wrong)
