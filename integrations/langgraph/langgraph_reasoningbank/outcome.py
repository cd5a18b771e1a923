"""How graph runs end, by LangGraph's run-level callbacks: they see every ending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langgraph.callbacks import GraphCallbackHandler, GraphResumeEvent

from reasoningbank import ReasoningBank
from reasoningbank.adapters import RunOutcomes


class GraphOutcome(GraphCallbackHandler):
    """Reports graph runs that failed, which no node and no hook sees in every case. Bind it to the compiled graph.

    Args:
        bank: where a resumed run's episode is looked for.
        outcomes: what the nodes or hooks that open and close the episodes share with it.
    """

    def __init__(self, bank: ReasoningBank, outcomes: RunOutcomes) -> None:
        self._bank, self._outcomes = bank, outcomes

    def opened(self, config: Mapping[str, Any], ref: str) -> bool:
        """Tie an episode to the run of a node; False when this handler is not bound to the graph.

        Args:
            config: the node's.
        """
        manager = config.get("callbacks")
        if not any(handler is self for handler in getattr(manager, "handlers", ())):
            return False
        self._outcomes.opened(getattr(manager, "parent_run_id", None), self._bank, ref)
        return True

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A run begins."""
        self._outcomes.runs.begin(run_id, parent_run_id, thread=(metadata or {}).get("thread_id"))

    def on_resume(self, event: GraphResumeEvent) -> None:
        """The run goes on with what an earlier one, perhaps of another process, began."""
        self._outcomes.runs.resume(event.run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A run ended, or paused: the node or hook at its end has judged it, or will."""
        self._outcomes.paused(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A run failed."""
        self._outcomes.failed(run_id, error, resumable=self._bank)
