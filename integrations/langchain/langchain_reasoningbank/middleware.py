"""The agent middleware: one recall a run, lessons in the system message, and the outcome credited at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.runnables.config import set_config_context
from langgraph.config import get_config
from langgraph.runtime import Runtime

from langchain_reasoningbank.scope import own_thread, run_name, run_scope
from langgraph_reasoningbank import GraphOutcome
from reasoningbank import EpisodeNotFoundError, FilterOptions, ReasoningBank, ReasoningBankError
from reasoningbank.adapters import (
    Banks,
    FailureFilter,
    Handed,
    Judge,
    Recalling,
    RunOutcomes,
    above,
    as_reference,
    key_of,
    last_turn,
    letters_in,
    request_text,
)

log = logging.getLogger("reasoningbank")

NAME = "reasoningbank"
Recalls = dict[str, dict[str, Any]]


def _merge(left: Recalls | None, right: Recalls | None) -> Recalls:
    """Keep the newest entry of each middleware, so that two of them never overwrite each other."""
    return {**(left or {}), **(right or {})}


class ReasoningBankState(AgentState[Any]):
    """The agent's state with one private entry: references as plain JSON, in neither the input nor the output."""

    reasoningbank: NotRequired[Annotated[Recalls, PrivateStateAttr, _merge]]


class ReasoningBankMiddleware(AgentMiddleware[ReasoningBankState, Any]):
    """Recalls lessons once a run, shows them to every model call of it, and reports how it ended.

        middleware = ReasoningBankMiddleware(bank, judge=lambda state: "done" in state["messages"][-1].text)
        agent = attach(create_agent(model, tools, middleware=[middleware]), middleware)

    The lessons are recalled for the first model call, after other middlewares have redacted what was asked, and are
    appended as the last block of the system message; they are in no state and no message. The run's id is the
    episode's reference: `bank.report(verdict, ref=run_id)`, or `thread=thread_id`; a call gives one of its own by
    `configurable={"reasoningbank_ref": ...}`.

    Args:
        bank: whose lessons; or a resolver of the run's config and context: `lambda run: root.open(run.context.name)`.
        limit: how many lessons at the most.
        max_tokens: budget of the block.
        min_confidence: confidence from which a lesson is proven; the bank's setting when None.
        filters: those of `bank.recall`, by name: tags, where, outcome, source, since, until.
        expand_links: bring along what the lessons require, and warn of those that conflict.
        holdout: withhold lessons from a share of the runs (`bank.recall`); the bank's setting when None.
        weak: where none is clearly about the task, "mark" says so, "omit" shows none, "give" shows all as they are.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
        judge: judges the final state; without one a run that merely ended teaches nothing.
        query: reads what the run is about from the state; the last user message by default.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        failure_filter: tells which exceptions may be the lessons' fault.
        distill: put the messages of a run's turn into the bank's queue, where a worker makes lessons of them.
        distill_after: seconds that a conversation must rest before its turns are distilled.
        name: of the middleware and its entry in the state; two in one agent need two names.
    """

    state_schema = ReasoningBankState

    def __init__(
        self,
        bank: Banks,
        *,
        limit: int = 3,
        max_tokens: int = 500,
        min_confidence: float | None = None,
        filters: FilterOptions | None = None,
        expand_links: bool = False,
        holdout: float | str | None = None,
        weak: str = "mark",
        shared: Sequence[str] = (),
        judge: Judge | None = None,
        query: Callable[[Any], str] | None = None,
        timeout: float = 0.5,
        fail_open: bool = True,
        failure_filter: FailureFilter | None = None,
        distill: bool = False,
        distill_after: float = 0.0,
        name: str = NAME,
    ) -> None:
        super().__init__()
        self.tools = []
        self._name, self._query = name, query or _asked
        self._recalling = Recalling(
            bank, limit, max_tokens, min_confidence, timeout, fail_open, filters, expand_links, holdout, weak, shared
        )
        self._outcomes = RunOutcomes(judge, failure_filter, self._turn if distill else None, distill_after)
        self.callback = GraphOutcome(self._outcomes, self._resumable)
        self._warned = False

    @property
    def name(self) -> str:
        """The name that its nodes carry."""
        return self._name

    def ref_of(self, state: Any) -> str:
        """Return the reference of the run's episode from the agent's state; empty before its first run."""
        return str(self._entry(state).get("ref", ""))

    def _entry(self, state: Any) -> dict[str, Any]:
        return (state.get("reasoningbank") or {}).get(self._name) or {}

    def _bank(self) -> ReasoningBank:
        scope = run_scope(get_config())
        return self._recalling.bank(scope, scope.context)

    def _resumable(self, metadata: Mapping[str, Any]) -> ReasoningBank:
        return self._recalling.bank({"configurable": metadata, "metadata": metadata})

    # -- before ------------------------------------------------------------------------------------------------------

    def before_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Name the run, once; what is recalled in it goes by that name, also after a pause in another process."""
        config = get_config()
        configurable = config.get("configurable") or {}
        own = None if above(configurable.get("checkpoint_ns")) else configurable.get(f"{self._name}_ref")
        run = self.callback.graph_run(config)
        if run is None and not self._warned:
            self._warned = True
            log.warning("middleware %r is not attached: a run that fails is not reported; use attach()", self._name)
        name = self._run_name(config) if run is None else run.name if self._name == NAME else f"{run.name}/{self._name}"
        asked = [m for m in state["messages"] if m.type == "human"]
        entry = {"ref": as_reference(own) or name, "turn": str(asked[-1].id or "") if asked else ""}
        return {"reasoningbank": {self._name: entry}}

    def _run_name(self, config: RunnableConfig) -> str:
        """Name a run that is not watched: by the agent's, which its tools know, too, unless others are in it."""
        is_inner = above((config.get("configurable") or {}).get("checkpoint_ns"))
        return (None if is_inner or self._name != NAME else run_name()) or str(uuid4())

    # -- meanwhile ---------------------------------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the lessons to the model."""
        shown = _with_lessons(request, self._lessons(request))
        if (seen := self._unwatched(request)) is None:
            return handler(shown)
        with set_config_context(_seeing(get_config(), seen)) as context:
            return context.run(handler, shown)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Show the lessons to the model, recalled without holding up the event loop."""
        shown = _with_lessons(request, await run_in_executor(None, self._lessons, request))
        if (seen := await run_in_executor(None, self._unwatched, request)) is None:
            return await handler(shown)
        with set_config_context(_seeing(get_config(), seen)) as context:
            return await asyncio.create_task(_awaited(handler(shown)), context=context)

    def _unwatched(self, request: ModelRequest[Any]) -> Handed | None:
        """Return what was recalled in a run that `attach` does not watch: what is seen of it, only calls can say."""
        if self.callback.graph_run(get_config()) is not None:
            return None
        return self.callback.parked(self._bank(), self.ref_of(request.state))

    def _lessons(self, request: ModelRequest[Any]) -> str:
        ref = self.ref_of(request.state)
        if not ref:
            return ""
        config, bank = get_config(), self._bank()
        run, known = self.callback.graph_run(config), self._recalling.known(bank, ref)
        if known == "" or (known is not None and (run is None or key_of(bank, ref) in run.handed)):
            return known
        # The messages as they are for the model, since others may have redacted them.
        task = request_text(self._query({**request.state, "messages": request.messages}))
        if not task:
            return ""
        thread = own_thread(run_scope(config))
        recall = self._recalling.recall(bank, task, ref=ref, thread=thread, config=config)
        if run is None:
            self.callback.unbound(bank, recall)
        else:
            self.callback.opened(run, bank, recall)
        return recall.text

    # -- after -------------------------------------------------------------------------------------------------------

    def after_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> None:
        """Judge the run and report it."""
        bank, ref = self._ending(state)
        self.callback.settle(bank, ref, state, run=self.callback.graph_run(get_config()))

    async def aafter_agent(self, state: ReasoningBankState, runtime: Runtime[Any]) -> None:
        """Judge the run and report it, without holding up the event loop."""
        bank, ref = await run_in_executor(None, self._ending, state)
        await self.callback.asettle(bank, ref, state, run=self.callback.graph_run(get_config()))

    def _ending(self, state: Any) -> tuple[ReasoningBank, str]:
        """Return the bank, and the reference if an episode was opened under it."""
        bank, ref = self._bank(), self.ref_of(state)
        self._recalling.forget(bank, ref)
        try:
            return bank, bank.runs.get(ref).ref if ref else ""
        except EpisodeNotFoundError:
            return bank, ""
        except ReasoningBankError:
            return bank, ref  # the report will say what is wrong

    def _turn(self, state: Any) -> list[Any]:
        return last_turn(state["messages"], self._entry(state).get("turn", ""))


class _Seeing(BaseCallbackHandler):
    """Sees what a model is really given, whatever other middlewares made of it."""

    def __init__(self, handed: Handed) -> None:
        self._handed = handed

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """A chat model is given messages."""
        self._handed.look(letters_in(messages))


def _seeing(config: RunnableConfig, handed: Handed) -> RunnableConfig:
    manager: Any = config.get("callbacks")
    callbacks: Any = [_Seeing(handed)]
    if isinstance(manager, BaseCallbackManager):
        callbacks = manager.copy()
        callbacks.add_handler(_Seeing(handed))
    return {**config, "callbacks": callbacks}


async def _awaited(response: Awaitable[ModelResponse[Any]]) -> ModelResponse[Any]:
    return await response


def _with_lessons(request: ModelRequest[Any], block: str) -> ModelRequest[Any]:
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


def _asked(state: Any) -> str:
    return request_text(state["messages"])
