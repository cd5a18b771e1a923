"""Lessons as a LangChain retriever: a drop-in for a chain, and with `record_usage` one that learns."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig, run_in_executor
from pydantic import ConfigDict, Field

from langchain_reasoningbank.documents import NO_BUDGET, document_of
from langchain_reasoningbank.scope import ChainWatch, HoldoutOption, own_thread, run_name, run_scope
from reasoningbank import ReasoningBank, Recall
from reasoningbank.adapters import (
    Banks,
    RunScope,
    as_reference,
    bank_of,
    is_held_out_around,
    request_text,
)


class ReasoningBankRetriever(BaseRetriever):
    """Retrieves the lessons that fit a query.

        chain = {"lessons": retriever | format_lessons, "q": RunnablePassthrough()} | prompt | model

    `limit` and `min_confidence` can be given per call (`retriever.invoke(query, limit=1)`) and made configurable
    (`retriever.configurable_fields(limit=ConfigurableField("limit"))`). Content blocks are searched for by their text;
    an image alone finds nothing. What goes wrong in the bank is a warning, and no lessons.

    Attributes:
        bank: whose lessons: a bank, or a resolver of the run's config and context. No argument of a call or of a model
            reaches it.
        limit: how many lessons at the most.
        min_confidence: confidence from which a lesson is proven, 0 to 1; the bank's setting when None. Provisional ones
            fill the slots left.
        strict: proven lessons only.
        outcome: only lessons from successes, or only from failures.
        tags: only lessons that have all of these. They are also the retriever's tags in traces; tags for traces alone
            go into the config of a call.
        filters: all that `bank.search` filters by, by name: where, source, since, until, and `tags` with any and none.
        record_usage: a call is a recall: it opens an episode, whose `ref` each document carries in its metadata.
            `attach` closes it at the end of the chain's run, whose id is the reference.
        max_tokens: with `record_usage`, the budget of what is handed out; None for no limit.
        holdout: with `record_usage`, withhold lessons from a share of the runs (`bank.recall`); the bank's setting when
            None.
        weak: with `record_usage`, "omit" gives none where none is clearly about the query; "mark" says so in each.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
        timeout: seconds of work that a call may take; None for as long as it takes.
        fail_open: when a call fails or comes too late, give no documents; a warning says why.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    bank: Banks = Field(exclude=True, repr=False)
    limit: int = Field(default=3, ge=1)
    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    strict: bool = False
    outcome: Literal["success", "failure"] | None = None
    filters: dict[str, Any] = Field(default_factory=dict)
    record_usage: bool = False
    max_tokens: int | None = Field(default=None, ge=0)
    holdout: HoldoutOption = None
    weak: Literal["mark", "omit", "give"] = "mark"
    shared: tuple[str, ...] = ()
    timeout: float | None = Field(default=0.5, gt=0.0)
    fail_open: bool = True

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = "faiss"
        return params

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Retrieve; the run's config says whose bank, where `bank` is a resolver."""
        return super().invoke(input, config, **{**kwargs, "scope": run_scope(config)})

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Retrieve; the run's config says whose bank, where `bank` is a resolver."""
        return await super().ainvoke(input, config, **{**kwargs, "scope": run_scope(config)})

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        limit: int | None = None,
        min_confidence: float | None = None,
        scope: RunScope | None = None,
    ) -> list[Document]:
        return self._documents(query, limit, min_confidence, run_manager, scope)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        limit: int | None = None,
        min_confidence: float | None = None,
        scope: RunScope | None = None,
    ) -> list[Document]:
        return await run_in_executor(None, self._documents, query, limit, min_confidence, run_manager, scope)

    def _documents(
        self, query: object, limit: int | None, min_confidence: float | None, manager: Any, scope: RunScope | None
    ) -> list[Document]:
        task = request_text(query)
        if not task:
            return []
        scope = scope or run_scope()
        bank = bank_of(self.bank, scope, self.shared)
        options: dict[str, Any] = {
            "limit": self.limit if limit is None else limit,
            "min_confidence": self.min_confidence if min_confidence is None else min_confidence,
            "strict": self.strict,
            "outcome": self.outcome,
            "tags": self.tags,
            "timeout": self.timeout,
            "fail_open": self.fail_open,
        } | self.filters
        if self.record_usage:
            recall = self._recall(bank, task, manager, scope, options)
            return [document_of(hit, recall.ref, weak=recall.weak and self.weak == "mark") for hit in recall.hits]
        if is_held_out_around(bank, {**scope, "callbacks": manager}, None):
            return []
        found = bank.search(task, **options)
        return [document_of(hit, weak=found.weak) for hit in found.hits]

    def _recall(self, bank: ReasoningBank, task: str, manager: Any, scope: RunScope, options: dict[str, Any]) -> Recall:
        own, config = as_reference(scope["configurable"].get("reasoningbank_ref")), {**scope, "callbacks": manager}
        place, thread = ChainWatch.place(config, bank, self.bank, own), own_thread(scope)
        if place is not None and isinstance(place.watch, ChainWatch):
            thread = place.watch.thread(place.run, scope)
        if is_held_out_around(bank, config, thread):
            return Recall(ref="", task=task, held_out=True)
        ref = place.ref if place is not None else own or run_name() or str(manager.run_id)
        options["max_tokens"] = NO_BUDGET if self.max_tokens is None else self.max_tokens
        recall = bank.recall(task, ref=ref, thread=thread, join=True, holdout=self.holdout, weak=self.weak, **options)
        if place is not None:
            place.opened(bank, recall, under=manager.run_id)
        return recall
