"""A memory block that recalls lessons once a run and shows them in the agent's prompt."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index_instrumentation.span import active_span_id
from pydantic import ConfigDict, Field, PrivateAttr

from llama_index.memory.reasoningbank.outcome import MemoryRecallEvent, dispatcher, opened
from reasoningbank import ReasoningBank, ReasoningBankError, Recall
from reasoningbank.adapters import request_text
from reasoningbank.prompt import shorten

log = logging.getLogger("reasoningbank")


@dataclass(frozen=True)
class _Asked:
    """What a run is about, and where in the conversation it was asked: the same for every look of one run."""

    text: str
    position: int


@dataclass
class _Run:
    """What was recalled for a run."""

    asked: _Asked
    recall: Recall
    went_on: bool = False


class ReasoningBankMemoryBlock(BaseMemoryBlock[str]):
    """Lessons for an agent's memory.

        memory = Memory.from_defaults(session_id="s", memory_blocks=[ReasoningBankMemoryBlock(bank=bank)])
        result = await run_with_memory(agent.run("...", memory=memory), memory=memory, judge=passes)

    An agent asks its memory several times a run; the block searches once, and counts once. It stores no chat turns:
    lessons come from outcomes and distillation. With an agent that has a system prompt the lessons are a second system
    message; `insert_method=InsertMethod.USER` puts them into the last user message instead. A ReActAgent needs that:
    it replaces the leading system message by its own and would never see the lessons.

    Attributes:
        bank: whose lessons; its tenant and project are the scope.
        limit: how many lessons at the most.
        max_tokens: the block's own budget, whatever the memory's.
        min_confidence: confidence from which a lesson is proven, 0 to 1; the bank's setting when None.
        timeout: seconds a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        distill: put chat turns that leave the short-term memory into the bank's queue, where a worker makes lessons of
            them; needs accept_short_term_memory=True.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bank: ReasoningBank = Field(exclude=True, repr=False)
    name: str = "lessons"
    description: str | None = "Lessons from earlier runs."
    priority: int = 0
    accept_short_term_memory: bool = False
    limit: int = Field(default=3, ge=1)
    max_tokens: int = Field(default=500, ge=0)
    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    timeout: float = Field(default=0.5, gt=0.0)
    fail_open: bool = True
    distill: bool = False

    _runs: dict[str, _Run] = PrivateAttr(default_factory=dict)
    # A plain lock: a sync call inside a running loop comes from another loop.
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def model_post_init(self, context: Any, /) -> None:
        """Load the model, which takes longer than a recall may."""
        super().model_post_init(context)
        self.bank.upkeep.warm()

    @classmethod
    def class_name(cls) -> str:
        """The block's name."""
        return "ReasoningBankMemoryBlock"

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        asked, is_last = _asked(messages or [])
        if not asked.text:
            return ""
        run = self._known(session_id or "", asked, is_last=is_last)
        if run is None:
            span = active_span_id.get()
            recall = await asyncio.to_thread(self._recall, asked.text, session_id)
            run = _Run(asked, recall)
            with self._lock:
                self._runs[session_id or ""] = run
            opened(span, self.bank, recall.ref)
            ids = [memory.id for memory in recall.memories]
            dispatcher.event(MemoryRecallEvent(query=asked.text, ref=recall.ref, memory_ids=ids))
        return run.recall.text

    def _known(self, session: str, asked: _Asked, *, is_last: bool) -> _Run | None:
        """Return what was recalled for this run already; None for a run that is new.

        The same question asked anew is a new run: it stands further down, or comes last after the run went on.
        """
        with self._lock:
            run = self._runs.get(session)
            if run is None or run.asked != asked or (is_last and run.went_on):
                return None
            run.went_on = run.went_on or not is_last
            return run

    def _recall(self, task: str, session_id: str | None) -> Recall:
        return self.bank.recall(
            task,
            self.limit,
            timeout=self.timeout,
            fail_open=self.fail_open,
            thread=session_id,
            max_tokens=self.max_tokens,
            min_confidence=self.min_confidence,
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store nothing, since chat turns are not lessons; with `distill`, enqueue them. The same turns are one job."""
        if not self.distill or not messages:
            return
        try:
            await asyncio.to_thread(self.bank.queue.put, list(messages))
        except ReasoningBankError as error:
            log.warning("chat turns were not enqueued for distilling: %s", error)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str:
        """Drop whole lessons from the end until the block is short enough; the block itself stays."""
        return shorten(content, tokens_to_truncate)

    def end_run(self, session_id: str) -> str:
        """Forget the session's run, so that the next one recalls anew, and return its episode's reference."""
        with self._lock:
            run = self._runs.pop(session_id, None)
        return "" if run is None else run.recall.ref


def _asked(messages: list[ChatMessage]) -> tuple[_Asked, bool]:
    """Return what the user asked last and which question of the conversation it is, and whether nothing came after it.

    While a run begins, an agent shows its memory the question twice in a row: that is one question.
    """
    questions: list[str] = []
    after_question = False
    for message in messages:
        if message.role.value == "user":
            text = request_text(message)
            if not (after_question and questions[-1] == text):
                questions.append(text)
            after_question = True
        else:
            after_question = False
    return _Asked(questions[-1] if questions else "", len(questions)), after_question
