"""The agent middleware for failures: lessons about an error, added to what a tool that failed gave back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langgraph.prebuilt.tool_node import ToolCallRequest

from langgraph_reasoningbank import FailingTools
from reasoningbank.adapters import Banks


class ToolFailureMiddleware(AgentMiddleware[AgentState[Any], Any]):
    """Adds the lessons about an error to the message of a tool that failed, in the episode of the run.

        recalling = ReasoningBankMiddleware(bank)
        agent = create_agent(model, tools, middleware=[recalling, ToolFailureMiddleware(bank, ref_of=recalling.ref_of)])

    A tool that raises ends the run unless another middleware makes a message of it; that one has to stand behind this.

    Args:
        bank: whose lessons; or a resolver of the run's config and context, as the ReasoningBankMiddleware takes it.
        ref_of: reads the reference of the run's episode from the agent's state; that of the ReasoningBankMiddleware,
            whatever its name, when None.
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
        super().__init__()
        self.tools = []
        self._failing = FailingTools(bank, ref_of=ref_of, timeout=timeout, max_tokens=max_tokens)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Call the tool, and add what is known of its error."""
        return self._failing.wrap_tool_call(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Call the tool, and add what is known of its error, without holding up the event loop."""
        return await self._failing.awrap_tool_call(request, handler)
