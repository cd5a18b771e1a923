"""Which run code is in, as the framework knows it and never by what was said, and what was recalled in it."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.span import active_span_id
from pydantic import AfterValidator
from workflows import Workflow

from reasoningbank import ReasoningBank
from reasoningbank.adapters import check_holdout


def _checked(given: float | str | None) -> float | str | None:
    check_holdout(given)
    return given


HoldoutOption = Annotated[float | str | None, AfterValidator(_checked)]
"""What `bank.recall` takes as `holdout`."""

# The framework tags everything that happens in a workflow's run, an agent's too, with the id that its handler has.
RUN_TAG = "llamaindex.run_id"
# The span of a call of a chat engine: `SimpleChatEngine.stream_chat-<uuid>`.
CHAT = re.compile(r"\w+\.a?(?:stream_)?chat-")
RUN = re.compile(r"\w+\.run-")
# Runs that nobody reported on are remembered up to so many.
KEPT = 1_024


def is_run(span: str, instance: Any) -> bool:
    """Tell whether a span is a whole run of a workflow or of an agent."""
    return RUN.match(span) is not None and isinstance(instance, Workflow)


def is_chat(span: str, instance: Any) -> bool:
    """Tell whether a span is one call of a chat engine."""
    from llama_index.core.chat_engine.types import BaseChatEngine

    return CHAT.match(span) is not None and isinstance(instance, BaseChatEngine)


@dataclass(frozen=True, slots=True)
class Here:
    """Where code runs.

    Attributes:
        run: the id of the workflow's run, or the span of the call of a chat engine; "" outside both.
        span: the span that is open.
        in_workflow: it is a workflow's run.
        tags: what the program tagged the run with (`instrument_tags`).
    """

    run: str
    span: str | None
    in_workflow: bool
    tags: Mapping[str, Any]


class Chats:
    """The calls of chat engines that are under way, by the spans below them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._call_of: dict[str, str] = {}

    def begin(self, span: str, parent: str | None, *, is_call: bool) -> None:
        """A span begins; a call within another's is part of that."""
        with self._lock:
            call = self._call_of.get(parent or "") or (span if is_call else None)
            if call is not None:
                self._call_of[span] = call

    def end(self, span: str) -> None:
        """A span ended."""
        with self._lock:
            self._call_of.pop(span, None)

    def call(self, span: str | None) -> str:
        """Return the call that a span belongs to; "" when it is in none."""
        return self._call_of.get(span or "", "")


chats = Chats()


def here() -> Here:
    """Return where this code runs."""
    tags, span = active_instrument_tags.get(), active_span_id.get()
    run = str(tags.get(RUN_TAG) or "")
    return Here(run or chats.call(span), span, bool(run), tags)


class Recalled:
    """The episodes of runs that are under way, for whoever else works in them. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, list[tuple[ReasoningBank, str]]] = OrderedDict()

    def note(self, run: str, bank: ReasoningBank, ref: str) -> None:
        """An episode was opened in a run."""
        if run and ref:
            with self._lock:
                self._runs.setdefault(run, []).append((bank, ref))
                while len(self._runs) > KEPT:
                    self._runs.popitem(last=False)

    def ref(self, run: str, bank: ReasoningBank) -> str:
        """Return the episode that a run has in a bank; "" when it has none."""
        scope = (bank.root, bank.tenant, bank.project)
        with self._lock:
            found = [ref for of, ref in self._runs.get(run, ()) if (of.root, of.tenant, of.project) == scope]
        return found[0] if found else ""

    def forget(self, run: str) -> None:
        """A run is over."""
        with self._lock:
            self._runs.pop(run, None)


recalled = Recalled()
