"""Run-level callbacks as LangChain and LangGraph send them: which episode belongs to which run, and how that ended.

One listener for both, since their events are the same; it imports neither. What was recalled in a run belongs to it. It
ends with it, and is credited as far as a model was really shown it: what never stood in a model's input is taken back.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from reasoningbank.adapters.outcomes import RunOutcomes, is_neutral
from reasoningbank.adapters.shown import letters_in
from reasoningbank.adapters.threads import thread_of
from reasoningbank.adapters.watched import Handed, WatchedRun, is_left, key_of, unfinished
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import ReasoningBankError
from reasoningbank.judgement import Judgement
from reasoningbank.results import Recall

log = logging.getLogger("reasoningbank")

# Runs that paused, and parents of runs that may be tried again, are remembered up to so many.
REMEMBERED = 1_024


class RunWatch:
    """Watches runs, and reports how they ended; safe for threads. Nothing is left of a run that has ended.

    Mix it into a framework's callback handler.

    Args:
        outcomes: the judge, and what counts as a failure.
        resumable: gives the bank in which the episode of a run is looked for that an earlier process began, from the
            run's metadata.
    """

    def __init__(
        self, outcomes: RunOutcomes, resumable: Callable[[Mapping[str, Any]], ReasoningBank | None] | None = None
    ) -> None:
        self.outcomes = outcomes
        self._resumable = resumable
        self._lock = threading.Lock()
        self._runs: dict[Hashable, WatchedRun] = {}
        self._parked: OrderedDict[Hashable, Handed] = OrderedDict()
        self._first: OrderedDict[Hashable, str] = OrderedDict()

    def __len__(self) -> int:
        """Return how many runs are under way, those below others included."""
        return len(self._runs)

    # -- where something belongs ---------------------------------------------------------------------------------------

    def run(self, run_id: Hashable | None) -> WatchedRun | None:
        """Return a run that is under way."""
        return self._runs.get(run_id)

    def graph_run(self, config: Mapping[str, Any]) -> WatchedRun | None:
        """Return the graph's run that a node's config belongs to; None when this is not bound to the graph."""
        manager = config.get("callbacks")
        if not any(handler is self for handler in getattr(manager, "handlers", ())):
            return None
        inner = self.run(getattr(manager, "parent_run_id", None))
        return None if inner is None else next((r for r in inner.up() if r.path != inner.path), inner.root)

    def opened(
        self, run: WatchedRun, bank: ReasoningBank, recall: Recall, *, under: Hashable = None, must_read: bool = False
    ) -> None:
        """An episode was opened in a run.

        Args:
            under: the retriever's run that recalled, if any.
            must_read: no model can be shown the lessons before `read` says so.
        """
        if not recall.ref:
            return
        key = key_of(bank, recall.ref)
        with self._lock:
            known = run.handed.get(key) or self._parked.pop(key, None)
            if known is None:
                known = Handed(bank, recall.ref, must_read=must_read)
                known.messages = [{"role": "user", "content": recall.task}]
                # What an earlier process showed of it, nobody knows here.
                known.unwatched = recall.repeated and recall.ref not in run.asked
            known.must_read = known.must_read and must_read
            known.add(recall, self.run(under) or run)
            run.handed[key] = known
            run.asked.add(recall.ref)

    def unbound(self, bank: ReasoningBank, recall: Recall) -> Handed | None:
        """Return what was recalled in a run that is not watched, to say what a model was shown of it."""
        if not recall.ref:
            return None
        with self._lock:
            key = key_of(bank, recall.ref)
            handed = self._parked.get(key)
            if handed is None:
                handed = Handed(bank, recall.ref)
                handed.unwatched = recall.repeated  # what an earlier process showed of it, nobody knows here
                _remember(self._parked, key, handed)
            handed.add(recall, WatchedRun("", recall.ref, None, "", {}))
            return handed

    def parked(self, bank: ReasoningBank, ref: str) -> Handed | None:
        """Return what was recalled in a run that is not watched, or that paused."""
        return self._parked.get(key_of(bank, ref))

    def read(self, config: Mapping[str, Any], bank: ReasoningBank, ref: str) -> None:
        """Code of a node took the text of the lessons."""
        inner = self.run(getattr(config.get("callbacks"), "parent_run_id", None))
        for run in inner.up() if inner is not None else ():
            if inner is not None and (handed := run.handed.get(key_of(bank, ref))) is not None:
                handed.readers.append([above for above in inner.up() if above.path == inner.path][-1])

    def ending(
        self, run: WatchedRun, bank: ReasoningBank, ref: str, state: Any, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """A node near the end of a run saw its state: by that the run is judged when it has ended."""
        with self._lock:
            key = key_of(bank, ref)
            handed = run.handed.get(key) or self._parked.pop(key, None) or Handed(bank, ref, unwatched=True)
            run.handed[key] = handed
            handed.state, handed.loop = state, loop

    # -- beginnings ----------------------------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Hashable,
        parent_run_id: Hashable | None = None,
        tags: list[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A run begins; it is a root when what it stands in is not watched."""
        self._begin(run_id, parent_run_id, tags or (), metadata or {}, is_chain=True)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: Hashable, parent_run_id: Hashable | None = None, **kwargs: Any
    ) -> None:
        """A tool is called."""
        self._begin(run_id, parent_run_id, (), kwargs.get("metadata") or {}, is_chain=False)

    def on_retriever_start(
        self, serialized: Any, query: str, *, run_id: Hashable, parent_run_id: Hashable | None = None, **kwargs: Any
    ) -> None:
        """A retriever is asked."""
        self._begin(run_id, parent_run_id, (), kwargs.get("metadata") or {}, is_chain=False)
        if (run := self.run(run_id)) is not None:
            run.is_retriever = True

    def _begin(
        self, run_id: Hashable, parent_id: Hashable | None, tags: Any, metadata: Mapping[str, Any], *, is_chain: bool
    ) -> None:
        with self._lock:
            parent = self._runs.get(parent_id)
            if parent is None and not is_chain:
                return
            path = str(metadata.get("langgraph_checkpoint_ns") or "")
            run = WatchedRun(run_id, str(run_id), parent, path, metadata)
            if parent is not None:
                parent.root.below.add(run_id)
            elif parent_id is not None:
                # A run that is tried again is one run: its attempts share their reference.
                again = any(tag.startswith("retry:attempt:") for tag in tags)
                run.is_again = again
                run.name = self._first.get(parent_id, run.name) if again else run.name
                _remember(self._first, parent_id, run.name)
            self._runs[run_id] = run

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, parent_run_id: Hashable | None = None, **kwargs: Any
    ) -> None:
        """A chat model is given messages."""
        self._shown(parent_run_id, messages)

    def on_llm_start(
        self, serialized: Any, prompts: Any, *, parent_run_id: Hashable | None = None, **kwargs: Any
    ) -> None:
        """A model is given a text."""
        self._shown(parent_run_id, prompts)

    def _shown(self, run_id: Hashable | None, given: Any) -> None:
        run = self.run(run_id)
        if run is None:
            return
        within = list(run.up())
        if any(above.is_retriever for above in within):
            return  # a retriever's own model chooses among documents; the run's model has not seen them yet
        for above in within:
            above.models += 1
        waiting = [handed for above in within for handed in above.handed.values()]
        if waiting:
            text = letters_in(given)
            with self._lock:
                for handed in waiting:
                    handed.look(text)
                    handed.messages = given[0] if isinstance(given[0], list) else handed.messages

    # -- ends ----------------------------------------------------------------------------------------------------------

    def on_tool_end(self, output: Any, *, run_id: Hashable, **kwargs: Any) -> None:
        """A tool has answered."""
        self._end(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: Hashable, **kwargs: Any) -> None:
        """A tool failed."""
        self._end(run_id)

    def on_retriever_end(self, documents: Any, *, run_id: Hashable, **kwargs: Any) -> None:
        """A retriever gave documents: of what was recalled below it, those are left."""
        run = self._end(run_id)
        if run is not None:
            given = {document.metadata.get("memory_id") for document in documents}
            for handed in run.root.handed.values():
                handed.retrieved(run, given)

    def on_retriever_error(self, error: BaseException, *, run_id: Hashable, **kwargs: Any) -> None:
        """A retriever failed."""
        self._end(run_id)

    def on_chain_end(self, outputs: Any, *, run_id: Hashable, **kwargs: Any) -> None:
        """A run ended, or paused, or was left: what was recalled in it is judged by what it gave, or stays open."""
        run = self._end(run_id)
        if run is None:
            return
        if run.paused or is_left() or (isinstance(outputs, Mapping) and "__interrupt__" in outputs):
            self._park(run)
            return
        said: dict[int, Judgement] = {}
        for bank, ref in self._episodes(run):
            handed = run.handed.get(key_of(bank, ref))
            given, loop = (outputs, None) if handed is None else (handed.result(outputs), handed.loop)
            if self._settling(bank, ref, run, False):
                # What several banks' lessons were in is judged once.
                judgement = said.get(id(given)) or self.outcomes.judged(given, loop)
                self.outcomes.record(bank, ref, given, said.setdefault(id(given), judgement), is_again=run.is_again)

    def on_chain_error(self, error: BaseException, *, run_id: Hashable, **kwargs: Any) -> None:
        """A run failed, unless it is nobody's failure."""
        run = self._end(run_id)
        if run is None:
            return
        if is_neutral(error):
            self._park(run)
            return
        for bank, ref in self._episodes(run):
            handed = run.handed.get(key_of(bank, ref))
            self._take_back(run, handed)
            self.outcomes.fail(bank, ref, error, so_far=None if handed is None else handed.messages)

    def on_interrupt(self, event: Any) -> None:
        """A graph's run pauses."""
        if (run := self.run(event.run_id)) is not None:
            run.paused = True

    def on_resume(self, event: Any) -> None:
        """A graph's run goes on with what an earlier one, perhaps of another process, began."""
        if (run := self.run(event.run_id)) is not None:
            run.resumed = True

    def _end(self, run_id: Hashable) -> WatchedRun | None:
        with self._lock:
            run = self._runs.pop(run_id, None)
            if run is not None and run.parent is None:
                # Runs below it whose end nobody reported, such as cancelled ones, end with it.
                for below in run.below:
                    self._runs.pop(below, None)
            return run

    def _park(self, run: WatchedRun) -> None:
        with self._lock:
            for handed in run.handed.values():
                _remember(self._parked, key_of(handed.bank, handed.ref), handed)

    def _episodes(self, run: WatchedRun) -> list[tuple[ReasoningBank, str]]:
        """Return what is to be closed at the end of a run."""
        own = [(handed.bank, handed.ref) for handed in run.handed.values() if not handed.settled]
        if own or run.settled or not run.resumed or self._resumable is None:
            return own
        thread, bank = thread_of(run.metadata.get("thread_id"), run.path), self._resumable(run.metadata)
        return [] if thread is None or bank is None else unfinished(bank, thread)

    def settle(
        self,
        bank: ReasoningBank,
        ref: str,
        given: Any,
        *,
        run: WatchedRun | None = None,
        by_hand: bool = False,
    ) -> None:
        """Judge what a run gave, and close its episode: credited is what was shown.

        Args:
            by_hand: the program says so; the run's own end is then not judged any more.
        """
        if self._settling(bank, ref, run, by_hand):
            self.outcomes.close(bank, ref, given, is_again=run is not None and run.is_again)

    async def asettle(self, bank: ReasoningBank, ref: str, given: Any, *, run: WatchedRun | None = None) -> None:
        """Do what `settle` does without holding up the loop."""
        if await asyncio.to_thread(self._settling, bank, ref, run, False):
            await self.outcomes.aclose(bank, ref, given, is_again=run is not None and run.is_again)

    def _settling(self, bank: ReasoningBank, ref: str, run: WatchedRun | None, by_hand: bool) -> bool:
        """Take back what was not shown; False when the program has closed the run's episode by hand."""
        if run is not None:
            if ref in run.by_hand and not by_hand:
                return False
            run.settled = True
            run.by_hand |= {ref} if by_hand else set()
        key = key_of(bank, ref)
        handed = (run.handed.get(key) if run is not None else None) or self._parked.pop(key, None)
        self._take_back(run, handed)
        return True

    def _take_back(self, run: WatchedRun | None, handed: Handed | None) -> None:
        if handed is None or handed.settled:
            return
        handed.settled = True
        out = handed.unshown()
        for other in run.handed.values() if run is not None else ():
            if other is not handed and other.settled and other.bank is handed.bank:
                # A run counts once for a lesson, however often it was found.
                out |= set(handed.marks) & (set(other.marks) - other.unshown())
        if out:
            _take_back(handed.bank, handed.ref, out)


def _take_back(bank: ReasoningBank, ref: str, memory_ids: set[str]) -> None:
    try:
        bank.runs.take_back(ref, sorted(memory_ids))
    except ReasoningBankError as error:
        log.warning("what no model was shown of %s was not taken back: %s", ref, error)


def _remember(known: OrderedDict[Any, Any], key: Hashable, value: Any) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > REMEMBERED:
        known.popitem(last=False)
