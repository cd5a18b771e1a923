"""A run that is held out is shown no lesson by block, tools or retriever, is one episode, and is drawn once."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.tools import RetrieverTool

from llama_index.memory.reasoningbank import (
    ReasoningBankMemoryBlock,
    ReasoningBankRetriever,
    get_tools,
    run_with_memory,
)
from reasoningbank import InvalidInputError, ReasoningBank

ASKED, OTHER = "parse the dates of the invoices", "delete the invoices"
LESSONS = ("tz=UTC", "Void invoices")
MOST = 40  # so many runs fall into one arm once in 500,000,000,000 times


@pytest.mark.parametrize("doors", ["block and tools", "tools"])
async def test_a_run_that_is_held_out_leaks_nothing(bank: ReasoningBank, agents: Any, doors: str) -> None:
    look = RetrieverTool.from_defaults(ReasoningBankRetriever(bank), name="look", description="Looks.")
    with_block = doors == "block and tools"
    blocks = [agents.block(holdout=0.5)] if with_block else []
    tools = [*get_tools(bank, holdout=None if with_block else 0.5), look]
    script = [("memory_search", {"query": ASKED}), ("memory_search", {"query": OTHER}), ("look", {"input": ASKED})]
    arms: list[bool] = []
    while len(set(arms)) < 2 and len(arms) < MOST:
        agents.prompts.clear()
        memory = agents.memory(*blocks, session_id=f"s{len(arms)}") if with_block else None
        run = agents.function_agent(*script, "done", tools=tools).run(ASKED, memory=memory)
        result = await (run_with_memory(run, memory=memory) if memory is not None else run)
        shown = any(lesson in str([agents.prompts, result.tool_calls, result]) for lesson in LESSONS)
        episode = bank.runs.get(run.run_id)

        assert shown is not episode.held_out
        assert bool(episode.memories) is shown
        arms.append(shown)
    assert set(arms) == {True, False}
    assert len(bank.runs.list(limit=100).episodes) == len(arms)


def test_a_share_that_is_none_is_refused_before_any_run(bank: ReasoningBank) -> None:
    with pytest.raises(ValueError, match="holdout"):
        ReasoningBankMemoryBlock(bank=bank, holdout=2)
    with pytest.raises(InvalidInputError, match="holdout"):
        get_tools(bank, holdout=2)
