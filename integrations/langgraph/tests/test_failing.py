"""A tool of a graph that fails."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from langgraph_reasoningbank import FailingTools, ReasoningBankState
from langgraph_reasoningbank.failing import ref_in
from reasoningbank import ReasoningBank

PUSH = " ! [rejected]        main -> main (fetch first)"


class State(ReasoningBankState, TypedDict):
    messages: Annotated[list[Any], add_messages]


def bash(command: str) -> str:
    """Run a command."""
    if command.startswith("git push"):
        raise ValueError(PUSH)
    return "done"


@pytest.fixture
def graph(bank: ReasoningBank) -> Any:
    bank.record("Pull first", "git pull --rebase, then push", outcome="failure", signatures=[PUSH])
    failing = FailingTools(bank)
    around = failing.wrap_tool_call, failing.awrap_tool_call
    node = ToolNode([bash], handle_tool_errors=str, wrap_tool_call=around[0], awrap_tool_call=around[1])
    builder = StateGraph(State)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    return builder.compile()


def asked(command: str, ref: str) -> dict[str, Any]:
    calls = [{"name": "bash", "args": {"command": command}, "id": "1", "type": "tool_call"}]
    return {"messages": [AIMessage("", tool_calls=calls)], "reasoningbank": {"ref": ref}}


@pytest.mark.parametrize("is_async", [False, True])
async def test_its_message_holds_the_lessons_once_and_a_repair_counts(
    graph: Any, bank: ReasoningBank, is_async: bool, signals: Any
) -> None:
    async def said(command: str) -> str:
        state = asked(command, "run-1")
        result = await graph.ainvoke(state) if is_async else graph.invoke(state)
        return str(result["messages"][-1].content)

    bank.recall("parse the dates of the invoices", ref="run-1")

    first = await said("git push origin main")
    assert PUSH in first
    assert "git pull --rebase" in first
    assert "git pull --rebase" not in await said("git push origin main")
    assert await said("ls") == "done"
    assert signals(bank, "repair") == 1
    assert bank.runs.get("run-1").memories[-1].step == 1


def test_a_node_of_ones_own_asks_for_them(bank: ReasoningBank) -> None:
    bank.record("Pull first", "git pull --rebase, then push", outcome="failure", signatures=[PUSH])
    failing = FailingTools(bank)

    assert "git pull" in failing.lessons(PUSH, state={}, tool="bash", failed=True)
    assert failing.lessons("all fine", state={}, tool="bash") == ""


def test_the_reference_is_read_wherever_it_is_kept() -> None:
    assert ref_in({"reasoningbank": {"ref": "a"}}) == "a"
    assert ref_in({"reasoningbank": {"mine": {"ref": "b"}}}) == "b"
    assert ref_in({}) == ref_in([]) == ""


def test_a_resolver_says_whose_lessons_a_failure_is_answered_with(open_bank: Any) -> None:
    open_bank(project="a").record("Pull first", "Pull of a", outcome="failure", signatures=[PUSH])
    open_bank(project="b").record("Pull first", "Pull of b", outcome="failure", signatures=[PUSH])
    failing = FailingTools(lambda run: open_bank(project=run["configurable"]["project"]))
    builder = StateGraph(State)
    builder.add_node("tools", ToolNode([bash], handle_tool_errors=str, wrap_tool_call=failing.wrap_tool_call))
    builder.add_edge(START, "tools")
    graph: Any = builder.compile()
    for project in ("a", "b"):
        state = graph.invoke(asked("git push origin main", ""), {"configurable": {"project": project}})

        assert f"Pull of {project}" in str(state["messages"][-1].content)
