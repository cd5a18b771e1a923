"""Lessons as a LlamaIndex retriever and as tools. Their scope is the bank's: no argument of a model can reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool

from llama_index.memory.reasoningbank.outcome import MemoryRecallEvent, dispatcher
from reasoningbank import Hit, ReasoningBank
from reasoningbank.adapters import MemoryTool, memory_tools, request_text


class ReasoningBankRetriever(BaseRetriever):
    """Retrieves the lessons that fit a query, for query engines and RetrieverTool. Nothing is counted.

    Args:
        bank: whose lessons.
        limit: how many at the most.
        min_confidence: confidence from which a lesson is proven, 0 to 1; the bank's setting when None.
        strict: proven lessons only.
        outcome: only lessons from successes, or only from failures.
        tags: only lessons that have all of these.
        options: of BaseRetriever.
    """

    def __init__(
        self,
        bank: ReasoningBank,
        *,
        limit: int = 3,
        min_confidence: float | None = None,
        strict: bool = False,
        outcome: str | None = None,
        tags: list[str] | None = None,
        **options: Any,
    ) -> None:
        self._bank, self._limit = bank, limit
        self._filters: dict[str, Any] = {
            "min_confidence": min_confidence,
            "strict": strict,
            "outcome": outcome,
            "tags": tags,
        }
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = request_text(query_bundle.query_str)
        if not query:
            return []
        hits = self._bank.search(query, self._limit, **self._filters).hits
        dispatcher.event(MemoryRecallEvent(query=query, ref="", memory_ids=[hit.memory.id for hit in hits]))
        return [_node(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: Hit) -> NodeWithScore:
    memory = hit.memory
    node = TextNode(
        id_=memory.id,
        text="\n".join(part for part in (memory.title, memory.description, memory.content) if part),
        metadata={
            "memory_id": memory.id,
            "title": memory.title,
            "outcome": memory.outcome.value,
            "confidence": hit.confidence,
            "similarity": hit.similarity,
            "provisional": hit.provisional,
            "tags": list(memory.tags),
            "project": memory.project,
        },
    )
    return NodeWithScore(node=node, score=hit.score)


def get_tools(
    bank: ReasoningBank,
    *,
    read_only: bool = False,
    by: str = "agent",
    trusted: bool = True,
    allow: Collection[str] = (),
) -> list[FunctionTool]:
    """Return the memory tools of a bank: memory_search, and unless read-only memory_record, _feedback and _outcome.

    Args:
        read_only: only memory_search, which then counts nothing.
        by: who records, votes and reports through the tools.
        trusted: whether what is recorded through them is trusted.
        allow: "update" and "retire" offer memory_update and memory_retire, to put lessons right; not beside read-only.
    """
    offered = memory_tools(bank, read_only=read_only, by=by, trusted=trusted, allow=allow)
    return [_function(tool) for tool in offered]


def _function(tool: MemoryTool) -> FunctionTool:
    def call(**arguments: Any) -> str:
        answer = tool(arguments)
        if answer.failed:
            # The agent marks the call as failed and shows the model the sentence.
            raise ValueError(answer.text)
        return answer.text

    async def acall(**arguments: Any) -> str:
        return await asyncio.to_thread(lambda: call(**arguments))

    spec = tool.spec
    return FunctionTool.from_defaults(
        fn=call, async_fn=acall, name=spec.name, description=spec.description, fn_schema=spec.arguments
    )
