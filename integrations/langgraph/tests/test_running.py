"""The functional API, many runs at once, and what a run must never do."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import StateGraph
from langgraph.types import Command, interrupt

from langgraph_reasoningbank import ReasoningBankHooks, ReasoningBankState, lessons_block, recall_task, report_task
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"
THREAD: Any = {"configurable": {"thread_id": "t"}}
Verdicts = Callable[[ReasoningBank], list[str | None]]


class State(ReasoningBankState, total=False):
    q: str
    block: str


def hooks_of(bank: ReasoningBank, **options: Any) -> ReasoningBankHooks:
    defaults: dict[str, Any] = {"query": lambda state: state["q"], "timeout": 60.0, "judge": lambda state: True}
    return ReasoningBankHooks(bank, **(defaults | options))


def graph_of(hooks: ReasoningBankHooks, saver: Any = None) -> Any:
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"block": lessons_block(state)})
    return hooks.compile(hooks.attach(builder, entry="work", exits=["work"]), checkpointer=saver)


def test_the_functional_api_recalls_and_reports_once_over_a_resume(
    bank: ReasoningBank, verdicts: Verdicts, signals: Any
) -> None:
    hooks = hooks_of(bank)
    recall, report = recall_task(hooks), report_task(hooks)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(asked: str) -> str:
        recalled = recall(asked).result()
        answer = interrupt("may I?")
        report(recalled, answer).result()
        return str(recalled["block"])

    graph = hooks.bind(flow)
    graph.invoke(ASKED, THREAD)
    assert verdicts(bank) == [None]
    assert "Pin the timezone" in graph.invoke(Command(resume="yes"), THREAD)
    assert verdicts(bank) == ["success"]
    assert signals(bank, "usage") == signals(bank, "outcome") == 2


def test_an_entrypoint_that_raises_is_a_failure(bank: ReasoningBank, verdicts: Verdicts) -> None:
    hooks = hooks_of(bank)
    recall = recall_task(hooks)

    @entrypoint()
    def flow(asked: str) -> str:
        recall(asked).result()
        raise ValueError("the flow broke")

    with pytest.raises(ValueError, match="broke"):
        hooks.bind(flow).invoke(ASKED)

    assert verdicts(bank) == ["failure"]


async def test_fifty_runs_of_two_tenants_do_not_cross(
    open_bank: Callable[..., ReasoningBank], verdicts: Verdicts
) -> None:
    banks = {tenant: open_bank(tenant) for tenant in ("acme", "globex")}
    graphs, hooks = {}, {}
    for tenant, bank in banks.items():
        bank.record(f"Lesson of {tenant}", "Parse the dates of the invoices in UTC", outcome="success")
        hooks[tenant] = hooks_of(bank)
        graphs[tenant] = graph_of(hooks[tenant])
    order = [tenant for _ in range(25) for tenant in banks]
    given = await asyncio.gather(*(graphs[tenant].ainvoke({"q": ASKED}) for tenant in order))

    assert all(f"Lesson of {tenant}" in state["block"] for tenant, state in zip(order, given, strict=True))
    for tenant, bank in banks.items():
        assert verdicts(bank) == ["success"] * 25
        assert len(hooks[tenant].callback) == 0


async def test_a_recall_does_not_hold_up_the_event_loop(bank: ReasoningBank, verdicts: Verdicts) -> None:
    from blockbuster import blockbuster_ctx

    graph = graph_of(hooks_of(bank))
    with blockbuster_ctx(["reasoningbank", "langgraph_reasoningbank"]):
        await graph.ainvoke({"q": ASKED})

    assert verdicts(bank) == ["success"]


def test_a_disk_that_fails_does_not_break_the_graph(bank: ReasoningBank, caplog: pytest.LogCaptureFixture) -> None:
    graph = graph_of(hooks_of(bank))
    bank.close()
    with caplog.at_level(logging.WARNING):
        given = graph.invoke({"q": ASKED})

    assert given["block"] == ""
    assert "no lessons were recalled" in caplog.text


STRICT = """
import sys, tempfile
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph_reasoningbank import ReasoningBankHooks, ReasoningBankState, lessons_block
from reasoningbank import ReasoningBank

class State(ReasoningBankState, total=False):
    q: str
    block: str

bank = ReasoningBank(sys.argv[1], tenant="acme", project="billing", embedder="hash")
hooks = ReasoningBankHooks(bank, query=lambda state: state["q"], timeout=60.0)
builder = StateGraph(State)
builder.add_node("work", lambda state: {"block": lessons_block(state)})
graph = hooks.compile(hooks.attach(builder, entry="work", exits=["work"]), checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "t"}}
graph.invoke({"q": "parse the dates of the invoices"}, thread)
print(type(graph.get_state(thread).values["reasoningbank"]).__name__)
bank.close()
"""


def test_the_state_survives_strict_serialisation(bank: ReasoningBank) -> None:
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", STRICT, str(bank.root)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.strip(), done.stderr) == ("dict", "")


@pytest.mark.parametrize("judge", [lambda state: True, None])
def test_a_finished_run_is_enqueued_once_for_distilling(bank: ReasoningBank, judge: Any) -> None:
    graph = graph_of(hooks_of(bank, judge=judge, distill=True), InMemorySaver())
    graph.invoke({"q": ASKED}, THREAD)
    before_end = next(s for s in graph.get_state_history(THREAD) if s.next == ("reasoningbank_outcome",))
    graph.invoke(None, before_end.config)

    (job,) = bank.queue.list()
    assert job.status == "queued"
