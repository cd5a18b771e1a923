"""Every way a graph run can end, on both savers, in both ways of calling."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, StateGraph, add_messages
from langgraph.types import Command, RetryPolicy, interrupt

from langgraph_reasoningbank import ReasoningBankHooks, ReasoningBankState, lessons_block
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


class State(ReasoningBankState, total=False):
    q: str
    log: Annotated[list[str], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


def work(state: State) -> dict[str, Any]:
    return {"log": [lessons_block(state)]}


def boom(state: State) -> dict[str, Any]:
    lessons_block(state)
    raise ValueError("the node broke")


def ask(state: State) -> dict[str, Any]:
    lessons_block(state)
    return {"log": [interrupt("may I?")]}


def hooks_of(bank: ReasoningBank, **options: Any) -> ReasoningBankHooks:
    defaults: dict[str, Any] = {"query": lambda state: state["q"], "timeout": 30.0, "judge": lambda state: True}
    return ReasoningBankHooks(bank, **(defaults | options))


def graph_of(bank: ReasoningBank, node: Any = work, *, saver: Any = None, **options: Any) -> Any:
    node_options = options.pop("adding", {})
    hooks = options.pop("hooks", None) or hooks_of(bank, **options)
    builder = StateGraph(State)
    builder.add_node("work", node, **node_options)
    return hooks.compile(hooks.attach(builder, entry="work", exits=["work"]), checkpointer=saver)


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Calls a graph, in both ways."""

    def call(graph: Any, given: Any = None, config: Any = None) -> Any:
        given = {"q": ASKED} if given is None else given
        if request.param == "sync":
            return graph.invoke(given, config)
        return asyncio.run(graph.ainvoke(given, config))

    return call


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        connection = sqlite3.connect(tmp_path / "c.db", check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()


# -- endings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "verdict"), [(None, "unknown"), (lambda state: True, "success"), (lambda state: "failure", "failure")]
)
def test_a_run_that_ends_is_judged_or_unknown(
    bank: ReasoningBank, run: Any, verdicts: Verdicts, signals: Any, judge: Any, verdict: str
) -> None:
    run(graph_of(bank, judge=judge))

    assert verdicts(bank) == [verdict]
    assert signals(bank, "outcome") == (0 if verdict == "unknown" else 2)


def test_a_node_that_raises_is_a_failure(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    with pytest.raises(ValueError, match="the node broke"):
        run(graph_of(bank, boom))

    assert verdicts(bank) == ["failure"]


def test_a_failure_that_is_not_the_lessons_fault_stays_open(bank: ReasoningBank, verdicts: Verdicts) -> None:
    with pytest.raises(ValueError, match="broke"):
        graph_of(bank, boom, failure_filter=lambda error: not isinstance(error, ValueError)).invoke({"q": ASKED})

    assert verdicts(bank) == [None]


def test_a_retried_node_counts_once(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    tries = []

    def flaky(state: State) -> dict[str, Any]:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError
        return {}

    run(graph_of(bank, flaky, adding={"retry_policy": RetryPolicy(initial_interval=0.001, jitter=False)}))

    assert len(tries) == 3
    assert verdicts(bank) == ["success"]


def test_the_recursion_limit_is_a_failure(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    with pytest.raises(GraphRecursionError):
        run(graph_of(bank, lambda state: Command(goto="work")), config={"recursion_limit": 6})

    assert verdicts(bank) == ["failure"]


def test_an_error_handler_that_goes_on_is_judged_at_the_end(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    hooks = hooks_of(bank, judge=lambda state: "handled" not in state["log"])
    handler = {"error_handler": lambda state: Command(update={"log": ["handled"]}, goto="reasoningbank_outcome")}
    run(graph_of(bank, boom, hooks=hooks, adding=handler))

    assert verdicts(bank) == ["failure"]


def test_an_interrupt_stays_open_and_its_resume_closes_it_once(
    bank: ReasoningBank, run: Any, saver: Any, verdicts: Verdicts, signals: Any
) -> None:
    if isinstance(saver, SqliteSaver):
        run = lambda graph, given=None, config=None: graph.invoke(given or {"q": ASKED}, config)  # noqa: E731
    graph = graph_of(bank, ask, saver=saver)
    run(graph, None, THREAD)
    assert verdicts(bank) == [None]

    run(graph, Command(resume="yes"), THREAD)
    assert verdicts(bank) == ["success"]

    run(graph, None, THREAD)
    run(graph, Command(resume="yes"), THREAD)
    assert verdicts(bank) == ["success", "success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 4


@pytest.mark.parametrize(("then", "verdict"), [(work, "success"), (boom, "failure")])
def test_a_new_process_closes_what_an_old_one_opened(
    bank: ReasoningBank, open_bank: Any, tmp_path: Path, verdicts: Verdicts, then: Any, verdict: str
) -> None:
    def ask_then(state: State) -> Any:
        interrupt("may I?")
        return then(state)

    for number, given in enumerate([{"q": ASKED}, Command(resume="yes")]):
        connection = sqlite3.connect(tmp_path / "c.db", check_same_thread=False)
        graph = graph_of(open_bank(), ask_then, saver=SqliteSaver(connection))
        try:
            graph.invoke(given, THREAD)
        except ValueError:
            assert number == 1
        connection.close()

    assert verdicts(bank) == [verdict]


def test_an_abandoned_run_is_never_failed_by_the_next(bank: ReasoningBank, open_bank: Any, verdicts: Verdicts) -> None:
    graph_of(bank, ask, saver=InMemorySaver()).invoke({"q": ASKED}, THREAD)

    def fail_early(state: State) -> str:
        raise KeyError("before the recall")

    with pytest.raises(KeyError):
        graph_of(open_bank(), boom, query=fail_early, saver=InMemorySaver()).invoke({"q": ASKED}, THREAD)

    assert verdicts(bank) == [None]


def test_a_failed_run_that_goes_on_and_succeeds_replaces_its_verdict(
    bank: ReasoningBank, run: Any, verdicts: Verdicts, signals: Any
) -> None:
    tries = []

    def once(state: State) -> dict[str, Any]:
        tries.append(lessons_block(state))
        if len(tries) == 1:
            raise ValueError("the first time")
        return {}

    graph = graph_of(bank, once, saver=InMemorySaver())
    with pytest.raises(ValueError, match="first"):
        run(graph, None, THREAD)
    assert verdicts(bank) == ["failure"]
    graph.invoke(None, THREAD)

    assert verdicts(bank) == ["success"]
    assert signals(bank, "outcome") == 2


def test_a_consumer_that_leaves_the_stream_leaves_the_episode_open(bank: ReasoningBank, verdicts: Verdicts) -> None:
    stream = graph_of(bank).stream({"q": ASKED})
    next(stream)
    stream.close()

    assert verdicts(bank) == [None]


async def test_a_cancelled_run_stays_open(bank: ReasoningBank, verdicts: Verdicts) -> None:
    begun = asyncio.Event()

    async def slow(state: State) -> dict[str, Any]:
        begun.set()
        await asyncio.sleep(60)
        return {}

    hooks = hooks_of(bank)
    task = asyncio.create_task(graph_of(bank, slow, hooks=hooks).ainvoke({"q": ASKED}))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert verdicts(bank) == [None]
    assert len(hooks.callback) == 0


# -- shapes --------------------------------------------------------------------------------------------------------


class Users(BaseCallbackHandler):
    """Callbacks of the caller's own."""


async def _events(graph: Any) -> None:
    async for _ in graph.astream_events({"q": ASKED}, version="v2"):
        pass


def _outer(graph: Any) -> Any:
    return StateGraph(State).add_node("sub", graph).add_edge(START, "sub").compile()


def _inside(graph: Any) -> Any:
    return StateGraph(State).add_node("n", lambda state: dict(graph.invoke(state))).add_edge(START, "n").compile()


SHAPES: dict[str, Callable[[Any], Any]] = {
    "called directly": lambda graph: graph.invoke({"q": ASKED}),
    "with callbacks of the caller's own": lambda graph: graph.invoke({"q": ASKED}, {"callbacks": [Users()]}),
    "as a stream of events": lambda graph: asyncio.run(_events(graph)),
    "as a step of a chain": lambda graph: (RunnableLambda(lambda given: given) | graph).invoke({"q": ASKED}),
    "as a node of an outer graph": lambda graph: _outer(graph).invoke({"q": ASKED}),
    "inside a node of an outer graph": lambda graph: _inside(graph).invoke({"q": ASKED}),
    "with callbacks bound once more": lambda graph: graph.with_config(callbacks=[Users()]).invoke({"q": ASKED}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_failure_is_seen_however_the_graph_is_called(bank: ReasoningBank, verdicts: Verdicts, shape: str) -> None:
    with pytest.raises(ValueError, match="the node broke"):
        SHAPES[shape](graph_of(bank, boom))

    assert verdicts(bank) == ["failure"]


def test_branches_of_different_length_end_in_one_outcome(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    judged: list[Any] = []

    def judge(state: Any) -> bool:
        judged.append(1)
        return True

    hooks = hooks_of(bank, judge=judge)
    builder = StateGraph(State)
    for name in ("entry", "short", "long", "longer"):
        builder.add_node(name, lambda state: {"log": ["x"]})
    builder.add_edge("entry", "short")
    builder.add_edge("entry", "long")
    builder.add_edge("long", "longer")
    graph = hooks.compile(hooks.attach(builder, entry="entry", exits=["short", "longer"]))
    run(graph)

    assert len(judged) == 1
    assert verdicts(bank) == ["success"]


def test_a_subgraph_twice_in_parallel_has_two_episodes(bank: ReasoningBank, run: Any, verdicts: Verdicts) -> None:
    class Out(ReasoningBankState, total=False):
        log: Annotated[list[str], operator.add]

    hooks = hooks_of(bank)
    builder = StateGraph(State, output_schema=Out)
    builder.add_node("work", work)
    graph = hooks.compile(hooks.attach(builder, entry="work", exits=["work"]))
    outer = StateGraph(State).add_node("a", graph).add_node("b", graph).add_edge(START, "a").add_edge(START, "b")
    run(outer.compile())

    assert verdicts(bank) == ["success", "success"]


def test_a_replay_after_the_recall_keeps_its_reference(bank: ReasoningBank, verdicts: Verdicts, signals: Any) -> None:
    graph = graph_of(bank, saver=InMemorySaver())
    graph.invoke({"q": ASKED}, THREAD)
    before_work = next(s for s in graph.get_state_history(THREAD) if s.next == ("work",))
    graph.invoke(None, before_work.config)

    assert verdicts(bank) == ["success"]
    assert signals(bank, "outcome") == 2


def test_the_lessons_are_filtered_by_all_that_a_recall_filters_by(bank: ReasoningBank) -> None:
    lessons = graph_of(bank, filters={"since": "1d"}, expand_links=True).invoke({"q": ASKED})
    nothing = graph_of(bank, filters={"where": {"no such key": 1}}).invoke({"q": ASKED})

    assert lessons["log"] != [""]
    assert nothing["log"] == [""]
