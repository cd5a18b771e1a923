"""A graph's run that is held out holds no lesson: not in its prompts, state, checkpoints, stream or subgraphs."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_reasoningbank import ReasoningBankHooks, lessons_block
from reasoningbank import InvalidInputError, ReasoningBank

DATES = "parse the dates of the invoices"
MOST = 40  # so many runs fall into one arm once in 500,000,000,000 times


@pytest.mark.parametrize("way", ["graph", "subgraph"])
def test_a_run_that_is_held_out_leaks_nothing(bank: ReasoningBank, way: str) -> None:
    seen: list[str] = []
    model = FakeListChatModel(responses=["ok"])

    def agent(state: MessagesState) -> Any:
        seen.append(lessons_block(state))
        return {"messages": model.invoke([("system", seen[-1]), *state["messages"]])}

    outer = ReasoningBankHooks(bank, holdout=0.5, judge=lambda state: True)
    builder: Any = StateGraph(MessagesState)
    if way == "subgraph":
        below: Any = StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")
        inner = ReasoningBankHooks(bank, holdout=0)
        builder.add_node("below", inner.compile(inner.attach(below)))
        builder.add_edge(START, "below")
    else:
        builder.add_node("agent", agent)
        builder.add_edge(START, "agent")
    saver = InMemorySaver()
    graph: Any = outer.compile(outer.attach(builder), checkpointer=saver)
    held_out: list[bool] = []
    while True not in held_out and len(held_out) < MOST:
        run_id = uuid4()
        config: Any = {"run_id": run_id, "configurable": {"thread_id": str(run_id)}}
        streamed = list(graph.stream({"messages": [("user", DATES)]}, config, subgraphs=True))
        held_out.append(bank.runs.get(str(run_id)).held_out)

        assert ("tz=UTC" in seen[-1]) is not held_out[-1]
        assert "tz=UTC" not in str([streamed, list(saver.list(config)), graph.get_state(config)])
        assert bank.runs.get(str(run_id)).verdict == "success"
    assert held_out[-1]


def test_a_share_that_is_none_is_refused_before_any_run(bank: ReasoningBank) -> None:
    with pytest.raises(InvalidInputError, match="holdout"):
        ReasoningBankHooks(bank, holdout=2)
