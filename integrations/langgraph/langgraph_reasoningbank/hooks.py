"""Lessons at graph start, the outcome at graph end: a recall node, an outcome node and a run-level callback, as one."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda, run_in_executor
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.typing import ContextT, InputT, OutputT, StateT

from langgraph_reasoningbank.here import context_here, running
from langgraph_reasoningbank.outcome import GraphOutcome
from langgraph_reasoningbank.state import end_with, fields_of, lead_through, read, with_entry
from reasoningbank import FilterOptions, ReasoningBank
from reasoningbank.adapters import (
    Banks,
    FailureFilter,
    Judge,
    Recalling,
    RunOutcomes,
    WatchedRun,
    above,
    as_reference,
    last_turn,
    request_text,
    thread_of,
)

log = logging.getLogger("reasoningbank")

KEY = "reasoningbank"
Builder = TypeVar("Builder", bound=StateGraph[Any, Any, Any, Any])
Graph = TypeVar("Graph", bound=Pregel[Any, Any, Any, Any])


def lessons_block(state: Any, key: str = KEY) -> str:
    """Return the block of recalled lessons for a prompt; empty when none was recalled.

    Call it in a node, also of a subgraph, or in what a node calls: the run is known by that, whatever part of the state
    the node is given.

    Args:
        state: the graph's, as a node gets it.
        key: of the hooks.
    """
    config = running()
    bound = [h for h in getattr(config.get("callbacks"), "handlers", ()) if isinstance(h, HooksOutcome)]
    texts = (handler.hooks.lessons(state, config) for handler in reversed(bound) if handler.hooks.key == key)
    return next(filter(None, texts), "")


class HooksOutcome(GraphOutcome):
    """Watches the runs of graphs with hooks."""

    def __init__(self, hooks: ReasoningBankHooks, outcomes: RunOutcomes) -> None:
        super().__init__(outcomes, hooks.bank_of)
        self.hooks = hooks


class ReasoningBankHooks:
    """Recalls lessons when a graph starts, and reports how the run ended.

        hooks = ReasoningBankHooks(bank, judge=lambda state: state["tests_passed"])
        graph = hooks.compile(hooks.attach(builder), checkpointer=saver)

    A node reads the lessons with `lessons_block(state)`. The run's id is the episode's reference: `bank.report(verdict,
    ref=run_id)`, or `thread=thread_id`. `configurable={"reasoningbank_ref": ...}` gives a call one of your own.

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
        query: reads what the run is about from the state; the last user message of `messages` by default.
        judge: judges the state at the end; without one a run that merely ended is unknown.
        key: of the entry in the state; two hooks in one graph need two keys.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        failure_filter: tells which exceptions may be the lessons' fault.
        distill: put a finished run into the bank's queue, where a worker makes lessons of it: the messages of its last
            turn, or when there are none its state as the result.
        distill_after: seconds that a conversation must rest before its turns are distilled.
    """

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
        query: Callable[[Any], str] | None = None,
        judge: Judge | None = None,
        key: str = KEY,
        timeout: float = 0.5,
        fail_open: bool = True,
        failure_filter: FailureFilter | None = None,
        distill: bool = False,
        distill_after: float = 0.0,
    ) -> None:
        self.key, self._query = key, query
        self._recalling = Recalling(
            bank, limit, max_tokens, min_confidence, timeout, fail_open, filters, expand_links, holdout, weak, shared
        )
        outcomes = RunOutcomes(judge, failure_filter, self._run_of if distill else None, distill_after)
        self.callback = HooksOutcome(self, outcomes)
        self.recall_node = RunnableLambda(self._recall, afunc=self._arecall, name=f"{key}_recall")
        self.outcome_node = RunnableLambda(self._outcome, afunc=self._aoutcome, name=f"{key}_outcome")
        self._warned = False

    # -- into a graph --------------------------------------------------------------------------------------------------

    def attach(self, builder: Builder, *, entry: str | None = None, exits: Sequence[str] = ()) -> Builder:
        """Put the two nodes into a graph under construction: one before all others, one when nothing else is left.

        Whatever the graph starts with, also by conditional edges, follows the recall; however it ends, also by
        `Command(goto=END)`, the outcome comes last. The state needs nothing: its entry is private. Compile it with
        `compile`, so that runs that raise are reported too.

        Args:
            entry: a node that the graph starts with, when no edge leads there from its start.
            exits: nodes that are drawn as leading to the outcome; it comes last without that, too.

        Raises:
            ValueError: nothing could be recalled: the state has no `messages`, and no `query` was given.
        """
        self._check(builder.state_schema)
        recall, outcome = f"{self.key}_recall", f"{self.key}_outcome"
        schema = with_entry(builder.state_schema, self.key)
        nodes: Any = builder
        nodes.add_node(recall, self.recall_node, input_schema=schema)
        nodes.add_node(outcome, self.outcome_node, input_schema=schema, defer=True)
        if entry is not None:
            builder.add_edge(recall, entry)
        for node in exits:
            builder.add_edge(node, outcome)
        lead_through(builder, recall)
        end_with(builder, recall, outcome)
        return builder

    def _check(self, schema: Any) -> None:
        fields = fields_of(schema)
        if self._query is None and "messages" not in fields:
            some = next((name for name, kind in fields.items() if kind is str), "question")
            raise ValueError(
                f"nothing can be recalled: the state {getattr(schema, '__name__', schema)} has no `messages`, and "
                f'there is no query=; write ReasoningBankHooks(bank, query=lambda state: state["{some}"])'
            )

    def compile(
        self, builder: StateGraph[StateT, ContextT, InputT, OutputT], **options: Any
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """Compile a graph, and bind the callback that sees the endings no node sees.

        Args:
            options: of StateGraph.compile.
        """
        if f"{self.key}_recall" in builder.nodes:
            lead_through(builder, f"{self.key}_recall")  # edges may have come after `attach`
        return self.bind(builder.compile(**options))

    def bind(self, graph: Graph) -> Graph:
        """Bind the callback to a compiled graph, or to an entrypoint of the functional API."""
        return graph.with_config(callbacks=[self.callback])

    # -- the nodes -----------------------------------------------------------------------------------------------------

    def _recall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {self.key: self.recalled(self._asked(state), config)}

    async def _arecall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        return await run_in_executor(None, self._recall, state, config)

    def recalled(self, task: str, config: RunnableConfig, *, ref: str | None = None) -> dict[str, Any]:
        """Recall for a task, and return the entry for the state as plain JSON: the reference and the memories' ids.

        Args:
            ref: the episode's reference where the run's id is not known, since the callback is not bound.
        """
        task = request_text(task)
        if not task:
            return {"ref": "", "memories": []}
        bank, run = self.bank_of(config), self.callback.graph_run(config)
        configurable = config.get("configurable") or {}
        path = above(configurable.get("checkpoint_ns"))
        own = None if path else as_reference(configurable.get(f"{self.key}_ref"))
        ref, thread = own or self._name(run) or ref, thread_of(configurable.get("thread_id"), path)
        recall = self._recalling.recall(bank, task, ref=ref, thread=thread, config=config)
        if run is not None:
            self.callback.opened(run, bank, recall, must_read=True)
        elif not self._warned:
            self._warned = True
            log.warning("the hooks are not bound to the graph, which sees no lessons: use hooks.compile or hooks.bind")
        return {"ref": recall.ref, "memories": [memory.id for memory in recall.memories]}

    def _name(self, run: WatchedRun | None) -> str | None:
        return None if run is None else run.name if self.key == KEY else f"{run.name}/{self.key}"

    def _outcome(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        self._ending(state, config)
        return {}

    async def _aoutcome(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        await run_in_executor(None, self._ending, state, config, asyncio.get_running_loop())
        return {}

    def _ending(self, state: Any, config: RunnableConfig, loop: asyncio.AbstractEventLoop | None = None) -> None:
        bank, ref, run = self.bank_of(config), self._ref(state), self.callback.graph_run(config)
        self._recalling.forget(bank, ref)
        if run is None:
            self.callback.settle(bank, ref, state)
        else:
            # Nodes may still be running beside this one: the run's end will come when they have ended.
            self.callback.ending(run, bank, ref, state, loop)

    def _ref(self, state: Any) -> str:
        return str((read(state, self.key) or {}).get("ref", ""))

    # -- what was recalled, and how it ended ---------------------------------------------------------------------------

    def bank_of(self, config: Mapping[str, Any]) -> ReasoningBank:
        """Return the bank of a run."""
        return self._recalling.bank(config, context_here())

    def lessons(self, state: Any, config: RunnableConfig) -> str:
        """Return the block of lessons for a node's prompt; see `lessons_block`.

        Args:
            config: the node's.
        """
        bank, ref, run = self.bank_of(config), self._ref(state), self.callback.graph_run(config)
        if not ref and run is not None and (found := run.holder(bank)) is not None:
            ref = found[1].ref
        if not ref:
            return ""
        self.callback.read(config, bank, ref)
        return self._recalling.text(bank, ref)

    def _asked(self, state: Any) -> str:
        return request_text(read(state, "messages") or "") if self._query is None else self._query(state)

    def _run_of(self, state: Any) -> Any:
        messages = read(state, "messages")
        if messages:
            return last_turn(messages)
        results = {k: v for k, v in dict(state).items() if k != self.key} if isinstance(state, dict) else state
        return {"task": self._asked(state), "result": json.dumps(results, default=str, ensure_ascii=False)}

    def close(self, ref: str, given: Any) -> None:
        """Judge what a run gave, and close its episode; once more with another verdict replaces the first.

        In a node or a task of the run, its end is then not judged any more.
        """
        config = running()
        self.callback.settle(self.bank_of(config), ref, given, run=self.callback.graph_run(config), by_hand=True)
