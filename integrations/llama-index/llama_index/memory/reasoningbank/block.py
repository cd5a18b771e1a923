"""A memory block that recalls lessons once a run and shows them to the agent."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import ConfigDict, Field, PrivateAttr

from llama_index.memory.reasoningbank.outcome import MemoryRecallEvent, dispatcher, opened, watch_chats
from llama_index.memory.reasoningbank.runs import KEPT, Here, HoldoutOption, here, recalled
from reasoningbank import ReasoningBank, ReasoningBankError, Recall
from reasoningbank.adapters import RunScope, as_reference, bank_of, request_text
from reasoningbank.prompt import shorten

log = logging.getLogger("reasoningbank")


@dataclass(frozen=True)
class _Run:
    """What a run is about, and what was or is being recalled for it."""

    asked: str
    given: Future[tuple[ReasoningBank, Recall]] = field(default_factory=Future)

    @property
    def episode(self) -> tuple[ReasoningBank, str] | None:
        """The bank and the reference, once they are known; None when the recall failed."""
        if not self.given.done() or self.given.exception() is not None:
            return None
        bank, recall = self.given.result()
        return bank, recall.ref


class ReasoningBankMemoryBlock(BaseMemoryBlock[Any]):
    """Lessons for an agent's memory.

        memory = Memory.from_defaults(session_id="s", memory_blocks=[ReasoningBankMemoryBlock(bank=bank)])
        result = await run_with_memory(agent.run("...", memory=memory), memory=memory, judge=passes)

    An agent asks its memory several times a run; the block searches once, and counts once, whatever is said meanwhile,
    which agent has its turn, and what leaves the short-term memory. A run is what LlamaIndex runs: an agent, a
    workflow, or a call of a chat engine; its id is the episode's reference. Outside of all these it is a session, until
    something else is asked. It stores no chat turns: lessons come from outcomes and distillation.

    In an agent's run the lessons are a user message before the conversation. So every kind of agent is shown them: a
    ReActAgent drops a leading system message. Elsewhere they stand where the memory's `insert_method` puts them.

    Attributes:
        bank: whose lessons: a bank, or a function from the run to a bank. It is given a dictionary of the `session_id`,
            the `run_id` and the tags that the program set around the run (`instrument_tags`); nothing in it is said by
            a model.
        limit: how many lessons at the most.
        max_tokens: the block's own budget, whatever the memory's.
        min_confidence: confidence from which a lesson is proven, 0 to 1; the bank's setting when None.
        filters: those of `bank.recall`, by name: tags, where, outcome, source, since, until.
        expand_links: bring along what the lessons require, and warn of those that conflict.
        holdout: withhold lessons from a share of the runs (`bank.recall`); the bank's setting when None.
        weak: where none is clearly about the task, "mark" says so, "omit" shows none, "give" shows all as they are.
        shared: shared banks that are looked through, too, the nearest first; those of the bank when none are named.
        timeout: seconds of work that a recall may take.
        fail_open: when a recall fails or comes too late, go on without lessons.
        distill: put chat turns that leave the short-term memory into the bank's queue, where a worker makes lessons of
            them; needs accept_short_term_memory=True.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bank: ReasoningBank | Callable[[RunScope], ReasoningBank] = Field(exclude=True, repr=False)
    name: str = "lessons"
    description: str | None = "Lessons from earlier runs."
    priority: int = 0
    accept_short_term_memory: bool = False
    limit: int = Field(default=3, ge=1)
    max_tokens: int = Field(default=500, ge=0)
    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    filters: dict[str, Any] = Field(default_factory=dict)
    expand_links: bool = False
    holdout: HoldoutOption = None
    weak: Literal["mark", "omit", "give"] = "mark"
    shared: tuple[str, ...] = ()
    timeout: float = Field(default=0.5, gt=0.0)
    fail_open: bool = True
    distill: bool = False

    _runs: OrderedDict[str, _Run] = PrivateAttr(default_factory=OrderedDict)
    _resumed: dict[str, str] = PrivateAttr(default_factory=dict)
    # A plain lock: a sync call inside a running loop comes from another loop.
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def model_post_init(self, context: Any, /) -> None:
        """See to it that calls of chat engines, which nothing wraps, close what they open."""
        super().model_post_init(context)
        watch_chats()

    @classmethod
    def class_name(cls) -> str:
        """The block's name."""
        return "ReasoningBankMemoryBlock"

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str | list[ChatMessage]:
        place, asked = here(), request_text(messages or [])
        run, is_new = self._run(place, session_id, asked)
        if run is None:
            return ""
        if is_new:
            await asyncio.to_thread(self._recall, run, place, session_id)
        _, recall = await asyncio.wrap_future(run.given)
        if not recall.text or not place.in_workflow:
            return recall.text
        return [ChatMessage(role=MessageRole.USER, content=recall.text)]

    def _run(self, place: Here, session_id: str | None, asked: str) -> tuple[_Run | None, bool]:
        """Return the run that is under way, if there is anything to recall for, and whether it begins here."""
        key = place.run or _session(session_id)
        with self._lock:
            run = self._runs.get(key)
            if run is not None and (place.run or not asked or run.asked == asked):
                return run, False
            if not asked:
                return None, False
            self._runs[key] = run = _Run(asked)
            while len(self._runs) > KEPT:
                self._runs.popitem(last=False)
            return run, True

    def _recall(self, run: _Run, place: Here, session_id: str | None) -> None:
        """Recall for a run, in a thread, to its end: others may wait for it, whoever has gone away meanwhile."""
        try:
            bank = self._bank(place, session_id)
            recall = bank.recall(
                run.asked,
                self.limit,
                timeout=self.timeout,
                fail_open=self.fail_open,
                ref=as_reference(self._resumed.pop(place.run, place.run)),
                thread=as_reference(session_id),
                join=bool(recalled.ref(place.run, bank)),  # another block, or a tool, of the run was first
                holdout=self.holdout,
                weak=self.weak,
                max_tokens=self.max_tokens,
                min_confidence=self.min_confidence,
                expand_links=self.expand_links,
                **self.filters,
            )
        except BaseException as error:  # noqa: BLE001 - raised again by all who wait for it
            self._forget(run)
            run.given.set_exception(error)
            return
        recalled.note(place.run, bank, recall.ref)
        opened(place.span, bank, recall.ref)
        ids = [memory.id for memory in recall.memories]
        dispatcher.event(MemoryRecallEvent(query=run.asked, ref=recall.ref, memory_ids=ids))
        run.given.set_result((bank, recall))

    def _bank(self, place: Here, session_id: str | None) -> ReasoningBank:
        return bank_of(self.bank, RunScope({**place.tags, "run_id": place.run, "session_id": session_id}), self.shared)

    def _forget(self, run: _Run) -> None:
        with self._lock:
            for key in [key for key, known in self._runs.items() if known is run]:
                del self._runs[key]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store nothing, since chat turns are not lessons; with `distill`, enqueue them. The same turns are one job."""
        if not self.distill or not messages:
            return
        try:
            await asyncio.to_thread(lambda: self._bank(here(), None).queue.put(list(messages)))
        except ReasoningBankError as error:
            log.warning("chat turns were not enqueued for distilling: %s", error)

    async def atruncate(self, content: Any, tokens_to_truncate: int) -> Any:
        """Drop whole lessons from the end until the block is short enough; the block itself stays."""
        if isinstance(content, str):
            return shorten(content, tokens_to_truncate)
        return [
            ChatMessage(role=message.role, content=text)
            for message in content
            if (text := shorten(str(message.content), tokens_to_truncate))
        ]

    def go_on(self, run: str, ref: str) -> None:
        """A run that begins goes on with what an earlier one recalled, under that one's reference."""
        self._resumed[run] = ref

    def end_run(self, run: str, session_id: str | None = None) -> tuple[ReasoningBank, str] | None:
        """Forget a run that is over, and return its bank and its episode's reference; None when it recalled nothing.

        Args:
            run: the id that the agent's handler has.
            session_id: the memory's: what was recalled for the session outside of any run is meant where the block
                knows of no such run.
        """
        recalled.forget(run)
        with self._lock:
            found = self._runs.pop(run, None) or self._runs.pop(_session(session_id), None)
        return None if found is None else found.episode


def _session(session_id: str | None) -> str:
    return f"session {session_id or ''}"
