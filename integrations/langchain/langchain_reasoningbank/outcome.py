"""How runs end, by LangChain's run-level callbacks: they see every ending, also those that no hook sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from langchain_reasoningbank.retriever import ReasoningBankRetriever
from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes

if TYPE_CHECKING:
    from langchain_reasoningbank.middleware import ReasoningBankMiddleware

Input = TypeVar("Input")
Output = TypeVar("Output")


def attach(
    runnable: Runnable[Input, Output],
    source: ReasoningBankRetriever | ReasoningBankMiddleware,
    *,
    judge: Judge | None = None,
    failure_filter: FailureFilter | None = None,
) -> Runnable[Input, Output]:
    """Bind to a chain or an agent what reports how its runs end.

        chain = attach(chain, retriever, judge=lambda answer: "42" in answer)
        agent = attach(create_agent(..., middleware=[middleware]), middleware)

    Without a judge a run that merely ended is `unknown` and teaches nothing; an exception is a failure; a run that was
    paused, cancelled or left half-way stays open.

    Args:
        runnable: the chain that the retriever is in, or the agent that the middleware is in.
        source: a retriever with `record_usage=True`, or the middleware, which has a judge and a filter of its own.
        judge: judges what the chain returned.
        failure_filter: tells which exceptions may be the lessons' fault.

    Raises:
        ValueError: the retriever does not record its usage, so that there is nothing to close.
    """
    if not isinstance(source, ReasoningBankRetriever):
        return runnable.with_config(callbacks=[source.callback])
    if not source.record_usage:
        raise ValueError("the retriever opens no episodes: make it with record_usage=True")
    outcomes = RunOutcomes(judge, failure_filter)
    return runnable.with_config(callbacks=[ChainOutcome(source.bank, outcomes)])


class ChainOutcome(BaseCallbackHandler):
    """Closes the episodes that a retriever opened in a chain's run, when the run ends."""

    def __init__(self, bank: ReasoningBank, outcomes: RunOutcomes) -> None:
        self._bank, self._outcomes = bank, outcomes

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A run begins."""
        self._outcomes.runs.begin(run_id, parent_run_id)

    def on_retriever_end(
        self, documents: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A retriever gave documents: their episode belongs to the run."""
        for document in documents:
            self._outcomes.opened(parent_run_id, self._bank, document.metadata.get("ref", ""))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A run ends; when it is a root, its episodes are judged by what it gave."""
        self._outcomes.finished(run_id, outputs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A run failed."""
        self._outcomes.failed(run_id, error)
