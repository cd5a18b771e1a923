"""An agent's tool that fails."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.tools import FunctionTool
from llama_index_instrumentation.dispatcher import instrument_tags

from llama_index.memory.reasoningbank import FailingTools
from reasoningbank import ReasoningBank

PUSH = "error: src refspec main does not match any"


def bash(command: str) -> str:
    """Run a command."""
    if command.startswith("git push"):
        raise ValueError(PUSH)
    return PUSH if command == "quiet push" else "done"


@pytest.fixture
def failing(bank: ReasoningBank) -> FailingTools:
    bank.record("Commit first", "There is no commit yet: commit, then push", outcome="failure", signatures=[PUSH])
    bank.recall("parse the dates of the invoices", ref="run-1")
    return FailingTools(bank, ref_of=lambda: "run-1")


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_it_gives_back_holds_the_lessons_once(
    failing: FailingTools, bank: ReasoningBank, is_async: bool
) -> None:
    (tool,) = failing.wrap([FunctionTool.from_defaults(bash)])

    async def said(command: str) -> Any:
        return await tool.acall(command=command) if is_async else tool.call(command=command)  # type: ignore[attr-defined]

    first = await said("git push origin main")
    assert first.is_error
    assert PUSH in first.content
    assert "There is no commit yet" in first.content
    assert "There is no commit yet" not in (await said("git push origin main")).content
    assert (await said("ls")).content == "done"
    assert tool.metadata.get_name() == "bash"
    assert bank.runs.get("run-1").memories[-1].step == 1


async def test_code_that_fails_is_answered_too(failing: FailingTools) -> None:
    async def later(code: str) -> str:
        return PUSH if "push" in code else "12"

    assert "There is no commit yet" in await failing.wrap_code(later)("push()")
    assert await failing.wrap_code(lambda code: 12)("1 + 11") == 12
    assert await failing.wrap_code(later)("print(12)") == "12"


async def test_a_resolver_says_whose_lessons_a_failure_is_answered_with_in_the_episode_of_the_run(
    open_bank: Any, agents: Any
) -> None:
    def of(run: Any) -> ReasoningBank:
        bank: ReasoningBank = open_bank(project=run["project"])
        return bank

    for project in ("a", "b"):
        bank = open_bank(project=project)
        bank.record("Pull first", f"Pull of {project}", outcome="failure", signatures=[PUSH])
        bank.record("Pin the timezone", "Pass tz=UTC to parse the dates of the invoices", outcome="success")
        tools = FailingTools(of).wrap([FunctionTool.from_defaults(bash)])
        agent = agents.function_agent(("bash", {"command": "git push"}), "done", tools=tools)
        with instrument_tags({"project": project}):
            run = agent.run("parse the dates of the invoices", memory=agents.memory(agents.block(bank=of)))
        await run

        assert f"Pull of {project}" in str(agents.prompts[-1][-1].content)
        assert {memory.step for memory in bank.runs.get(run.run_id).memories} == {0, 1}
