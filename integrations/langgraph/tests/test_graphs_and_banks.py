"""A graph with hooks: whose bank, thread and reference a run has, and what is distilled of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_reasoningbank import ReasoningBankHooks, lessons_block
from reasoningbank import ReasoningBank
from reasoningbank.adapters import RunScope

ASKED = "parse the dates of the invoices"
ASK: Any = {"messages": [HumanMessage(ASKED)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


def hooks_of(bank: Any, **options: Any) -> ReasoningBankHooks:
    return ReasoningBankHooks(bank, **{"judge": lambda state: True, **options})


def told(state: Any) -> dict[str, Any]:
    model: Any = GenericFakeChatModel(messages=iter([AIMessage("fine")]))
    return {"messages": [model.invoke([("system", lessons_block(state)), *state["messages"]])]}


def graph_of(hooks: ReasoningBankHooks, node: Any = told, saver: Any = None) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", node)
    builder.add_edge(START, "agent")
    return hooks.compile(hooks.attach(builder), checkpointer=saver)


# -- threads, references, tenants --------------------------------------------------------------------------------------


@pytest.mark.parametrize("thread", [7, uuid4(), "", "x" * 400, "\u200b"], ids=["int", "uuid", "empty", "long", "blank"])
def test_no_thread_and_no_message_breaks_the_graph(bank: ReasoningBank, verdicts: Verdicts, thread: Any) -> None:
    graph = graph_of(hooks_of(bank))
    graph.invoke(ASK, {"configurable": {"thread_id": thread}})
    assert verdicts(bank) == ["success"]

    graph.invoke({"messages": [HumanMessage("\u200b")]}, {"configurable": {"thread_id": thread}})
    assert verdicts(bank) == ["success"]


def test_feedback_finds_a_run_by_its_id_its_thread_or_a_reference_of_ones_own(
    bank: ReasoningBank, verdicts: Verdicts
) -> None:
    graph, run_id = graph_of(hooks_of(bank, judge=None), saver=InMemorySaver()), uuid4()
    graph.invoke(ASK, {**THREAD, "run_id": run_id})
    bank.report("success", ref=str(run_id))
    graph.invoke(ASK, {"configurable": {"thread_id": "u"}})
    bank.report("failure", thread="u")
    graph.invoke(ASK, {"configurable": {"thread_id": "u", "reasoningbank_ref": "mine"}})
    bank.report("success", ref="mine")

    assert verdicts(bank) == ["success", "failure", "success"]


@dataclass
class Tenant:
    name: str


@pytest.mark.parametrize("by", ["configurable", "context"])
def test_one_graph_serves_many_tenants(open_bank: Callable[..., ReasoningBank], verdicts: Verdicts, by: str) -> None:
    banks = {name: open_bank(name) for name in ("acme", "globex")}
    for name, bank in banks.items():
        bank.record(f"Lesson of {name}", "Parse the dates of the invoices in UTC", outcome="success")
    seen: list[str] = []

    def resolve(run: RunScope) -> ReasoningBank:
        return banks[run["configurable"]["tenant"] if by == "configurable" else run.context.name]

    def work(state: MessagesState) -> dict[str, Any]:
        seen.append(lessons_block(state))
        return {}

    hooks = hooks_of(resolve)
    builder = StateGraph(MessagesState, context_schema=Tenant)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    graph: Any = hooks.compile(hooks.attach(builder))
    for name in ("acme", "globex", "acme"):
        graph.invoke(ASK, {"configurable": {"tenant": name}}, context=Tenant(name))

    assert [f"Lesson of {name}" in text for name, text in zip(("acme", "globex", "acme"), seen, strict=True)] == [
        True
    ] * 3
    assert [verdicts(bank) for bank in banks.values()] == [["success", "success"], ["success"]]
    with pytest.raises(KeyError):
        graph.invoke(ASK, {"configurable": {"tenant": "nobody"}}, context=Tenant("nobody"))


async def test_hooks_are_made_in_a_coroutine_without_blocking_its_loop(bank: ReasoningBank) -> None:
    from blockbuster import blockbuster_ctx

    with blockbuster_ctx(["reasoningbank", "langgraph_reasoningbank"]):
        graph = graph_of(hooks_of(bank))
        await graph.ainvoke(ASK)


# -- distilling --------------------------------------------------------------------------------------------------------


def test_each_turn_of_a_conversation_is_distilled_by_itself_and_failures_are_too(bank: ReasoningBank) -> None:
    def work(state: MessagesState) -> dict[str, Any]:
        if "suite" in state["messages"][-1].text:
            raise RuntimeError("the suite is red")
        return told(state)

    hooks = hooks_of(bank, distill=True)
    graph = graph_of(hooks, node=work, saver=InMemorySaver())
    graph.invoke({"messages": [HumanMessage("load the sales figures")]}, THREAD)
    with pytest.raises(RuntimeError):
        graph.invoke({"messages": [HumanMessage("the test suite fails")]}, THREAD)

    assert [(job.task, job.verdict) for job in reversed(bank.queue.list())] == [
        ("load the sales figures", "success"),
        ("the test suite fails", "failure"),
    ]
