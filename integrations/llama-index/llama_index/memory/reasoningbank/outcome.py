"""How agent runs end: a wrapper around the handler that `agent.run` returns, and a span handler for all runs."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any
from weakref import WeakSet

from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.memory import Memory
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from pydantic import PrivateAttr

from llama_index.memory.reasoningbank.runs import chats, is_chat, is_run, recalled
from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes

log = logging.getLogger("reasoningbank")
dispatcher = get_dispatcher(__name__)

# How long the end of an answer that is streamed is waited for, and how often it is looked for, in seconds.
LONGEST_STREAM, STREAM_LOOK = 600.0, 0.02


class MemoryRecallEvent(BaseEvent):
    """Lessons were recalled.

    Attributes:
        ref: the episode's reference; empty when the recall failed open.
    """

    query: str
    ref: str
    memory_ids: list[str]

    @classmethod
    def class_name(cls) -> str:
        """The event's name."""
        return "MemoryRecallEvent"


class MemoryOutcomeEvent(BaseEvent):
    """A run's episode was reported on."""

    ref: str
    verdict: str

    @classmethod
    def class_name(cls) -> str:
        """The event's name."""
        return "MemoryOutcomeEvent"


_watching: WeakSet[ReasoningBankSpanHandler] = WeakSet()


def opened(span: str | None, bank: ReasoningBank, ref: str) -> None:
    """Tell the span handlers of this process that an episode was opened inside a span."""
    for handler in list(_watching):
        handler.opened(span, bank, ref)


def ending(result: Any) -> str:
    """Say in words what a run that ended went through: the tools that failed on the way."""
    failed = [c for c in getattr(result, "tool_calls", None) or [] if getattr(_output(c), "is_error", False)]
    return f"tool errors: {len(failed)}" if failed else ""


def _output(call: Any) -> Any:
    return getattr(call, "tool_output", None)


class MemoryRun:
    """An agent's run whose outcome is reported when it ends. It is awaited and streamed like the handler it wraps."""

    def __init__(self, handler: Any, memory: Memory, outcomes: RunOutcomes) -> None:
        self._handler, self._outcomes = handler, outcomes
        self._memory: Any = memory

    def __getattr__(self, name: str) -> Any:
        """Give whatever the handler has."""
        return getattr(self._handler, name)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the result, and report how the run ended."""
        return self._watch().__await__()

    def stream_events(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Stream the run's events, as the handler does; await the run afterwards."""
        stream: AsyncGenerator[Any, None] = self._handler.stream_events(*args, **kwargs)
        return stream

    async def _watch(self) -> Any:
        try:
            result = await self._handler
        except BaseException as error:
            await asyncio.to_thread(self._failed, error)
            raise
        if episodes := self._episodes():
            judgement, reason = await self._outcomes.ajudged(result), ending(result)
            for bank, ref in episodes:
                record = partial(self._outcomes.record, bank, ref, result, judgement, reason)
                self._told(ref, await asyncio.to_thread(record))
        return result

    def _failed(self, error: BaseException) -> None:
        for bank, ref in self._episodes():
            if isinstance(error, asyncio.CancelledError):
                # Whoever waited went away, and nobody can come back to this run. A later report still counts.
                self._told(ref, self._outcomes.leave(bank, ref))
            else:
                self._told(ref, self._outcomes.fail(bank, ref, error))

    def _told(self, ref: str, verdict: object) -> None:
        if ref and verdict is not None:
            dispatcher.event(MemoryOutcomeEvent(ref=ref, verdict=str(verdict)))

    def _episodes(self) -> list[tuple[ReasoningBank, str]]:
        """Return what the blocks of the memory recalled for the run, each episode once."""
        memory, self._memory = self._memory, None
        blocks = [block for block in getattr(memory, "memory_blocks", ()) if hasattr(block, "end_run")]
        run = str(getattr(self._handler, "run_id", ""))
        found = [episode for block in blocks if (episode := block.end_run(run, memory.session_id)) is not None]
        if blocks and not found:
            log.warning(
                "run %s never asked this memory for lessons, so there is nothing to report: pass memory= to each run, "
                "since a Context does not keep it",
                run,
            )
        return [(bank, ref) for n, (bank, ref) in enumerate(found) if (bank, ref) not in found[:n]]


def run_with_memory(
    handler: Any,
    *,
    memory: Memory,
    judge: Judge | None = None,
    failure_filter: FailureFilter | None = None,
    resumes: str | None = None,
) -> MemoryRun:
    """Report how an agent's run ends.

        result = await run_with_memory(agent.run("...", memory=memory), memory=memory, judge=passes)

    Without a judge a run that merely ended is `unknown` and teaches nothing; an exception, a time-out and the limit of
    iterations are failures; a run that the user cancelled stays open, and one that nobody waited for any more is
    `unknown`. A run that never asked the memory is warned about.

    Args:
        handler: what `agent.run(...)` returned. Streaming stays: `stream_events` of what comes back.
        memory: the one the run was given, with a ReasoningBankMemoryBlock in it.
        judge: judges the result; it may be async, and returns what `as_judgement` reads.
        failure_filter: tells which exceptions may be the lessons' fault.
        resumes: the `run_id` of the run that this one goes on with, from a saved Context: it is the same episode.
    """
    if resumes is not None:
        for block in (block for block in memory.memory_blocks if hasattr(block, "go_on")):
            block.go_on(str(handler.run_id), resumes)
    return MemoryRun(handler, memory, RunOutcomes(judge, failure_filter))


class ReasoningBankSpanHandler(BaseSpanHandler[BaseSpan]):
    """Reports every run of an agent, a workflow or a chat engine, also where nobody thought of wrapping it.

        get_dispatcher().add_span_handler(ReasoningBankSpanHandler(judge=...))

    It closes what memory blocks opened inside a run, whatever their bank. Reports are written by a thread of its own,
    so that no event loop waits; `flush` waits for them. An answer that is streamed is judged when its end has come.

    Args:
        judge: judges a run's result; without one a run that merely ended is unknown.
        failure_filter: tells which exceptions may be the lessons' fault.
        agents: report runs of agents and workflows, not only those of chat engines.
    """

    _agents: bool = PrivateAttr()
    _roots: set[str] = PrivateAttr(default_factory=set)
    _outcomes: RunOutcomes = PrivateAttr()
    _writer: ThreadPoolExecutor = PrivateAttr()
    _writing: set[Future[None]] = PrivateAttr(default_factory=set)
    _guard: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self, judge: Judge | None = None, failure_filter: FailureFilter | None = None, *, agents: bool = True
    ) -> None:
        super().__init__()
        self._agents = agents
        self._outcomes = RunOutcomes(judge, failure_filter)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="reasoningbank-outcomes")
        _watching.add(self)

    @classmethod
    def class_name(cls) -> str:
        """The handler's name."""
        return "ReasoningBankSpanHandler"

    def __hash__(self) -> int:
        """Each handler is itself."""
        return id(self)

    def __eq__(self, other: object) -> bool:
        """Each handler is itself."""
        return self is other

    def opened(self, span: str | None, bank: ReasoningBank, ref: str) -> None:
        """An episode was opened inside a span."""
        self._outcomes.opened(span, bank, ref)

    def new_span(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> BaseSpan:
        """A span begins. That of a run is a root, whatever it stands in."""
        is_call = is_chat(id_, instance)
        if self is _chat_watch:
            chats.begin(id_, parent_span_id, is_call=is_call)
        is_root = (self._agents and is_run(id_, instance)) or (is_call and not chats.call(parent_span_id))
        if is_root:
            self._roots.add(id_)
        self._outcomes.runs.begin(id_, None if is_root else parent_span_id or "")
        return BaseSpan(id_=id_, parent_id=parent_span_id, tags=tags or {})

    def prepare_to_exit_span(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> BaseSpan | None:
        """A span ended; when it is a run, its episodes are judged. A cancelled run ends without a result."""
        if result is None:
            self._end(id_)
            self._outcomes.paused(id_)
        else:
            self._write(self._finished, id_, result)
        return self.open_spans.get(id_)

    def prepare_to_drop_span(
        self, id_: str, bound_args: Any, instance: Any = None, err: BaseException | None = None, **kwargs: Any
    ) -> BaseSpan | None:
        """A span ended with an exception; when it is a run, its episodes failed."""
        self._write(self._outcomes.failed, id_, err or RuntimeError("the run was dropped"))
        return self.open_spans.get(id_)

    def _finished(self, id_: str, result: Any) -> None:
        error = _streamed(result)
        if error is None:
            self._outcomes.finished(id_, result)
        else:
            self._outcomes.failed(id_, error)

    def _end(self, id_: str) -> bool:
        """Forget a span; tell whether it was a run."""
        if self is _chat_watch:
            chats.end(id_)
        was_root = id_ in self._roots
        self._roots.discard(id_)
        recalled.forget(id_)
        return was_root

    def _write(self, how: Callable[[str, Any], None], id_: str, given: Any) -> None:
        if not self._end(id_):
            self._outcomes.paused(id_)
            return
        if _is_stream(given):
            writing: Future[None] = Future()
            threading.Thread(target=_carry_out, args=(writing, how, id_, given), daemon=True).start()
        else:
            writing = self._writer.submit(how, id_, given)
        with self._guard:
            self._writing = {future for future in self._writing if not future.done()} | {writing}

    def flush(self) -> None:
        """Wait until every run that has ended is reported."""
        with self._guard:
            waiting = list(self._writing)
        for future in waiting:
            future.result()


def _carry_out(writing: Future[None], how: Callable[[str, Any], None], id_: str, given: Any) -> None:
    try:
        how(id_, given)
    finally:
        writing.set_result(None)


def _is_stream(given: Any) -> bool:
    return getattr(given, "is_done", None) is False


def _streamed(given: Any) -> BaseException | None:
    """Wait for the end of an answer that is streamed; return the exception that ended it, if one did."""
    until = time.monotonic() + LONGEST_STREAM
    while _is_stream(given) and getattr(given, "exception", None) is None and time.monotonic() < until:
        time.sleep(STREAM_LOOK)
    error: BaseException | None = getattr(given, "exception", None)
    return error


_chat_watch: ReasoningBankSpanHandler | None = None
_watching_chats = threading.Lock()


def watch_chats() -> None:
    """Have calls of chat engines close the episodes that they open: nothing wraps them."""
    global _chat_watch  # noqa: PLW0603 - one a process, made with the first block
    with _watching_chats:
        if _chat_watch is None:
            _chat_watch = ReasoningBankSpanHandler(agents=False)
        root = get_dispatcher()
        if not any(handler is _chat_watch for handler in root.span_handlers):
            root.add_span_handler(_chat_watch)
