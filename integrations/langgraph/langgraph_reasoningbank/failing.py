"""Lessons about an error when a tool of a graph fails: around a ToolNode, and for nodes of one's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import run_in_executor
from langgraph.prebuilt.tool_node import ToolCallRequest

from langgraph_reasoningbank.here import context_here, running
from reasoningbank.adapters import Banks, RunScope, ToolFailures


def ref_in(state: Any) -> str:
    """Return the reference of the run's episode as the hooks or the middleware keep it in a state; "" without one."""
    entry = state.get("reasoningbank") if isinstance(state, dict) else getattr(state, "reasoningbank", None)
    if not isinstance(entry, dict):
        return ""
    inner = next((value for value in entry.values() if isinstance(value, dict) and value.get("ref")), {})
    return str(entry.get("ref") or inner.get("ref") or "")


class FailingTools:
    """Adds the lessons about an error to the message of a tool that failed.

        failing = FailingTools(bank)
        node = ToolNode(tools, wrap_tool_call=failing.wrap_tool_call, awrap_tool_call=failing.awrap_tool_call)

    What is handed out joins the run's episode, each memory once. A tool that raises is left alone, unless the node
    makes a message of what it raised (`handle_tool_errors`).

    Args:
        bank: whose lessons; or a resolver of the run's config and context: `lambda run: root.open(run.context.name)`.
        ref_of: reads the reference of the run's episode from the state; `ref_in` when None.
        timeout: seconds that a recall may take; what comes later is left out.
        max_tokens: budget of a block; the bank's setting `failure_tokens` when None.
    """

    def __init__(
        self,
        bank: Banks,
        *,
        ref_of: Callable[[Any], str] | None = None,
        timeout: float = 0.5,
        max_tokens: int | None = None,
    ) -> None:
        self._failures = ToolFailures(bank, timeout=timeout, max_tokens=max_tokens)
        self._ref_of = ref_of or ref_in

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Call the tool, and add what is known of its error."""
        return self._told(request, handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Call the tool, and add what is known of its error, without holding up the event loop."""
        return await run_in_executor(None, self._told, request, await handler(request))

    def lessons(
        self, output: str, *, state: Any, tool: str, arguments: dict[str, Any] | None = None, failed: bool | None = None
    ) -> str:
        """Return the block of lessons about the errors in an output, for a node of one's own; "" for most.

        Args:
            state: the graph's, as the node gets it.
            arguments: the tool's; the command among them is what failed, if there is one.
            failed: whether it failed; by its output when None.
        """
        ref = self._ref_of(state) or None
        scope = RunScope(running(), context_here())
        return self._failures.look(output, tool=tool, arguments=arguments, failed=failed, ref=ref, scope=scope)

    def _told(self, request: ToolCallRequest, result: Any) -> Any:
        if not isinstance(result, ToolMessage):
            return result
        call, failed = request.tool_call, True if result.status == "error" else None
        block = self.lessons(result.text, state=request.state, tool=call["name"], arguments=call["args"], failed=failed)
        if not block:
            return result
        content: Any = result.content
        added = f"{content}\n\n{block}" if isinstance(content, str) else [*content, {"type": "text", "text": block}]
        return result.model_copy(update={"content": added})
