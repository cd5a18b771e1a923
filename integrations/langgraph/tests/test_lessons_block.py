"""Where the lessons are, and where they never are."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph, add_messages

from langgraph_reasoningbank import ReasoningBankHooks, ReasoningBankState, lessons_block
from reasoningbank import InvalidInputError, ReasoningBank

ASKED = "parse the dates of the invoices"
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


class State(ReasoningBankState, total=False):
    q: str
    log: Annotated[list[str], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


def work(state: State) -> dict[str, Any]:
    return {"log": [lessons_block(state)]}


def graph_of(bank: ReasoningBank, node: Any = work, *, saver: Any = None, query: Any = lambda state: state["q"]) -> Any:
    hooks = ReasoningBankHooks(bank, query=query, judge=lambda state: True)
    builder = StateGraph(State)
    builder.add_node("work", node)
    return hooks.compile(hooks.attach(builder, entry="work", exits=["work"]), checkpointer=saver)


def test_a_node_reads_the_lessons_from_the_state(bank: ReasoningBank, signals: Any) -> None:
    given = graph_of(bank).invoke({"q": ASKED})

    assert "Pin the timezone" in given["log"][0]
    assert json.loads(json.dumps(given["reasoningbank"])) == given["reasoningbank"]
    assert signals(bank, "usage") == len(given["reasoningbank"]["memories"])


def test_the_last_user_message_is_the_query_by_default(bank: ReasoningBank) -> None:
    given = graph_of(bank, query=None).invoke({"messages": [("user", ASKED), ("ai", "hm")]})

    assert "Pin the timezone" in given["log"][0]


def test_nothing_asked_recalls_nothing(bank: ReasoningBank, verdicts: Verdicts) -> None:
    given = graph_of(bank, query=None).invoke({"messages": []})

    assert given["reasoningbank"] == {"ref": "", "memories": []}
    assert verdicts(bank) == []


@pytest.mark.parametrize("first", [True, False])
def test_what_the_graph_starts_with_follows_the_recall_whenever_it_was_said(bank: ReasoningBank, first: bool) -> None:
    hooks = ReasoningBankHooks(bank)
    builder = StateGraph(State)
    builder.add_node("work", work)
    if first:
        builder.add_edge(START, "work")
        hooks.attach(builder)
    else:
        hooks.attach(builder)
        builder.add_edge(START, "work")
    given = hooks.compile(builder).invoke({"messages": [HumanMessage(ASKED)]})

    assert [block.count("Pin the timezone") for block in given["log"]] == [1]


def test_no_lesson_is_in_the_messages_or_in_their_stream(bank: ReasoningBank) -> None:
    graph = graph_of(bank, lambda state: {"messages": [AIMessage("fine")]}, query=None, saver=InMemorySaver())
    asked = {"messages": [("user", ASKED)]}
    streamed = [str(part) for part in graph.stream(asked, THREAD, stream_mode="messages")]
    for _ in range(2):
        graph.invoke(asked, THREAD)

    assert not any("lessons-" in part for part in streamed)
    stored = graph.get_state(THREAD).values["messages"]
    assert [m.type for m in stored] == ["human", "ai"] * 3
    assert not any("lessons-" in m.text for m in stored)


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "debug", "tasks", "checkpoints", "messages"])
def test_streaming_in_every_mode_closes_the_episode(bank: ReasoningBank, verdicts: Verdicts, mode: str) -> None:
    list(graph_of(bank, saver=InMemorySaver()).stream({"q": ASKED}, THREAD, stream_mode=mode))

    assert verdicts(bank) == ["success"]


@pytest.mark.parametrize(
    ("weak", "shown"), [("mark", "most likely none is about"), ("give", "Pin the timezone"), ("omit", "")]
)
def test_what_becomes_of_doubtful_lessons_is_the_users_choice(bank: ReasoningBank, weak: str, shown: str) -> None:
    seen: list[str] = []

    def agent(state: MessagesState) -> Any:
        seen.append(lessons_block(state))
        return {}

    hooks = ReasoningBankHooks(bank, weak=weak)
    graph: Any = hooks.compile(
        hooks.attach(StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent"))
    )
    graph.invoke({"messages": [("user", "remove the old emails")]})

    assert bool(seen[0]) is bool(shown)
    assert shown in seen[0]
    assert ("most likely" in seen[0]) is (weak == "mark")


def test_a_word_for_doubtful_lessons_that_is_none_is_refused_before_any_run(bank: ReasoningBank) -> None:
    with pytest.raises(InvalidInputError, match="omit, mark, give"):
        ReasoningBankHooks(bank, weak="hide")
