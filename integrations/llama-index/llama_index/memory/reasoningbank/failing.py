"""Lessons about an error when an agent's tool fails: function, ReAct and code agents."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llama_index.core.tools import AsyncBaseTool, BaseTool, ToolMetadata, ToolOutput, adapt_to_async_tool

from llama_index.memory.reasoningbank.runs import here, recalled
from reasoningbank.adapters import Banks, RunScope, ToolFailures


class FailingTools:
    """Adds the lessons about an error to what a tool that failed gives back.

        failing = FailingTools(bank, ref_of=lambda: run.ref)
        agent = FunctionAgent(tools=failing.wrap(tools), llm=llm)
        coder = CodeActAgent(code_execute_fn=failing.wrap_code(execute), llm=llm)

    Args:
        bank: whose lessons: a bank, or a function from the run to a bank (see ReasoningBankMemoryBlock).
        ref_of: gives the reference of the run's episode, which they join; when None the one that a block or a tool of
            the run has, or else one of its own.
        timeout: seconds that a recall may take; what comes later is left out.
        max_tokens: budget of a block; the bank's setting `failure_tokens` when None.
    """

    def __init__(
        self,
        bank: Banks,
        *,
        ref_of: Callable[[], str] | None = None,
        timeout: float = 0.5,
        max_tokens: int | None = None,
    ) -> None:
        self._failures = ToolFailures(bank, timeout=timeout, max_tokens=max_tokens)
        self._ref_of = ref_of

    def wrap(self, tools: Sequence[BaseTool]) -> list[BaseTool]:
        """Return tools that do the same, with lessons in what they give back when they fail."""
        return [_Looked(adapt_to_async_tool(tool), self) for tool in tools]

    def wrap_code(self, execute: Callable[[str], Any]) -> Callable[[str], Any]:
        """Return what runs a code agent's code, with lessons in what it gives back when that failed."""

        async def run(code: str) -> Any:
            result = execute(code)
            result = await result if inspect.isawaitable(result) else result
            if not isinstance(result, str):
                return result
            block = await asyncio.to_thread(self.lessons, result, tool="code", arguments={"code": code})
            return f"{result}\n\n{block}" if block else result

        return run

    def lessons(
        self, output: str, *, tool: str, arguments: dict[str, Any] | None = None, failed: bool | None = None
    ) -> str:
        """Return the block of lessons about the errors in an output; "" for most.

        Args:
            arguments: the tool's; the command among them is what failed, if there is one.
            failed: whether it failed; by its output when None.
        """
        place = here()
        scope = RunScope({**place.tags, "run_id": place.run})
        ref = self._ref_of() if self._ref_of else recalled.ref(place.run, self._failures.bank(scope))
        return self._failures.look(output, tool=tool, arguments=arguments, failed=failed, ref=ref or None, scope=scope)


class _Looked(AsyncBaseTool):
    """A tool, with lessons in what it gives back when it fails."""

    def __init__(self, tool: AsyncBaseTool, failing: FailingTools) -> None:
        self._tool, self._failing = tool, failing

    @property
    def metadata(self) -> ToolMetadata:
        return self._tool.metadata

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool; what it raises is what it gives back, as agents take it."""
        try:
            output = self._tool.call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - as the agents' own loop does
            output = self._raised(error, kwargs)
        return self._told(output, kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool, without holding up the event loop for the recall."""
        try:
            output = await self._tool.acall(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - as the agents' own loop does
            output = self._raised(error, kwargs)
        return await asyncio.to_thread(partial(self._told, output, kwargs))

    def _raised(self, error: Exception, given: dict[str, Any]) -> ToolOutput:
        name, said = self.metadata.get_name(), f"Encountered error while running tool: {error}"
        return ToolOutput(
            content=said, tool_name=name, raw_input=given, raw_output=str(error), is_error=True, exception=error
        )

    def _told(self, output: ToolOutput, given: dict[str, Any]) -> ToolOutput:
        said = str(output.raw_output) if output.is_error and output.raw_output else output.content
        failed = True if output.is_error else None
        block = self._failing.lessons(said, tool=self.metadata.get_name(), arguments=given, failed=failed)
        if not block:
            return output
        return ToolOutput(
            content=f"{output.content}\n\n{block}",
            tool_name=output.tool_name,
            raw_input=output.raw_input,
            raw_output=output.raw_output,
            is_error=output.is_error,
        )
