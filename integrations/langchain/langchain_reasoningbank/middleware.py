"""The agent middleware: one recall a run, lessons in the system message, and the outcome credited at the end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import SystemMessage
from langchain_core.runnables import run_in_executor
from langgraph.config import get_config
from langgraph.runtime import Runtime

from langgraph_reasoningbank import GraphOutcome
from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes, request_text

log = logging.getLogger("reasoningbank")

Recalls = dict[str, dict[str, Any]]


def _merge(left: Recalls | None, right: Recalls | None) -> Recalls:
    """Keep the newest entry of each middleware, so that two of them never overwrite each other."""
    return {**(left or {}), **(right or {})}


class ReasoningBankState(AgentState[Any]):
    """The agent's state with one private entry: plain JSON, checkpointed, in neither the input nor the output."""

    reasoningbank: NotRequired[Annotated[Recalls, PrivateStateAttr, _merge]]


class ReasoningBankMiddleware(AgentMiddleware[ReasoningBankState, Any]):
    """Recalls lessons once a run, shows them to every model call of it, and reports how it ended.

        middleware = ReasoningBankMiddleware(bank, judge=lambda state: "done" in state["messages"][-1].text)
        agent = attach(create_agent(model, tools, middleware=[middleware]), middleware)

    The lessons are appended as the last block of the system message when the model is called; they are never stored
    in the messages. A user can report too: `bank.report(verdict, thread=thread_id)`, or by the reference that
    `configurable={"reasoningbank_ref": ...}` gave to a call, or that `ref_of(state)` reads.

    Args:
        bank: whose lessons.
        limit: how many lessons at the most.
        max_tokens: budget of the block.
        min_confidence: confidence from which a lesson is proven; the bank's setting when None.
        judge: judges the final state; without one a run that merely ended teaches nothing.
        query: reads what the run is about from the state; the last user message by default.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        failure_filter: tells which exceptions may be the lessons' fault.
        distill: put the messages of a finished run into the bank's queue, where a worker makes lessons of them.
        name: of the middleware and its entry in the state; two in one agent need two names.
    """

    state_schema = ReasoningBankState

    def __init__(
        self,
        bank: ReasoningBank,
        *,
        limit: int = 3,
        max_tokens: int = 500,
        min_confidence: float | None = None,
        judge: Judge | None = None,
        query: Callable[[Any], str] | None = None,
        timeout: float = 0.5,
        fail_open: bool = True,
        failure_filter: FailureFilter | None = None,
        distill: bool = False,
        name: str = "reasoningbank",
    ) -> None:
        super().__init__()
        self.tools = []
        self._bank, self._name = bank, name
        self._limit, self._max_tokens, self._min_confidence = limit, max_tokens, min_confidence
        self._query = query or _asked
        self._timeout, self._fail_open = timeout, fail_open
        self._outcomes = RunOutcomes(judge, failure_filter, _messages if distill else None)
        self.callback = GraphOutcome(bank, self._outcomes)
        self._warned = False
        # Loading the model takes longer than a recall may: it is done before the first run.
        bank.upkeep.warm()

    @property
    def name(self) -> str:
        """The name that its nodes carry."""
        return self._name

    def ref_of(self, state: Any) -> str:
        """Return the reference of the run's episode from the agent's state; empty when none was opened."""
        return str(self._entry(state).get("ref", ""))

    def _entry(self, state: Any) -> dict[str, Any]:
        return (state.get("reasoningbank") or {}).get(self._name) or {}

    # -- before ------------------------------------------------------------------------------------------------------

    def before_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall, once a run; the reference goes into the state."""
        return self._recall(state, get_config())

    async def abefore_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall, without holding up the event loop."""
        return await run_in_executor(None, self._recall, state, get_config())

    def _recall(self, state: ReasoningBankState, config: Any) -> dict[str, Any]:
        entry = {"ref": "", "block": "", "memories": []}
        task = self._query(state)
        if task:
            configurable = config.get("configurable") or {}
            recall = self._bank.recall(
                task,
                self._limit,
                timeout=self._timeout,
                fail_open=self._fail_open,
                ref=configurable.get(f"{self._name}_ref"),
                thread=configurable.get("thread_id"),
                max_tokens=self._max_tokens,
                min_confidence=self._min_confidence,
            )
            entry = {"ref": recall.ref, "block": recall.text, "memories": [m.id for m in recall.memories]}
            if not self.callback.opened(config, recall.ref):
                self._warn()
        return {"reasoningbank": {self._name: entry}}

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            log.warning("middleware %r is not attached: a run that fails is not reported; use attach()", self._name)

    # -- meanwhile ---------------------------------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the lessons to the model."""
        return handler(self._with_lessons(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Show the lessons to the model."""
        return await handler(self._with_lessons(request))

    def _with_lessons(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        block = self._entry(request.state).get("block")
        if not block:
            return request
        present = request.system_message
        blocks: list[Any] = (
            []
            if present is None
            else present.content
            if isinstance(present.content, list)
            else [{"type": "text", "text": present.content}]
        )
        # Last, so that what a provider caches of the prompt's beginning stays the same.
        return request.override(system_message=SystemMessage(content=[*blocks, {"type": "text", "text": block}]))

    # -- after -------------------------------------------------------------------------------------------------------

    def after_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> None:
        """Judge the run and report it."""
        self._outcomes.close(self._bank, self.ref_of(state), state)

    async def aafter_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> None:
        """Judge the run and report it, without holding up the event loop."""
        await run_in_executor(None, self._outcomes.close, self._bank, self.ref_of(state), state)


def _messages(state: Any) -> list[Any]:
    return list(state["messages"])


def _asked(state: Any) -> str:
    return request_text(state["messages"])
