"""Agents that pause, that run side by side, and that must not wait."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from langchain_reasoningbank import ReasoningBankMiddleware, attach
from reasoningbank import EmbedderIdentity, ReasoningBank

DATES = "parse the dates of the invoices"
ASK: Any = {"messages": [("user", DATES)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}


# -- pauses --------------------------------------------------------------------------------------------------------


def approving(agents: Any, bank: ReasoningBank, path: Path, *script: Any) -> Any:
    """An agent as a new process would build it: over a SQLite checkpointer, asking before each look-up."""
    middleware: Any = ReasoningBankMiddleware(bank, judge=lambda state: True)
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    asking = HumanInTheLoopMiddleware(interrupt_on={"lookup": True})
    agent = create_agent(agents.scripted(*script), [agents.lookup], middleware=[middleware, asking], checkpointer=saver)
    return attach(agent, middleware), saver.conn


@pytest.mark.parametrize(("line", "verdict"), [("done", "success"), (ValueError("model down"), "failure")], ids=repr)
def test_a_pause_stays_open_and_a_new_process_closes_it(
    agents: Any, open_bank: Callable[..., ReasoningBank], tool_call: Any, tmp_path: Path, line: Any, verdict: str
) -> None:
    bank = agents.bank
    agent, connection = approving(agents, bank, tmp_path / "c.db", tool_call("lookup", what="a"))
    assert "__interrupt__" in agent.invoke(ASK, THREAD)
    connection.close()
    assert agents.verdicts(bank) == [None]

    later = open_bank()
    agent, connection = approving(agents, later, tmp_path / "c.db", line)
    try:
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    except ValueError:
        assert verdict == "failure"
    connection.close()

    assert agents.verdicts(bank) == [verdict]


@pytest.mark.parametrize("first", [True, False])
def test_summaries_and_lessons_go_together_in_either_order(agents: Any, scripted: Any, first: bool) -> None:
    summarising = SummarizationMiddleware(model=scripted("a summary"), trigger=("messages", 3), keep=("messages", 1))
    agent, model = agents.build("one", "two", others=(summarising,), first=first, checkpointer=InMemorySaver())
    agent.invoke(ASK, THREAD)
    agent.invoke({"messages": [("user", "quote the names of the invoices")]}, THREAD)

    assert agents.blocks(model) == [1, 1]


# -- many at once, and nothing that waits ----------------------------------------------------------------------------


async def test_fifty_runs_of_two_tenants_do_not_cross(agents: Any, open_bank: Callable[..., ReasoningBank]) -> None:
    banks = {tenant: open_bank(tenant) for tenant in ("acme", "globex")}
    built: dict[str, Any] = {}
    models: dict[str, Any] = {}
    for tenant, bank in banks.items():
        bank.record(f"Lesson of {tenant}", "Parse the dates of the invoices in UTC", outcome="success")
        middleware = ReasoningBankMiddleware(bank, timeout=60.0, judge=lambda state: True)
        models[tenant] = agents.scripted()
        built[tenant] = attach(create_agent(models[tenant], [], middleware=[middleware]), middleware)
    await asyncio.gather(*(built[tenant].ainvoke(ASK) for _ in range(25) for tenant in banks))

    for tenant, bank in banks.items():
        other = next(name for name in banks if name != tenant)
        assert agents.verdicts(bank) == ["success"] * 25
        assert all(f"Lesson of {tenant}" in seen[0].text for seen in models[tenant].seen)
        assert not any(f"Lesson of {other}" in seen[0].text for seen in models[tenant].seen)


async def test_a_recall_does_not_hold_up_the_event_loop(agents: Any) -> None:
    from blockbuster import blockbuster_ctx

    agent, _ = agents.build("done", judge=lambda state: True)
    with blockbuster_ctx(["reasoningbank", "langchain_reasoningbank", "langgraph_reasoningbank"]):
        await agent.ainvoke(ASK)

    assert agents.verdicts() == ["success"]


class WaitingEmbedder:
    """Keeps a query waiting once it is told to."""

    identity = EmbedderIdentity("waiting", "1", 4, "none", normalised=False)

    def __init__(self) -> None:
        self.slow, self.go_on = False, threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 4), dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        if self.slow:
            self.go_on.wait(10)
        return np.ones(4, dtype=np.float32)


def test_a_recall_that_comes_too_late_leaves_no_episode(
    agents: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = WaitingEmbedder()
    with ReasoningBank(tmp_path / "slow", tenant="acme", project="slow", embedder=embedder) as bank:
        bank.record("Pin the timezone", "Pass tz=UTC", outcome="success")
        middleware = ReasoningBankMiddleware(bank, timeout=0.05)
        model = agents.scripted("done")
        agent = attach(create_agent(model, [], middleware=[middleware]), middleware)
        embedder.slow = True
        with caplog.at_level(logging.WARNING):
            agent.invoke(ASK)
        embedder.go_on.set()

        assert agents.blocks(model) == [0]
        assert agents.verdicts(bank) == []
        assert "took longer than" in caplog.text


def test_a_disk_that_fails_does_not_break_the_agent(
    bank: ReasoningBank, scripted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = ReasoningBankMiddleware(bank)
    agent = attach(create_agent(scripted("done"), [], middleware=[middleware]), middleware)
    bank.close()

    assert agent.invoke(ASK)["messages"][-1].text == "done"
    assert "no lessons were recalled" in caplog.text


def test_failing_open_can_be_switched_off(bank: ReasoningBank, scripted: Any) -> None:
    middleware = ReasoningBankMiddleware(bank, fail_open=False)
    agent = attach(create_agent(scripted("done"), [], middleware=[middleware]), middleware)
    bank.close()

    with pytest.raises(OSError, match="closed"):
        agent.invoke(ASK)
