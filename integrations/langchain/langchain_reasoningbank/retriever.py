"""Lessons as a LangChain retriever: a drop-in for a chain, and with `record_usage` one that learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableLambda, run_in_executor
from pydantic import ConfigDict, Field

from reasoningbank import Hit, ReasoningBank, Verdict, prompt_block
from reasoningbank.adapters import request_text


class ReasoningBankRetriever(BaseRetriever):
    """Retrieves the lessons that fit a query.

        chain = {"lessons": retriever | format_lessons, "q": RunnablePassthrough()} | prompt | model

    `limit` and `min_confidence` can be given per call (`retriever.invoke(query, limit=1)`) and made configurable
    (`retriever.configurable_fields(limit=ConfigurableField("limit"))`). Content blocks are searched for by their text;
    an image alone finds nothing.

    Attributes:
        bank: whose lessons; its tenant and project are the scope, which no call can change.
        limit: how many lessons at the most.
        min_confidence: confidence from which a lesson is proven, 0 to 1; provisional ones fill the slots left.
        strict: proven lessons only.
        outcome: only lessons from successes, or only from failures.
        tags: only lessons that have all of these. They are also the retriever's tags in traces; tags for traces alone
            go into the config of a call.
        record_usage: a call is a recall: it opens an episode, whose `ref` each document carries in its metadata.
            `attach` closes it at the end of the chain's run.
        timeout: seconds of work that a call may take.
        fail_open: when a call fails or comes too late, give no documents; a warning says why.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    bank: ReasoningBank = Field(exclude=True, repr=False)
    limit: int = Field(default=3, ge=1)
    min_confidence: float = Field(default=0.7, ge=0.0, le=1.0)
    strict: bool = False
    outcome: Literal["success", "failure"] | None = None
    record_usage: bool = False
    timeout: float = Field(default=0.5, gt=0.0)
    fail_open: bool = True

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = "faiss"
        return params

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        limit: int | None = None,
        min_confidence: float | None = None,
    ) -> list[Document]:
        return self._documents(query, limit, min_confidence)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        limit: int | None = None,
        min_confidence: float | None = None,
    ) -> list[Document]:
        return await run_in_executor(None, self._documents, query, limit, min_confidence)

    def _documents(self, query: object, limit: int | None, min_confidence: float | None) -> list[Document]:
        task = request_text(query)
        if not task:
            return []
        found = self.bank.recall if self.record_usage else self.bank.search
        result = found(
            task,
            self.limit if limit is None else limit,
            min_confidence=self.min_confidence if min_confidence is None else min_confidence,
            strict=self.strict,
            outcome=self.outcome,
            tags=self.tags,
            timeout=self.timeout,
            fail_open=self.fail_open,
        )
        ref = getattr(result, "ref", None)
        return [_document(hit, ref) for hit in result.hits]


def _document(hit: Hit, ref: str | None) -> Document:
    memory = hit.memory
    notes = [memory.description, f"Applies when: {memory.applies_when}" if memory.applies_when else ""]
    metadata: dict[str, Any] = {
        "memory_id": memory.id,
        "title": memory.title,
        "outcome": memory.outcome.value,
        "confidence": hit.confidence,
        "similarity": hit.similarity,
        "score": hit.score,
        "provisional": hit.provisional,
        "tags": list(memory.tags),
        "project": memory.project,
    }
    if ref is not None:
        metadata["ref"] = ref
    return Document(
        id=memory.id,
        page_content="\n".join(part for part in (memory.title, *notes, memory.content) if part),
        metadata=metadata,
    )


@dataclass(frozen=True)
class _Shown:
    """A document as a lesson of the prompt block."""

    id: str
    title: str
    content: str
    outcome: Verdict
    confidence: float
    description: str = ""
    applies_when: str = ""


def lessons_text(documents: Sequence[Document], *, max_tokens: int = 500) -> str:
    """Return retrieved documents as the framed, delimited block that is meant for a prompt; empty when there are none.

    Args:
        max_tokens: of the whole block; long lessons are cut visibly, and what does not fit is left out.
    """
    shown = [
        _Shown(
            id=str(document.metadata["memory_id"]),
            title=str(document.metadata["title"]),
            content=document.page_content.removeprefix(f"{document.metadata['title']}\n"),
            outcome=Verdict(document.metadata["outcome"]),
            confidence=float(document.metadata["confidence"]),
        )
        for document in documents
    ]
    return prompt_block(shown, max_tokens=max_tokens).text


format_lessons: RunnableLambda[list[Document], str] = RunnableLambda(lessons_text, name="format_lessons")
"""The runnable that turns retrieved documents into the prompt block: `retriever | format_lessons`."""
