"""Every way that an agent with the middleware can go, and whose bank, thread and reference it has."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware, dynamic_prompt
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_reasoningbank import (
    MemorySearchTool,
    ReasoningBankMiddleware,
    ReasoningBankRetriever,
    ReasoningBankToolkit,
    attach,
    format_lessons,
)
from reasoningbank import ReasoningBank
from reasoningbank.adapters import RunScope

DATES = "parse the dates of the invoices"
ASK: Any = {"messages": [("user", DATES)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def outcomes(bank: ReasoningBank) -> int:
    with bank._engine.read() as connection:
        assert connection is not None
        rows = connection.execute("SELECT count(*) FROM evidence WHERE kind = 'outcome' AND polarity <> 0")
        return int(rows.fetchone()[0])


@dynamic_prompt
def another_prompt(request: Any) -> str:
    return "Be brief."


# -- what the model saw --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("first", "credited"), [(True, 0), (False, 3)])
def test_a_prompt_that_replaces_the_block_costs_the_lessons_their_credit(
    agents: Any, first: bool, credited: int, way: str
) -> None:
    agent, model = agents.build("done", others=(another_prompt,), first=first, judge=lambda _: True)
    agent.invoke(ASK) if way == "sync" else asyncio.run(agent.ainvoke(ASK))

    assert agents.blocks(model) == [int(credited > 0)]
    assert agents.verdicts() == ["success"]
    assert outcomes(agents.bank) == credited
    assert sum(memory.usage_count for memory in agents.bank.list().memories) == credited


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("first", "credited"), [(True, 0), (False, 3)])
def test_an_agent_that_is_not_attached_credits_what_its_model_saw_too(
    bank: ReasoningBank, scripted: Any, first: bool, credited: int, way: str
) -> None:
    middleware: Any = ReasoningBankMiddleware(bank, judge=lambda _: True)
    order = [middleware, another_prompt] if first else [another_prompt, middleware]
    agent: Any = create_agent(scripted("done"), [], middleware=order)
    agent.invoke(ASK) if way == "sync" else asyncio.run(agent.ainvoke(ASK))

    assert [episode.verdict for episode in bank.runs.list().episodes] == ["success"]
    assert outcomes(bank) == credited


def test_the_block_is_the_same_over_the_turns_of_a_conversation(agents: Any) -> None:
    agent, model = agents.build("one", "two", "three", checkpointer=InMemorySaver(), judge=lambda _: True)
    for _ in range(3):
        agent.invoke(ASK, THREAD)

    assert len({seen[0].text for seen in model.seen}) == 1


def test_no_lesson_is_in_an_output_a_stream_or_a_checkpoint(agents: Any) -> None:
    saver = InMemorySaver()
    agent, _ = agents.build("one", "two", checkpointer=saver)
    shown = [str(agent.invoke(ASK, THREAD))]
    modes: Any = ["values", "updates", "messages", "debug", "tasks", "checkpoints", "custom"]
    shown += [str(part) for part in agent.stream(ASK, THREAD, stream_mode=modes, subgraphs=True)]

    assert not any("timezone" in text for text in shown)
    assert "timezone" not in str(saver.storage) + str(saver.writes) + str(saver.blobs)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_redacted_is_not_stored_as_the_task(agents: Any, first: bool) -> None:
    agent, _ = agents.build("done", others=(PIIMiddleware("email", strategy="redact"),), first=first)
    agent.invoke({"messages": [("user", f"{DATES} of ada@example.org")]})

    (episode,) = agents.bank.runs.list().episodes
    assert "ada" not in episode.task
    assert DATES in episode.task


def test_an_async_judge_is_awaited_in_the_agents_loop(agents: Any) -> None:
    loops: list[Any] = []

    async def judge(state: Any) -> dict[str, Any]:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return {"key": "k", "score": True, "comment": "it is right"}

    async def run() -> Any:
        await agent.ainvoke(ASK)
        return asyncio.get_running_loop()

    agent, _ = agents.build("done", judge=judge)
    assert asyncio.run(run()) is loops[0]
    (episode,) = agents.bank.runs.list().episodes
    assert (episode.verdict, episode.reason) == ("success", "it is right")


# -- sub-agents, threads and references ----------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_what_a_user_reports_by_the_thread_reaches_the_users_run(
    bank: ReasoningBank, agents: Any, scripted: Any, tool_call: Any, shared: bool
) -> None:
    outer = ReasoningBankMiddleware(bank)
    inner = outer if shared else ReasoningBankMiddleware(bank)
    sub: Any = attach(create_agent(scripted("researched"), [], middleware=[inner]), inner)

    @tool
    def research(question: str) -> str:
        """Ask the sub-agent."""
        return str(sub.invoke({"messages": [HumanMessage(question)]})["messages"][-1].text)

    made = create_agent(
        scripted(tool_call("research", question="quote the names of the invoices"), "done"),
        [research],
        middleware=[outer],
        checkpointer=InMemorySaver(),
    )
    attach(made, outer).invoke(ASK, {"configurable": {"thread_id": "t", "reasoningbank_ref": "mine"}})

    assert bank.runs.get(thread="t").task == DATES
    assert bank.runs.get("mine").task == DATES
    assert {episode.task for episode in bank.runs.list().episodes} == {DATES, "quote the names of the invoices"}
    assert bank.report(True, thread="t").episode.ref == "mine"


@pytest.mark.parametrize("thread", [7, uuid4(), "", "x" * 400, "\u200b"], ids=["int", "uuid", "empty", "long", "blank"])
def test_no_thread_and_no_message_breaks_the_agent(agents: Any, thread: Any) -> None:
    agent, _ = agents.build("one", "two")
    config: Any = {"configurable": {"thread_id": thread}}
    agent.invoke(ASK, config)
    agent.invoke({"messages": [HumanMessage("\u200b")]}, config)

    assert agents.verdicts() == ["unknown"]


def test_feedback_finds_a_run_by_its_id(agents: Any) -> None:
    agent, _ = agents.build("done")
    run_id = uuid4()
    agent.invoke(ASK, {"run_id": run_id})

    assert agents.bank.report("success", ref=str(run_id)).recorded


# -- tenants -------------------------------------------------------------------------------------------------------


@dataclass
class Tenant:
    name: str


def test_one_agent_one_chain_and_one_toolkit_serve_many_tenants(
    open_bank: Callable[..., ReasoningBank], scripted: Any, tool_call: Any
) -> None:
    banks = {name: open_bank(name) for name in ("acme", "globex")}
    for name, bank in banks.items():
        bank.record(f"Lesson of {name}", "Parse the dates of the invoices in UTC", outcome="success")

    def by_context(run: RunScope) -> ReasoningBank:
        return banks[run.context.name]

    def by_config(run: RunScope) -> ReasoningBank:
        return banks[run["configurable"]["tenant"]]

    middleware = ReasoningBankMiddleware(by_context, judge=lambda _: True)
    retriever = ReasoningBankRetriever(bank=by_config, record_usage=True)
    prompt = ChatPromptTemplate.from_template("{lessons}\n\nTask: {q}")
    for name in ("acme", "globex", "acme"):
        other = "globex" if name == "acme" else "acme"
        model = scripted(tool_call("memory_search", query=DATES), "done")
        tools = ReasoningBankToolkit(by_context, read_only=True).get_tools()
        made: Any = create_agent(model, tools, middleware=[middleware], context_schema=Tenant)
        attach(made, middleware).invoke(ASK, context=Tenant(name))
        chained = scripted("ok")
        steps: Any = {"lessons": retriever | format_lessons, "q": RunnablePassthrough()} | prompt | chained
        config: Any = {"configurable": {"tenant": name}}
        attach(steps, retriever, judge=lambda _: True).invoke(DATES, config)
        seen = "\n".join(message.text for given in [*model.seen, *chained.seen] for message in given)

        assert seen.count(f"Lesson of {name}") == 4  # two blocks, a tool's answer, and a prompt
        assert f"Lesson of {other}" not in seen
        assert [d.metadata["title"] for d in retriever.invoke(DATES, config)] == [f"Lesson of {name}"]

    assert len(banks["globex"].runs.list(verdict="success").episodes) == 2


def test_no_argument_of_a_model_reaches_the_resolver(bank: ReasoningBank, tool_call: Any) -> None:
    asked: list[RunScope] = []

    def resolve(run: RunScope) -> ReasoningBank:
        asked.append(run)
        return bank

    search = MemorySearchTool(bank=resolve)
    call = {"query": DATES, "config": {"configurable": {"tenant": "globex"}}}
    answer = search.invoke({"name": "memory_search", "args": call, "id": "1", "type": "tool_call"})

    assert answer.status == "error"
    assert not any("globex" in str(run) for run in asked)


async def test_a_middleware_is_made_in_a_coroutine_without_blocking_its_loop(
    bank: ReasoningBank, scripted: Any
) -> None:
    from blockbuster import blockbuster_ctx

    with blockbuster_ctx(["reasoningbank", "langchain_reasoningbank", "langgraph_reasoningbank"]):
        middleware = ReasoningBankMiddleware(bank)
        agent: Any = attach(create_agent(scripted("done"), [], middleware=[middleware]), middleware)
        await agent.ainvoke(ASK)


# -- distilling, tools, types --------------------------------------------------------------------------------------


def test_each_turn_of_a_conversation_is_distilled_by_itself_and_failures_are_too(agents: Any) -> None:
    agent, _ = agents.build(
        "loaded", ValueError("the model is down"), checkpointer=InMemorySaver(), distill=True, judge=lambda _: True
    )
    agent.invoke({"messages": [("user", "load the sales figures")]}, THREAD)
    with pytest.raises(ValueError, match="down"):
        agent.invoke({"messages": [("user", "the test suite fails")]}, THREAD)

    jobs = [(job.task, job.verdict) for job in reversed(agents.bank.queue.list())]
    assert jobs == [("load the sales figures", "success"), ("the test suite fails", "failure")]


@pytest.mark.parametrize(
    "given",
    [
        DATES,
        {"query": DATES, "tags": ["null"]},
        {"query": DATES, "limit": 5.0},
        {"query": DATES, "tags": "[\"\"]"},
    ],
    ids=str,
)  # fmt: skip
def test_a_tool_reads_what_models_and_programs_send(bank: ReasoningBank, given: Any) -> None:
    assert "Pin the timezone" in MemorySearchTool(bank=bank).invoke(given)


MISSING = """
import sys
sys.modules["langchain"] = None
import langchain_reasoningbank
try:
    langchain_reasoningbank.ReasoningBankMiddleware
except ImportError as error:
    print(error)
"""


def test_a_missing_extra_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=False)

    assert "pip install 'langchain-reasoningbank[agents]'" in done.stdout
