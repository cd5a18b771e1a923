"""Every way that a chain or an agent with a retriever can go: what is credited, and how often."""

from __future__ import annotations

import asyncio
import gc
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langchain_reasoningbank import attach, format_lessons, lessons_text
from reasoningbank import ReasoningBank

DATES = "parse the dates of the invoices"
ASK: Any = {"messages": [("user", DATES)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}
PROMPT = ChatPromptTemplate.from_template("{lessons}\n\nTask: {q}")


def chain(lessons: Any, model: Any) -> Runnable[Any, Any]:
    steps: Runnable[Any, Any] = {"lessons": lessons, "q": RunnablePassthrough()} | PROMPT | model
    return steps


def evidence(bank: ReasoningBank, kind: str = "outcome") -> dict[str, int]:
    """Return how much evidence of a kind counts about each memory, by title."""
    with bank._engine.read() as connection:
        assert connection is not None
        rows = connection.execute(
            "SELECT m.title, count(*) FROM evidence AS e JOIN memories AS m ON m.n = e.memory "
            "WHERE e.kind = ? AND e.polarity <> 0 GROUP BY m.title",
            (kind,),
        )
        return dict(rows.fetchall())


def each_once(bank: ReasoningBank) -> bool:
    return bool(evidence(bank)) and set(evidence(bank).values()) == {1} and evidence(bank) == evidence(bank, "usage")


def noting(judged: list[Any]) -> Any:
    """Return a judge that keeps what it is given, and is content."""

    def judge(given: Any) -> bool:
        judged.append(given)
        return True

    return judge


class Outer(BaseRetriever):
    """What multi-query, ensemble and compression retrievers do: ask others, and make something of the answers."""

    inner: Any
    queries: tuple[str, ...] = ()
    kept: int = 99
    model: Any = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        child = {"callbacks": run_manager.get_child()}
        found = [d for q in self.queries or (query,) for d in self.inner.invoke(q, child)]
        if self.model is not None:
            self.model.invoke("\n".join(d.page_content for d in found), child)
        unique = [d for n, d in enumerate(found) if d not in found[:n]]
        return unique[: self.kept]


# -- retrievers in retrievers ----------------------------------------------------------------------------------------


def test_several_queries_of_one_run_show_and_credit_each_lesson_once(
    bank: ReasoningBank, retriever: Any, scripted: Any
) -> None:
    model = scripted("ok")
    outer = Outer(inner=retriever, queries=(DATES, "the dates of the invoices", "invoices and their dates"))
    run_id, steps = uuid4(), chain(outer | format_lessons, model)
    attach(steps, retriever, judge=lambda _: True).invoke(DATES, {"run_id": run_id})

    assert model.seen[0][0].text.count("Pass tz=UTC") == 1
    assert each_once(bank)
    (episode,) = bank.runs.list().episodes
    assert set(bank.report("failure", ref=str(run_id)).credited) == {served.memory for served in episode.memories}
    assert bank.upkeep.status().open_episodes == 0


@pytest.mark.parametrize("chooser", [True, False])
def test_what_a_compressor_drops_is_not_credited_even_if_its_own_model_saw_it(
    bank: ReasoningBank, retriever: Any, scripted: Any, chooser: bool
) -> None:
    outer = Outer(inner=retriever, kept=1, model=scripted("the first") if chooser else None)
    attach(chain(outer | format_lessons, scripted("ok")), retriever, judge=lambda _: True).invoke(DATES)

    assert evidence(bank) == evidence(bank, "usage") == {"Pin the timezone": 1}


def test_what_a_compressor_drops_is_not_credited_where_no_model_can_be_watched(
    bank: ReasoningBank, retriever: Any
) -> None:
    steps: Any = chain(Outer(inner=retriever, kept=1) | format_lessons, RunnableLambda(lambda prompt: "ok"))
    attach(steps, retriever, judge=lambda _: True).invoke(DATES)

    assert evidence(bank) == {"Pin the timezone": 1}


def test_what_does_not_fit_the_prompt_is_not_credited(bank: ReasoningBank, retriever: Any, scripted: Any) -> None:
    model = scripted("ok")
    short: Any = RunnableLambda(lambda documents: lessons_text(documents[:1], max_tokens=140))
    attach(chain(retriever | short, model), retriever, judge=lambda _: True).invoke(DATES)

    assert evidence(bank) == {"Pin the timezone": 1}


def test_lessons_in_a_layout_of_ones_own_are_known(bank: ReasoningBank, retriever: Any, scripted: Any) -> None:
    own: Any = RunnableLambda(lambda documents: "\n".join(f"* {d.page_content!r}" for d in documents))
    attach(chain(retriever | own, scripted("ok")), retriever, judge=lambda _: True).invoke(DATES)

    assert each_once(bank)
    assert len(evidence(bank)) == 3


def test_lessons_that_reach_no_prompt_are_not_credited(bank: ReasoningBank, retriever: Any, scripted: Any) -> None:
    nothing: Any = RunnableLambda(lambda documents: "")
    attach(chain(retriever | nothing, scripted("ok")), retriever, judge=lambda _: True).invoke(DATES)

    assert evidence(bank) == evidence(bank, "usage") == {}
    assert bank.upkeep.status().open_episodes == 0


# -- retries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("outside", [True, False])
def test_of_attempts_the_last_counts_once(
    bank: ReasoningBank, retriever: Any, scripted: Any, outside: bool, way: str
) -> None:
    steps = chain(retriever | format_lessons, scripted(ValueError("down"), ValueError("down"), "ok"))
    options: Any = {"stop_after_attempt": 3, "wait_exponential_jitter": False}
    tried: Any = (
        attach(steps, retriever, judge=lambda _: True).with_retry(**options)
        if outside
        else attach(steps.with_retry(**options), retriever, judge=lambda _: True)
    )
    assert (tried.invoke(DATES) if way == "sync" else asyncio.run(tried.ainvoke(DATES))).text == "ok"

    assert each_once(bank)
    assert [episode.verdict for episode in bank.runs.list().episodes] == ["success"]


def test_without_a_judge_a_run_that_succeeded_when_tried_again_is_no_failure(
    bank: ReasoningBank, retriever: Any, scripted: Any, agents: Any
) -> None:
    again: Any = {"stop_after_attempt": 2, "wait_exponential_jitter": False}
    steps = chain(retriever | format_lessons, scripted(ValueError("down"), "ok"))
    attach(steps, retriever).with_retry(**again).invoke(DATES)
    agent, _ = agents.build(ValueError("down"), "done")
    agent.with_retry(**again).invoke(ASK)

    assert agents.verdicts() == ["unknown", "unknown"]
    assert evidence(bank) == {}


def test_an_agent_that_is_tried_again_is_one_run(bank: ReasoningBank, agents: Any) -> None:
    agent, _ = agents.build(ValueError("down"), "done", judge=lambda state: True)
    agent.with_retry(stop_after_attempt=2, wait_exponential_jitter=False).invoke(ASK)

    assert agents.verdicts() == ["success"]
    assert each_once(bank)


# -- streams ---------------------------------------------------------------------------------------------------------


class Talking:
    """Streams its answer in pieces."""

    @staticmethod
    def of(*pieces: str) -> Any:
        def talk(prompt: Any) -> Any:
            yield from pieces

        async def atalk(prompt: Any) -> Any:
            for piece in pieces:
                yield piece

        return RunnableLambda(talk, afunc=atalk)


def partly(runnable: Any) -> None:
    for n, _ in enumerate(runnable.stream(DATES)):
        if n == 1:
            break
    gc.collect()


async def apartly(runnable: Any) -> None:
    stream = runnable.astream(DATES)
    async for _ in stream:
        break
    await stream.aclose()


WAYS = {
    "the chain": lambda steps: steps,
    "as a step of a chain": lambda steps: RunnablePassthrough() | steps,
    "before a step": lambda steps: steps | StrOutputParser(),
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("place", WAYS)
def test_a_stream_that_is_left_half_way_is_no_result(bank: ReasoningBank, retriever: Any, place: str, way: str) -> None:
    judged: list[Any] = []
    steps = attach(
        chain(retriever | format_lessons, Talking.of("a", "b", "c", "d")),
        retriever,
        judge=noting(judged),
    )
    runnable = WAYS[place](steps)
    partly(runnable) if way == "sync" else asyncio.run(apartly(runnable))

    # LangChain itself runs to the end what stands before another step.
    assert judged == (["abcd"] if (place, way) == ("before a step", "sync") else [])
    assert [episode.verdict for episode in bank.runs.list().episodes] == ["success" if judged else None]
    judged.clear()
    assert "".join(steps.stream(DATES)) == "abcd"
    assert judged == ["abcd"]


# -- in agents and graphs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_retriever_as_a_tool_is_credited_for_the_agents_answer(
    bank: ReasoningBank, retriever: Any, scripted: Any, tool_call: Any, way: str
) -> None:
    judged: list[Any] = []
    lookup = create_retriever_tool(retriever, "lookup", "Look up lessons.")
    made: Any = create_agent(scripted(tool_call("lookup", query=DATES), "done"), [lookup])
    agent = attach(made, retriever, judge=noting(judged))
    agent.invoke(ASK) if way == "sync" else asyncio.run(agent.ainvoke(ASK))

    assert [state["messages"][-1].text for state in judged] == ["done"]
    assert each_once(bank)
    assert bank.upkeep.status().open_episodes == 0


def test_a_chain_in_a_tool_is_judged_by_the_agents_answer(
    bank: ReasoningBank, retriever: Any, scripted: Any, tool_call: Any
) -> None:
    inner = chain(retriever | format_lessons, scripted("inner answer")) | StrOutputParser()

    @tool
    def research(question: str) -> str:
        """Ask the chain."""
        return str(inner.invoke(question))

    judged: list[Any] = []
    made: Any = create_agent(scripted(tool_call("research", question=DATES), "done"), [research])
    attach(made, retriever, judge=noting(judged)).invoke(ASK)

    assert [state["messages"][-1].text for state in judged] == ["done"]
    assert each_once(bank)


def asking(retriever: Any, model: Any, *, after: Any = None) -> Any:
    def work(state: MessagesState) -> Any:
        lessons = lessons_text(retriever.invoke(state["messages"][-1].text))
        return {"messages": [model.invoke([("system", lessons), *state["messages"]])]}

    def ask(state: MessagesState) -> Any:
        return {"messages": [("ai", interrupt("may I?"))]}

    builder = StateGraph(MessagesState)
    builder.add_node("work", work)
    builder.add_node("ask", ask)
    builder.add_edge(START, "work")
    builder.add_edge("work", "ask")
    return builder


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("door", ["interrupt", "before", "after"])
def test_a_pause_is_not_judged_and_its_resume_is_once(
    bank: ReasoningBank, retriever: Any, scripted: Any, door: str, again: bool
) -> None:
    judged: list[Any] = []
    saver = InMemorySaver()
    options: Any = {"before": {"interrupt_before": ["ask"]}, "after": {"interrupt_after": ["work"]}}.get(door, {})

    def build() -> Any:
        graph = asking(retriever, scripted("plan")).compile(checkpointer=saver, **options)
        return attach(graph, retriever, judge=noting(judged))

    graph = build()
    graph.invoke(ASK, THREAD)
    assert judged == []
    assert [episode.verdict for episode in bank.runs.list().episodes] == [None]

    graph = build() if again else graph  # as a new process would
    if door != "interrupt":
        graph.invoke(None, THREAD)
        assert judged == []
    graph.invoke(Command(resume="yes"), THREAD)

    assert len(judged) == 1
    assert [episode.verdict for episode in bank.runs.list().episodes] == ["success"]
    assert each_once(bank)


def test_parallel_branches_of_one_chain_are_one_run(bank: ReasoningBank, retriever: Any, scripted: Any) -> None:
    both: Any = {
        "a": chain(retriever | format_lessons, scripted("one")),
        "b": chain(retriever | format_lessons, scripted("two")),
    } | RunnableLambda(lambda answers: answers["a"].text + answers["b"].text)
    attach(both, retriever, judge=lambda answer: answer == "onetwo").invoke(DATES)

    assert each_once(bank)
    assert [episode.verdict for episode in bank.runs.list().episodes] == ["success"]
