"""What a retriever or a tool knows of the run that it is in: its config, its context and who watches it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks.base import BaseCallbackManager
from langchain_core.runnables import RunnableConfig, ensure_config

from reasoningbank import ReasoningBank
from reasoningbank.adapters import Banks, RunOutcomes, RunScope, RunWatch, WatchedRun, above, thread_of


def run_scope(config: RunnableConfig | None = None) -> RunScope:
    """Return the config of a call, with what it inherits from the run around it, and that run's context."""
    runtimes = sys.modules.get("langgraph.runtime")
    context = None
    if runtimes is not None:
        try:
            context = getattr(runtimes.get_runtime(), "context", None)
        except (RuntimeError, KeyError):
            context = None  # not inside a graph
    return RunScope(ensure_config(config), context)


class ChainWatch(RunWatch):
    """Watches the runs of a chain or graph with a retriever in it.

    Args:
        banks: those of the retriever.
        graph: what is watched is a graph, whose sub-agents have conversations of their own.
    """

    def __init__(
        self,
        banks: Banks,
        outcomes: RunOutcomes,
        resumable: Callable[[Mapping[str, Any]], ReasoningBank | None],
        *,
        graph: bool,
    ) -> None:
        super().__init__(outcomes, resumable)
        self.banks, self._graph = banks, graph

    def thread(self, root: WatchedRun, scope: RunScope) -> str | None:
        """Return the conversation that a run belongs to."""
        return thread_of(scope["configurable"].get("thread_id"), root.path if self._graph else "")

    @classmethod
    def around(cls, manager: BaseCallbackManager, banks: Banks) -> tuple[ChainWatch, WatchedRun] | None:
        """Return the innermost watch of a retriever's run, and the run that it recalls for; None when none is bound."""
        for handler in reversed(manager.handlers):
            if isinstance(handler, cls) and handler.banks is banks:
                inside = handler.run(manager.parent_run_id)
                if inside is not None:
                    return handler, inside.root
        return None


def own_thread(scope: RunScope) -> str | None:
    """Return the conversation of a call that nobody watches."""
    configurable = scope["configurable"]
    path = above(configurable.get("checkpoint_ns"))
    return thread_of(configurable.get("thread_id"), path)
