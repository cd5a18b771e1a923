"""Lessons as a LlamaIndex retriever and as tools. Their scope is the bank's: no argument of a model can reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool

from llama_index.memory.reasoningbank.outcome import MemoryRecallEvent, dispatcher, opened
from llama_index.memory.reasoningbank.runs import here, recalled
from reasoningbank import FilterOptions, Hit, ReasoningBank, Recall, prompt_block
from reasoningbank.adapters import (
    Banks,
    MemoryTool,
    RunScope,
    ToolAnswer,
    ToolSpec,
    as_reference,
    bank_of,
    check_holdout,
    is_held_out,
    memory_tools,
    request_text,
)

# Of one lesson's text: a query engine has a budget of its own.
LONGEST_NODE = 1_000


def _bank_here(banks: Banks, shared: Sequence[str]) -> ReasoningBank:
    """Return the bank of the run that this code is in."""
    place = here()
    return bank_of(banks, RunScope({**place.tags, "run_id": place.run}), shared)


class ReasoningBankRetriever(BaseRetriever):
    """Retrieves the lessons that fit a query, for query engines and RetrieverTool. Nothing is counted.

    A node's text is the lesson as it is meant for a model: framed as data, with when it applies. Its metadata are for
    programs, and are shown to no model.

    Args:
        bank: whose lessons: a bank, or a function from the run to a bank (see ReasoningBankMemoryBlock).
        limit: how many at the most.
        min_confidence: confidence from which a lesson is proven, 0 to 1; the bank's setting when None.
        strict: proven lessons only.
        outcome: only lessons from successes, or only from failures.
        tags: only lessons that have all of these.
        filters: all that `bank.search` filters by, by name: where, source, since, until, and `tags` with any and none.
        timeout: seconds of work that a search may take.
        fail_open: when a search fails or comes too late, give no nodes; a warning says why.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
        options: of BaseRetriever.
    """

    def __init__(
        self,
        bank: Banks,
        *,
        limit: int = 3,
        min_confidence: float | None = None,
        strict: bool = False,
        outcome: str | None = None,
        tags: list[str] | None = None,
        filters: FilterOptions | None = None,
        timeout: float = 0.5,
        fail_open: bool = True,
        shared: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self._bank, self._limit, self._shared = bank, limit, tuple(shared)
        self._filters: dict[str, Any] = {
            "min_confidence": min_confidence,
            "strict": strict,
            "outcome": outcome,
            "tags": tags,
            "timeout": timeout,
            "fail_open": fail_open,
            **(filters or {}),
        }
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = request_text(query_bundle.query_str)
        if not query:
            return []
        bank = _bank_here(self._bank, self._shared)
        if is_held_out(bank, as_reference(here().run), None):
            return []
        found = bank.search(query, self._limit, **self._filters)
        dispatcher.event(MemoryRecallEvent(query=query, ref="", memory_ids=[hit.memory.id for hit in found.hits]))
        return [_node(hit, weak=found.weak) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: Hit, *, weak: bool) -> NodeWithScore:
    memory = hit.memory
    metadata = {
        "memory_id": memory.id,
        "title": memory.title,
        "content": memory.content,
        "description": memory.description,
        "applies_when": memory.applies_when,
        "outcome": memory.outcome.value,
        "confidence": hit.confidence,
        "similarity": hit.similarity,
        "provisional": hit.provisional,
        "weak": weak,
        "tags": list(memory.tags),
        "project": memory.project,
    }
    unproven = [memory.id] if hit.provisional else []
    node = TextNode(
        id_=memory.id,
        text=prompt_block([memory], max_tokens=LONGEST_NODE, provisional=unproven, doubtful=weak).text,
        metadata=metadata,
        excluded_llm_metadata_keys=list(metadata),
        excluded_embed_metadata_keys=list(metadata),
    )
    return NodeWithScore(node=node, score=hit.score)


def get_tools(
    bank: Banks,
    *,
    read_only: bool = False,
    limit: int = 5,
    by: str = "agent",
    trusted: bool = True,
    filters: FilterOptions | None = None,
    allow: Collection[str] = (),
    holdout: float | str | None = None,
    shared: Sequence[str] = (),
) -> list[FunctionTool]:
    """Return the memory tools of a bank: memory_search, and unless read-only memory_record, _feedback and _outcome.

    In a run what memory_search hands out is in the run's episode, which a block of the same bank shares, and whose ref
    it gives: a run counts once for a lesson, however often it asks.

    Args:
        bank: a bank, or a function from the run to a bank (see ReasoningBankMemoryBlock).
        read_only: only memory_search, which then counts nothing.
        limit: how many lessons memory_search gives when it is not told.
        by: who records, votes and reports through the tools.
        trusted: whether what is recorded through them is trusted.
        filters: of memory_search; no argument of a model takes one of them away.
        allow: "list", "update", "retire" and "approve" offer memory_list, memory_update, memory_retire and
            memory_approve (see memory_tools); beside read-only only "list".
        holdout: withhold lessons from a share of the runs (`bank.recall`); the bank's setting when None.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
    """
    check_holdout(holdout)
    options: dict[str, Any] = {
        "read_only": read_only,
        "limit": limit,
        "by": by,
        "trusted": trusted,
        "filters": filters,
        "allow": allow,
        "holdout": holdout,
    }

    def call_of(name: str) -> Callable[[dict[str, Any]], ToolAnswer]:
        def carry_out(arguments: dict[str, Any]) -> ToolAnswer:
            of, place = _bank_here(bank, shared), here()

            def handed_out(recall: Recall) -> None:
                if not recalled.ref(place.run, of):
                    recalled.note(place.run, of, recall.ref)
                    opened(place.span, of, recall.ref)

            within = recalled.ref(place.run, of) or as_reference(place.run) or ""
            tools: list[MemoryTool] = memory_tools(of, within=within, recalled=handed_out, **options)
            return next(tool for tool in tools if tool.name == name)(arguments)

        return carry_out

    # What a model is told of them is the same for every bank.
    unbound: Any = None
    return [_function(tool.spec, call_of(tool.name)) for tool in memory_tools(unbound, **options)]


def _function(spec: ToolSpec, carry_out: Callable[[dict[str, Any]], ToolAnswer]) -> FunctionTool:
    def call(**arguments: Any) -> str:
        answer = carry_out(arguments)
        if answer.failed:
            # The agent marks the call as failed and shows the model the sentence.
            raise ValueError(answer.text)
        return answer.text

    async def acall(**arguments: Any) -> str:
        return await asyncio.to_thread(lambda: call(**arguments))

    return FunctionTool.from_defaults(
        fn=call, async_fn=acall, name=spec.name, description=spec.description, fn_schema=spec.arguments
    )
