"""Swarms and supervisors, as their own packages build them: a run of the whole is one episode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from langgraph_reasoningbank import ReasoningBankHooks, lessons_block
from reasoningbank import ReasoningBank

ASK: Any = {"messages": [HumanMessage("parse the dates of the invoices")]}
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


class Scripted(BaseChatModel):
    """A model that says its lines in order and keeps what it was given."""

    script: Iterator[AIMessage]
    given: list[str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.given.append("\n".join(str(message.content) for message in messages))
        return ChatResult(generations=[ChatGeneration(message=next(self.script))])


def scripted(*lines: AIMessage | str) -> Scripted:
    return Scripted(script=iter([AIMessage(line) if isinstance(line, str) else line for line in lines]), given=[])


def call(tool: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": {}, "id": f"call-{tool}"}])


def swarm_of(first: Scripted, second: Scripted, **options: Any) -> Any:
    alice = create_agent(first, [create_handoff_tool(agent_name="bob")], name="alice", **options)
    bob = create_agent(second, [create_handoff_tool(agent_name="alice")], name="bob", **options)
    return create_swarm([alice, bob], default_active_agent="alice")


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_swarm_that_hands_over_is_one_run(bank: ReasoningBank, verdicts: Verdicts, way: str) -> None:
    first, second = scripted(call("transfer_to_bob")), scripted("the dates are parsed")
    hooks = ReasoningBankHooks(bank, judge=lambda state: True)
    graph = hooks.compile(hooks.attach(swarm_of(first, second)), checkpointer=InMemorySaver())

    given = graph.invoke(ASK, THREAD) if way == "sync" else asyncio.run(graph.ainvoke(ASK, THREAD))

    assert given["messages"][-1].content == "the dates are parsed"
    assert given["active_agent"] == "bob"
    assert verdicts(bank) == ["success"]


def test_the_agents_of_a_swarm_read_the_lessons_in_their_prompts_and_all_is_credited_once(
    bank: ReasoningBank, verdicts: Verdicts, signals: Any
) -> None:
    @dynamic_prompt
    def prompt(request: ModelRequest) -> str:
        return lessons_block(request.state)

    first, second = scripted(call("transfer_to_bob")), scripted("the dates are parsed")
    hooks = ReasoningBankHooks(bank, judge=lambda state: True)
    hooks.compile(hooks.attach(swarm_of(first, second, middleware=[prompt]))).invoke(ASK)

    assert all("Pin the timezone" in given[0] for given in (first.given, second.given))
    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 2


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # the package's own
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_supervisor_and_its_agents_are_one_run(bank: ReasoningBank, verdicts: Verdicts, way: str) -> None:
    chief = scripted(call("transfer_to_bob"), "bob has parsed the dates")
    bob = create_agent(scripted("the dates are parsed"), [], name="bob")
    hooks = ReasoningBankHooks(bank, judge=lambda state: "parsed" in state["messages"][-1].content)
    graph = hooks.compile(hooks.attach(create_supervisor([bob], model=chief)))

    given = graph.invoke(ASK) if way == "sync" else asyncio.run(graph.ainvoke(ASK))

    assert given["messages"][-1].content == "bob has parsed the dates"
    assert verdicts(bank) == ["success"]
