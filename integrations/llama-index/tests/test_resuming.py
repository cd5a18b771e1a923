"""A run that pauses, and goes on from a saved Context, is one episode."""

import json
from typing import Any, cast

import pytest
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from workflows.errors import WorkflowCancelledByUser

from llama_index.memory.reasoningbank import run_with_memory
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"


async def confirm(ctx: Context, what: str) -> str:
    """Ask a person."""
    asked: Any = InputRequiredEvent
    said = await ctx.wait_for_event(HumanResponseEvent, waiter_id="w", waiter_event=asked(prefix=what))
    return str(said.response)


def tools() -> list[FunctionTool]:
    return [FunctionTool.from_defaults(async_fn=confirm)]


@pytest.mark.filterwarnings("ignore:Skipping serialization")
async def test_what_goes_on_from_a_saved_context_is_the_same_episode(
    bank: ReasoningBank, agents: Any, verdicts: Any
) -> None:
    agent, memory = agents.function_agent(("confirm", {"what": "go on?"}), tools=tools()), agents.memory()
    ctx, saved, answer = Context(agent), "", cast("Any", HumanResponseEvent)
    first = run_with_memory(agent.run(ASKED, ctx=ctx, memory=memory), memory=memory)
    async for event in first.stream_events():
        if isinstance(event, InputRequiredEvent):
            saved = json.dumps(ctx.to_dict())
            break
    await first.cancel_run()
    with pytest.raises(WorkflowCancelledByUser):
        await first
    assert verdicts(bank) == [None]

    agent, memory = agents.function_agent("done", tools=tools()), agents.memory()
    ctx = Context.from_dict(agent, json.loads(saved))
    handler = agent.run(ctx=ctx, memory=memory)
    await handler.ctx.store.set("memory", memory)
    second = run_with_memory(handler, memory=memory, judge=lambda result: True, resumes=first.run_id)
    handler.ctx.send_event(answer(response="yes"))
    await second

    assert verdicts(bank) == ["success"]
    assert bank.runs.get(first.run_id).verdict == "success"
    assert agents.lessons() == [1, 1]
    assert {memory.usage_count for memory in bank.list().memories} == {1}
