"""Lessons at graph start, the outcome at graph end: a recall node, an outcome node and a run-level callback, as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypedDict, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda, run_in_executor
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.runtime import get_runtime

from langgraph_reasoningbank.outcome import GraphOutcome
from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes, request_text

Builder = TypeVar("Builder", bound=StateGraph[Any, Any, Any, Any])
Graph = TypeVar("Graph", bound=Pregel[Any, Any, Any, Any])
Compiled = CompiledStateGraph[Any, Any, Any, Any]


def keep_right(_left: Any, right: Any) -> Any:
    """The reducer of the state's entry: the newest replaces what was there."""
    return right


class ReasoningBankState(TypedDict, total=False):
    """Mix it into a graph's state: one entry of plain JSON, replaced in each turn.

    The reducer matters: without it, two subgraphs that share the key and run in one step would be refused.
    """

    reasoningbank: Annotated[dict[str, Any], keep_right]


def lessons_block(state: Any, key: str = "reasoningbank") -> str:
    """Return the block of recalled lessons for a prompt; empty when none was recalled.

    Args:
        state: the graph's, as a node gets it.
        key: of the hooks' entry in it.
    """
    return str((_read(state, key) or {}).get("block", ""))


def _read(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


class ReasoningBankHooks:
    """Recalls lessons when a graph starts, and reports how the run ended.

        hooks = ReasoningBankHooks(bank, judge=lambda state: state["tests_passed"])
        graph = hooks.compile(hooks.attach(builder, entry="agent", exits=["agent"]), checkpointer=saver)

    A node reads the lessons with `lessons_block(state)`. The episode's reference is minted once, in the recall node,
    and kept in the state; a new process can go on with a run that another one began.

    Args:
        bank: whose lessons.
        limit: how many lessons at the most.
        max_tokens: budget of the block.
        min_confidence: confidence from which a lesson is proven; the bank's setting when None.
        query: reads what the run is about from the state; the last user message of `messages` by default.
        judge: judges the state at the end; without one a run that merely ended is unknown.
        key: of the entry in the state; two hooks in one graph need two keys.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        failure_filter: tells which exceptions may be the lessons' fault.
        distill: put a finished run into the bank's queue, where a worker makes lessons of it: its messages, or when
            there are none its state as the result.
    """

    def __init__(
        self,
        bank: ReasoningBank,
        *,
        limit: int = 3,
        max_tokens: int = 500,
        min_confidence: float | None = None,
        query: Callable[[Any], str] | None = None,
        judge: Judge | None = None,
        key: str = "reasoningbank",
        timeout: float = 0.5,
        fail_open: bool = True,
        failure_filter: FailureFilter | None = None,
        distill: bool = False,
    ) -> None:
        self._bank, self._key = bank, key
        self._limit, self._max_tokens, self._min_confidence = limit, max_tokens, min_confidence
        self._query = query or _asked
        self._timeout, self._fail_open = timeout, fail_open
        self._outcomes = RunOutcomes(judge, failure_filter, self._run_of if distill else None)
        self.callback = GraphOutcome(bank, self._outcomes)
        self.recall_node = RunnableLambda(self._recall, afunc=self._arecall, name=f"{key}_recall")
        self.outcome_node = RunnableLambda(self._outcome, afunc=self._aoutcome, name=f"{key}_outcome")
        # Loading the model takes longer than a recall may: it is done before the first run.
        bank.upkeep.warm()

    def attach(self, builder: Builder, *, entry: str, exits: Sequence[str]) -> Builder:
        """Put the two nodes into a graph under construction: before `entry`, and after every one of `exits`.

        Compile it with `compile`, so that runs that raise are reported too.

        Args:
            entry: the node that the graph starts with; this adds the edge that leads to it.
            exits: the nodes that it ends with.

        Raises:
            ValueError: the graph has an edge from its start to `entry` already: runs would begin without lessons.
        """
        if (START, entry) in builder.edges:
            raise ValueError(
                f"the graph has an edge START -> {entry!r} already, so the agent would run without lessons: "
                f"remove builder.add_edge(START, {entry!r}); attach() leads there by way of the recall"
            )
        recall, outcome = f"{self._key}_recall", f"{self._key}_outcome"
        builder.add_node(recall, self.recall_node)
        # Deferred: joined from branches of different length it would otherwise run twice.
        builder.add_node(outcome, self.outcome_node, defer=True)
        builder.add_edge(START, recall)
        builder.add_edge(recall, entry)
        for node in exits:
            builder.add_edge(node, outcome)
        builder.add_edge(outcome, END)
        return builder

    def compile(self, builder: StateGraph[Any, Any, Any, Any], **options: Any) -> Compiled:
        """Compile a graph, and bind the callback that sees the endings no node sees.

        Args:
            options: of StateGraph.compile.
        """
        return self.bind(builder.compile(**options))

    def bind(self, graph: Graph) -> Graph:
        """Bind the callback to a compiled graph, or to an entrypoint of the functional API."""
        return graph.with_config(callbacks=[self.callback])

    # -- the nodes ---------------------------------------------------------------------------------------------------

    def _recall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {self._key: self.recalled(self._query(state), config, ref=_minted())}

    async def _arecall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        ref = _minted()
        return {self._key: await run_in_executor(None, lambda: self.recalled(self._query(state), config, ref=ref))}

    def recalled(self, task: str, config: RunnableConfig, *, ref: str | None) -> dict[str, Any]:
        """Recall for a task, and return the entry for the state: reference, memory ids and block, as plain JSON."""
        if not task:
            return {"ref": "", "memories": [], "block": ""}
        thread = (config.get("configurable") or {}).get("thread_id")
        recall = self._bank.recall(
            task,
            self._limit,
            timeout=self._timeout,
            fail_open=self._fail_open,
            ref=ref,
            thread=None if thread is None else str(thread),
            max_tokens=self._max_tokens,
            min_confidence=self._min_confidence,
        )
        self.callback.opened(config, recall.ref)
        return {"ref": recall.ref, "memories": [memory.id for memory in recall.memories], "block": recall.text}

    def _outcome(self, state: Any) -> dict[str, Any]:
        self.close((_read(state, self._key) or {}).get("ref", ""), state)
        return {}

    async def _aoutcome(self, state: Any) -> dict[str, Any]:
        return await run_in_executor(None, self._outcome, state)

    def _run_of(self, state: Any) -> Any:
        messages = _read(state, "messages")
        if messages:
            return list(messages)
        results = {k: v for k, v in dict(state).items() if k != self._key} if isinstance(state, dict) else state
        return {"task": self._query(state), "result": json.dumps(results, default=str, ensure_ascii=False)}

    def close(self, ref: str, given: Any) -> None:
        """Judge what a run gave, and close its episode; once more with another verdict replaces the first."""
        self._outcomes.close(self._bank, ref, given)


def _minted() -> str | None:
    """Return the run's reference: the recall's task id stays the same when the node is retried or the run resumed."""
    info = get_runtime().execution_info
    return None if info is None else info.task_id


def _asked(state: Any) -> str:
    return request_text(_read(state, "messages") or "")
