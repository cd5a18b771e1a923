"""How agent runs end: a wrapper around the handler that `agent.run` returns, and a span handler for all runs."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from weakref import WeakSet

from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.memory import Memory
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from pydantic import PrivateAttr

from reasoningbank import ReasoningBank
from reasoningbank.adapters import FailureFilter, Judge, RunOutcomes

dispatcher = get_dispatcher(__name__)

# The span of a whole run: `FunctionAgent.run-<uuid>`, `AgentWorkflow.run-<uuid>`.
RUN = re.compile(r"\w*(?:Agent|Workflow)\.run-")


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
        self._handler, self._memory, self._outcomes = handler, memory, outcomes

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
        from asyncio import to_thread

        try:
            result = await self._handler
        except BaseException as error:
            await to_thread(self._close, error, None)
            raise
        await to_thread(self._close, None, result)
        return result

    def _close(self, error: BaseException | None, result: Any) -> None:
        for bank, ref in _episodes(self._memory):
            if error is not None:
                verdict: object = self._outcomes.fail(bank, ref, error)
            else:
                verdict = self._outcomes.close(bank, ref, result, reason=ending(result))
            if verdict is not None:
                dispatcher.event(MemoryOutcomeEvent(ref=ref, verdict=str(verdict)))


def _episodes(memory: Memory) -> list[tuple[ReasoningBank, str]]:
    """Return what the blocks of a memory have open for its session; afterwards the next run recalls anew."""
    found = []
    blocks: list[Any] = list(memory.memory_blocks)
    for block in blocks:
        end = getattr(block, "end_run", None)
        if end is not None and (ref := end(memory.session_id)):
            found.append((block.bank, ref))
    return found


def run_with_memory(
    handler: Any, *, memory: Memory, judge: Judge | None = None, failure_filter: FailureFilter | None = None
) -> MemoryRun:
    """Report how an agent's run ends.

        result = await run_with_memory(agent.run("...", memory=memory), memory=memory, judge=passes)

    Without a judge a run that merely ended is `unknown` and teaches nothing; an exception, a time-out and the limit of
    iterations are failures; a cancelled run stays open.

    Args:
        handler: what `agent.run(...)` returned. Streaming stays: `stream_events` of what comes back.
        memory: the one the run was given, with a ReasoningBankMemoryBlock in it.
        judge: judges the result.
        failure_filter: tells which exceptions may be the lessons' fault.
    """
    return MemoryRun(handler, memory, RunOutcomes(judge, failure_filter))


class ReasoningBankSpanHandler(BaseSpanHandler[BaseSpan]):
    """Reports every agent run of the process, also where nobody thought of wrapping it.

        get_dispatcher().add_span_handler(ReasoningBankSpanHandler(judge=...))

    It closes what memory blocks opened inside a run, whatever their bank. Reports are written by a thread of its own,
    so that no event loop waits; `flush` waits for them.

    Args:
        judge: judges a run's result; without one a run that merely ended is unknown.
        failure_filter: tells which exceptions may be the lessons' fault.
    """

    _outcomes: RunOutcomes = PrivateAttr()
    _writer: ThreadPoolExecutor = PrivateAttr()
    _writing: set[Future[None]] = PrivateAttr(default_factory=set)
    _guard: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, judge: Judge | None = None, failure_filter: FailureFilter | None = None) -> None:
        super().__init__()
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
        """A span begins. That of an agent's run is a root, whatever it stands in."""
        self._outcomes.runs.begin(id_, None if RUN.match(id_) else parent_span_id or "")
        return BaseSpan(id_=id_, parent_id=parent_span_id, tags=tags or {})

    def prepare_to_exit_span(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> BaseSpan | None:
        """A span ended; when it is a run, its episodes are judged. A cancelled run ends without a result."""
        if result is None:
            self._outcomes.paused(id_)
        else:
            self._write(self._outcomes.finished, id_, result)
        return self.open_spans.get(id_)

    def prepare_to_drop_span(
        self, id_: str, bound_args: Any, instance: Any = None, err: BaseException | None = None, **kwargs: Any
    ) -> BaseSpan | None:
        """A span ended with an exception; when it is a run, its episodes failed."""
        self._write(self._outcomes.failed, id_, err or RuntimeError("the run was dropped"))
        return self.open_spans.get(id_)

    def _write(self, how: Any, id_: str, given: Any) -> None:
        if not RUN.match(id_):
            self._outcomes.paused(id_)
            return
        writing = self._writer.submit(how, id_, given)
        with self._guard:
            self._writing = {future for future in self._writing if not future.done()} | {writing}

    def flush(self) -> None:
        """Wait until every run that has ended is reported."""
        with self._guard:
            waiting = list(self._writing)
        for future in waiting:
            future.result()
