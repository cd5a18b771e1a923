"""How runs end, by LangChain's run-level callbacks: they see every ending, also those that no hook sees."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig

from langchain_reasoningbank.retriever import ReasoningBankRetriever
from langchain_reasoningbank.scope import ChainWatch
from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes, RunScope, bank_of, left

if TYPE_CHECKING:
    from langchain_reasoningbank.middleware import ReasoningBankMiddleware

Attached = TypeVar("Attached", bound=Runnable[Any, Any])
Input = TypeVar("Input")
Output = TypeVar("Output")


def attach(
    runnable: Attached,
    source: ReasoningBankRetriever | ReasoningBankMiddleware,
    *,
    judge: Judge | None = None,
    failure_filter: FailureFilter | None = None,
) -> Attached:
    """Bind to a chain or an agent what reports how its runs end.

        chain = attach(chain, retriever, judge=lambda answer: "42" in answer)
        agent = attach(create_agent(..., middleware=[middleware]), middleware)

    Credited are the lessons that stood in a model's input. Without a judge a run that merely ended is `unknown` and
    teaches nothing; an exception is a failure; a run that was paused, cancelled or left half-way stays open. A run that
    is tried again is one run, and its last attempt counts.

    Args:
        runnable: the chain, agent or graph that the retriever is in, also as a tool or inside one; or the agent that
            the middleware is in.
        source: a retriever with `record_usage=True`, or the middleware, which has a judge and a filter of its own.
        judge: judges what the chain returned.
        failure_filter: tells which exceptions may be the lessons' fault.

    Raises:
        ValueError: the retriever does not record its usage, so that there is nothing to close.
    """
    if not isinstance(source, ReasoningBankRetriever):
        return _bound(runnable, source.callback)
    if not source.record_usage:
        raise ValueError("the retriever opens no episodes: make it with record_usage=True")
    return _bound(runnable, _watching(source, RunOutcomes(judge, failure_filter), graph=hasattr(runnable, "get_state")))


def _watching(source: ReasoningBankRetriever, outcomes: RunOutcomes, *, graph: bool) -> BaseCallbackHandler:
    # Pauses are told to handlers of LangGraph's own kind alone; without a graph there are none.
    graphs = sys.modules.get("langgraph.callbacks")
    kind: Any = type("ChainOutcome", (ChainWatch, graphs.GraphCallbackHandler if graphs else BaseCallbackHandler), {})

    def resumable(metadata: Mapping[str, Any]) -> ReasoningBank:
        return bank_of(source.bank, RunScope({"configurable": metadata, "metadata": metadata}))

    handler: BaseCallbackHandler = kind(source.bank, outcomes, resumable, graph=graph)
    return handler


def _bound(runnable: Attached, handler: BaseCallbackHandler) -> Attached:
    bound: Any = runnable.with_config(callbacks=[handler])
    if type(bound) is RunnableBinding:
        bound = AttachedRunnable(**{name: getattr(bound, name) for name in type(bound).model_fields})
    attached: Attached = bound
    return attached


class AttachedRunnable(RunnableBinding[Input, Output]):
    """A runnable whose outcome is reported. A stream that is left half-way is no result: its episode stays open."""

    def stream(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Output]:
        """Stream, as the runnable does."""
        yield from _leaving(super().stream(input, config, **kwargs))

    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Transform a stream, as the runnable does."""
        yield from _leaving(super().transform(input, config, **kwargs))

    async def astream(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Output]:
        """Stream, as the runnable does."""
        async for chunk in _aleaving(super().astream(input, config, **kwargs)):
            yield chunk

    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Transform a stream, as the runnable does."""
        async for chunk in _aleaving(super().atransform(input, config, **kwargs)):
            yield chunk


def _leaving(stream: Any) -> Iterator[Any]:
    try:
        yield from _open(stream)
    except GeneratorExit:
        with left():
            stream.close()
        raise


def _open(stream: Iterator[Any]) -> Iterator[Any]:
    # A generator between, for `yield from` would close the stream itself before it is known to be left.
    for chunk in stream:  # noqa: UP028
        yield chunk


async def _aleaving(stream: Any) -> AsyncIterator[Any]:
    try:
        async for chunk in stream:
            yield chunk
    except GeneratorExit:
        with left():
            await stream.aclose()
        raise
