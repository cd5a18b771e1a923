"""Every way that a graph can be built, begin and end: its lessons are seen, and its outcome counts once."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_reasoningbank import ReasoningBankHooks, lessons_block, recall_task, report_task
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"
ASK: Any = {"messages": [HumanMessage(ASKED)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


def hooks_of(bank: Any, **options: Any) -> ReasoningBankHooks:
    return ReasoningBankHooks(bank, **{"judge": lambda state: True, **options})


def model() -> Any:
    return GenericFakeChatModel(messages=iter([AIMessage("fine")] * 9))


def told(state: Any) -> dict[str, Any]:
    messages = state["messages"] if isinstance(state, dict) else state.messages
    return {"messages": [model().invoke([("system", lessons_block(state)), *messages])]}


def untold(state: Any) -> dict[str, Any]:
    return {"messages": [model().invoke(state["messages"])]}


def graph_of(hooks: ReasoningBankHooks, schema: Any = MessagesState, node: Any = told, saver: Any = None) -> Any:
    builder = StateGraph(schema)
    builder.add_node("agent", node)
    builder.add_edge(START, "agent")
    return hooks.compile(hooks.attach(builder), checkpointer=saver)


# -- states ----------------------------------------------------------------------------------------------------------


class Typed(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]


class Pydantic(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add] = []


@dataclass
class Data:
    messages: Annotated[list[AnyMessage], add_messages]


class Own(MessagesState):
    more: str


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("schema", [MessagesState, Own, Typed, Pydantic, Data])
def test_a_state_of_any_kind_needs_nothing_of_ours(
    bank: ReasoningBank, verdicts: Verdicts, signals: Any, schema: Any, way: str
) -> None:
    graph = graph_of(hooks_of(bank), schema)
    given = graph.invoke(ASK) if way == "sync" else asyncio.run(graph.ainvoke(ASK))

    assert "reasoningbank" not in given
    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 2


def test_a_node_that_is_given_a_part_of_the_state_sees_the_lessons(bank: ReasoningBank) -> None:
    seen: list[str] = []

    def part(state: Own) -> dict[str, Any]:
        seen.append(lessons_block(state))
        return {}

    class Wide(MessagesState):
        log: Annotated[list[str], operator.add]

    graph_of(hooks_of(bank), Wide, part).invoke(ASK)
    assert "Pin the timezone" in seen[0]


def test_a_node_without_the_lessons_credits_nothing(bank: ReasoningBank, verdicts: Verdicts, signals: Any) -> None:
    graph_of(hooks_of(bank), node=untold).invoke(ASK)

    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 0


def test_a_node_that_calls_a_model_nobody_can_watch_is_believed(bank: ReasoningBank, signals: Any) -> None:
    def raw(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"an answer to {len(lessons_block(state))} characters")]}

    graph_of(hooks_of(bank), node=raw).invoke(ASK)
    assert signals(bank, "outcome") == 2


class Question(TypedDict):
    question: str
    answer: str


def test_a_graph_in_which_nothing_can_be_recalled_is_an_error_at_once(bank: ReasoningBank) -> None:
    with pytest.raises(ValueError, match=r'query=lambda state: state\["question"\]'):
        hooks_of(bank).attach(StateGraph(Question))
    with pytest.raises(ValueError, match="use a TypedDict, a pydantic model or a dataclass"):
        hooks_of(bank).attach(StateGraph(Annotated[list, add_messages]))  # type: ignore[arg-type]

    hooks_of(bank, query=lambda state: state["question"]).attach(StateGraph(Question))


# -- beginnings and ends ---------------------------------------------------------------------------------------------


def conditional(builder: Any) -> None:
    builder.add_conditional_edges(START, lambda state: "agent" if state["messages"] else END, ["agent", END])


def conditional_end(builder: Any) -> None:
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", lambda state: END if len(state["messages"]) > 1 else "agent", [END, "agent"])


def sent(builder: Any) -> None:
    builder.add_conditional_edges(START, lambda state: [Send("agent", state)], ["agent"])


def to_the_end(builder: Any) -> None:
    builder.add_edge(START, "agent")
    builder.add_node("last", lambda state: Command(goto=END, update={"messages": [("ai", "bye")]}))
    builder.add_edge("agent", "last")


def deferred(builder: Any) -> None:
    builder.add_edge(START, "agent")
    builder.add_node("join", lambda state: {"messages": [("ai", "joined")]}, defer=True)
    builder.add_edge("agent", "join")


SHAPES = [conditional, conditional_end, sent, to_the_end, deferred]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("shape", SHAPES)
def test_however_a_graph_begins_and_ends_it_runs_once_and_is_judged_by_its_end(
    bank: ReasoningBank, verdicts: Verdicts, signals: Any, shape: Any, way: str
) -> None:
    judged: list[Any] = []

    def judge(state: Any) -> bool:
        judged.append(state["messages"][-1].text)
        return True

    hooks = hooks_of(bank, judge=judge)
    builder = StateGraph(MessagesState)
    builder.add_node("agent", told)
    shape(builder)
    graph: Any = hooks.compile(hooks.attach(builder))
    given = graph.invoke(ASK) if way == "sync" else asyncio.run(graph.ainvoke(ASK))

    assert sum(m.text == "fine" for m in given["messages"]) == 1
    assert judged == [given["messages"][-1].text]
    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 2


def test_agents_that_hand_over_to_each_other_share_the_lessons_of_the_run(
    bank: ReasoningBank, verdicts: Verdicts, signals: Any
) -> None:
    def agent(name: str, then: str | None) -> Any:
        def answer(state: MessagesState) -> Any:
            told_them = told(state)
            return Command(goto=then, graph=Command.PARENT, update=told_them) if then else told_them

        return StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile(name=name)

    builder = StateGraph(MessagesState)
    builder.add_node("alice", agent("alice", "bob"))
    builder.add_node("bob", agent("bob", None))
    builder.add_conditional_edges(START, lambda state: "alice", ["alice", "bob"])
    hooks = hooks_of(bank)
    graph: Any = hooks.compile(hooks.attach(builder), checkpointer=InMemorySaver())
    given = graph.invoke(ASK, THREAD)

    assert [m.text for m in given["messages"]] == [ASKED, "fine", "fine"]
    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 2


# -- where no lesson is ----------------------------------------------------------------------------------------------


def test_no_lesson_is_in_an_output_a_stream_or_a_checkpoint(bank: ReasoningBank) -> None:
    saver = InMemorySaver()
    graph = graph_of(hooks_of(bank), saver=saver)
    shown = [str(graph.invoke(ASK, THREAD))]
    modes: Any = ["values", "updates", "messages", "debug", "tasks", "checkpoints", "custom"]
    shown += [str(part) for part in graph.stream(ASK, THREAD, stream_mode=modes)]
    shown += [str(snapshot) for snapshot in graph.get_state_history(THREAD)]

    hooks = hooks_of(bank)
    recall, report = recall_task(hooks), report_task(hooks)

    @entrypoint(checkpointer=saver)
    def flow(asked: str) -> int:
        recalled = recall(asked).result()
        assert "Pin the timezone" in recalled["block"]
        interrupt("may I?")
        report(recalled, "done").result()
        return len(recalled["block"])

    bound: Any = hooks.bind(flow)
    other: Any = {"configurable": {"thread_id": "f"}}
    shown += [str(part) for part in bound.stream(ASKED, other, stream_mode=modes)]
    assert bound.invoke(Command(resume="yes"), other) > 100

    assert not any("timezone" in text for text in shown)
    assert "timezone" not in str(saver.storage) + str(saver.writes) + str(saver.blobs)


async def test_the_functional_api_recalls_in_async_code_too(bank: ReasoningBank, verdicts: Verdicts) -> None:
    hooks = hooks_of(bank)
    recall, report = recall_task(hooks), report_task(hooks)

    @entrypoint()
    async def flow(asked: str) -> str:
        recalled = await recall(asked)
        await report(recalled, "done")
        return str(recalled["block"])

    assert "Pin the timezone" in await hooks.bind(flow).ainvoke(ASKED)
    assert verdicts(bank) == ["success"]
