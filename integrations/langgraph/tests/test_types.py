"""A program as users write it, checked by mypy: what `attach` and `compile` give has the graph's own types."""

from __future__ import annotations

from typing import assert_type

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langgraph_reasoningbank import ReasoningBankHooks
from reasoningbank import ReasoningBank


def work(state: MessagesState) -> MessagesState:
    return {"messages": [HumanMessage("done")]}


def test_hooks_keep_the_types_of_a_graph(bank: ReasoningBank) -> None:
    hooks = ReasoningBankHooks(bank)
    builder = StateGraph(MessagesState)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    attached = hooks.attach(builder)
    graph = hooks.compile(attached, checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    graph.invoke({"messages": [HumanMessage("parse the dates of the invoices")]}, config)

    assert_type(attached, StateGraph[MessagesState, None, MessagesState, MessagesState])
    assert_type(graph, CompiledStateGraph[MessagesState, None, MessagesState, MessagesState])
    assert_type(hooks.bind(graph), CompiledStateGraph[MessagesState, None, MessagesState, MessagesState])
    assert graph.get_state(config).values["messages"][-1].text == "done"
