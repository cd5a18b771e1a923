"""What a retriever or a tool knows of the run that it is in: its config, its context and who watches it."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig, ensure_config
from pydantic import AfterValidator

from reasoningbank import ReasoningBank
from reasoningbank.adapters import (
    Banks,
    Place,
    RunOutcomes,
    RunScope,
    RunWatch,
    WatchedRun,
    above,
    as_reference,
    check_holdout,
    outermost,
    place_in,
    thread_of,
    watching,
)


def _checked(given: float | str | None) -> float | str | None:
    check_holdout(given)
    return given


HoldoutOption = Annotated[float | str | None, AfterValidator(_checked)]
"""What `bank.recall` takes as `holdout`."""


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


# Runs of graphs are known by an object that LangGraph makes for each; so many are remembered.
KNOWN_RUNS = 1_024
_runs: OrderedDict[int, tuple[Any, str]] = OrderedDict()
_naming = threading.Lock()


def run_name() -> str | None:
    """Return the name of the graph's run that this code is in: the id that the program gave it, or one made here."""
    runtimes = sys.modules.get("langgraph.runtime")
    try:
        runtime = runtimes.get_runtime() if runtimes is not None else None
    except (RuntimeError, KeyError):
        return None  # not inside a graph
    info, control = getattr(runtime, "execution_info", None), getattr(runtime, "control", None)
    if given := getattr(info, "run_id", None):
        return as_reference(given)
    if control is None:
        return None
    with _naming:
        # It is kept beside the name, so that no other object gets its id meanwhile.
        name = _runs.setdefault(id(control), (control, str(uuid4())))[1]
        while len(_runs) > KNOWN_RUNS:
            _runs.popitem(last=False)
        return name


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
    def place(cls, config: Mapping[str, Any], bank: ReasoningBank, banks: Banks, own: str | None) -> Place | None:
        """Return where what a retriever recalls belongs: the innermost chain it is bound to, or else see `place_in`."""
        bound = (one for one in watching(config) if isinstance(one[0], cls) and one[0].banks is banks)
        return next((outermost(watch, run, own) for watch, run in bound), None) or place_in(config, bank, own)


def own_thread(scope: RunScope) -> str | None:
    """Return the conversation of a call that nobody watches."""
    configurable = scope["configurable"]
    path = above(configurable.get("checkpoint_ns"))
    return thread_of(configurable.get("thread_id"), path)
