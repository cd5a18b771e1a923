"""From how a framework's run ended to a verdict about its episodes: what every adapter does, once.

A run that merely ended has the verdict unknown; an exception is a failure; a pause, a cancellation or a caller that
went away leaves the episode open. Nothing here ever breaks the run that is reported on: a judge that raises, or that
returns what is no verdict, is one warning, and the verdict is unknown.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reasoningbank.adapters.request import last_turn
from reasoningbank.bank import ReasoningBank
from reasoningbank.errors import EpisodeNotFoundError, ReasoningBankError
from reasoningbank.judgement import Judgement, as_judgement
from reasoningbank.screening.door import said_by
from reasoningbank.verdict import Verdict

log = logging.getLogger("reasoningbank")

Judge = Callable[[Any], Any]
"""Judges what a run gave; it may be async, and returns anything that `as_judgement` reads; None is unknown."""

FailureFilter = Callable[[BaseException], bool]
"""Tells whether an exception may be the lessons' fault: False for, say, a connection that broke."""

# Endings that are nobody's failure. By name, since the frameworks that define most of them need not be installed.
NEUTRAL = frozenset(
    {"GraphBubbleUp", "GraphInterrupt", "GraphDrained", "ParentCommand", "WorkflowCancelledByUser", "CancelledError"}
)


def is_neutral(error: BaseException) -> bool:
    """Tell whether an error only means that a run was paused, cancelled or left."""
    if isinstance(error, (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)):
        return True
    return any(kind.__name__ in NEUTRAL for kind in type(error).__mro__)


# -- which episodes belong to which run, by the run ids that a framework's callbacks give ------------------------------
# Frameworks report runs as a tree of ids. The first run that is seen is the root, even inside somebody else's chain.
# What was recalled anywhere below it belongs to it, and ends with it.


@dataclass(slots=True)
class RootRun:
    """A run whose end closes episodes.

    Attributes:
        thread: the conversation or checkpoint thread, if any.
        opened: the episodes opened in it, in order, each once: a bank each and a reference, which two banks may share.
        resumed: it goes on with what an earlier run, perhaps of another process, began.
    """

    thread: str | None = None
    opened: list[Any] = field(default_factory=list)
    resumed: bool = False


class RunTree:
    """Keeps the runs that are under way; safe for threads. Nothing is left of a run that has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parents: dict[Hashable, Hashable | None] = {}
        self._roots: dict[Hashable, RootRun] = {}

    def begin(self, run: Hashable, parent: Hashable | None, *, thread: str | None = None) -> None:
        """A run begins; it is a root when its parent is not known here."""
        with self._lock:
            if parent is not None and self._root_of(parent) is not None:
                self._parents[run] = parent
            else:
                self._roots[run] = RootRun(thread=thread)

    def note(self, run: Hashable | None, episode: Any) -> bool:
        """An episode was opened in a run, or in one below it; False when no such run is known."""
        with self._lock:
            root = self._root_of(run)
            if root is not None and episode not in root.opened:
                root.opened.append(episode)
            return root is not None

    def resume(self, run: Hashable | None) -> None:
        """A run turns out to go on with an earlier one."""
        with self._lock:
            root = self._root_of(run)
            if root is not None:
                root.resumed = True

    def end(self, run: Hashable) -> RootRun | None:
        """A run ends: return it when it is a root, and None when it is not."""
        with self._lock:
            self._parents.pop(run, None)
            root = self._roots.pop(run, None)
            if root is not None:
                # Runs below it whose end nobody reported, such as cancelled ones, end with it.
                for below in [run for run in self._parents if self._root_of(run) is None]:
                    del self._parents[below]
            return root

    def __len__(self) -> int:
        """Return how many runs are under way, roots and others."""
        return len(self._roots) + len(self._parents)

    def _root_of(self, run: Hashable | None) -> RootRun | None:
        while run is not None and run not in self._roots:
            run = self._parents.get(run)
        return None if run is None else self._roots[run]


class RunOutcomes:
    """Closes the episodes of a framework's runs as the runs end.

    Args:
        judge: judges what a run gave; without one, a run that ended is unknown.
        failure_filter: tells which exceptions are failures; all of them without it.
        distill: reads a run from what it gave, to be distilled by a worker: a trajectory, or anything that
            `Trajectory.of` reads. Without it nothing is distilled.
        rest: seconds that a conversation must rest before its runs are distilled.
    """

    def __init__(
        self,
        judge: Judge | None = None,
        failure_filter: FailureFilter | None = None,
        distill: Callable[[Any], Any] | None = None,
        rest: float = 0.0,
    ) -> None:
        self._judge, self._failure_filter, self._distill, self._rest = judge, failure_filter, distill, rest
        self.runs = RunTree()

    def opened(self, run: Hashable | None, bank: ReasoningBank, ref: str) -> None:
        """An episode was opened in a run, or in one below it. An empty reference is passed over."""
        if ref:
            self.runs.note(run, (bank, ref))

    def finished(self, run: Hashable, given: Any) -> None:
        """A run ended with `given`; when it is a root, its episodes are judged by that, all at once."""
        if ended := self._ended(run):
            judgement = self.judged(given)
            for bank, ref in ended:
                self.record(bank, ref, given, judgement)

    def paused(self, run: Hashable) -> None:
        """A run ended without being over, or its episodes are closed elsewhere: they stay as they are."""
        self._ended(run)

    def failed(self, run: Hashable, error: BaseException, *, resumable: ReasoningBank | None = None) -> None:
        """A run ended with an exception; when it is a root, its episodes failed, unless it is nobody's failure.

        When the run goes on with what an earlier process began, the open episode of its thread is looked for in the
        bank `resumable`. An abandoned run of the thread is never failed by a new one.
        """
        root = self.runs.end(run)
        if root is None:
            return
        episodes: list[tuple[ReasoningBank, str]] = root.opened
        if not episodes and root.resumed and root.thread and resumable is not None:
            episodes = _open_one(resumable, root.thread)
        for bank, ref in episodes:
            self.fail(bank, ref, error)

    def close(
        self,
        bank: ReasoningBank,
        ref: str,
        given: Any,
        *,
        reason: str = "",
        is_again: bool = False,
    ) -> Verdict:
        """Judge what a run gave, close its episode, and return the verdict.

        Args:
            reason: what is known of the ending, for a judge that gives no reason.
            is_again: the run was tried before, and failed: that attempt does not count.
        """
        return self.record(bank, ref, given, self.judged(given), reason, is_again=is_again)

    async def aclose(
        self, bank: ReasoningBank, ref: str, given: Any, *, reason: str = "", is_again: bool = False
    ) -> Verdict:
        """Do what `close` does without holding up the loop; an async judge is awaited in it."""
        record = partial(self.record, bank, ref, given, await self.ajudged(given), reason, is_again=is_again)
        return await asyncio.to_thread(record)

    def record(
        self,
        bank: ReasoningBank,
        ref: str,
        given: Any,
        judgement: Judgement,
        reason: str = "",
        *,
        is_again: bool = False,
    ) -> Verdict:
        """Close the episode of a run that was judged, and return the verdict; see `close`."""
        verdict = judgement.verdict
        if ref:
            by = judgement.by or ("judge" if self._judge is not None else "")
            report(bank, verdict, ref, reason=judgement.reason or reason, by=by, is_again=is_again)
        if self._distill is not None:
            self._enqueue(bank, ref, verdict, partial(self._distill, given))
        return verdict

    def _enqueue(self, bank: ReasoningBank, ref: str, verdict: Verdict, run: Callable[[], Any]) -> None:
        try:
            # Without a verdict the worker's judge decides; the reference makes a repeated end the same job.
            known = None if verdict is Verdict.UNKNOWN else verdict
            bank.queue.put(run(), known, key=ref or None, ref=ref or None, rest=self._rest)
        except ReasoningBankError as error:
            log.warning("the run of %s was not enqueued for distilling: %s", ref, error)

    def fail(self, bank: ReasoningBank, ref: str, error: BaseException, *, so_far: Any = None) -> Verdict | None:
        """Close a run's episode as a failure, unless the error is nobody's failure; return the verdict, if any.

        Args:
            so_far: the messages of the run until then, to be distilled; None where nothing is known of them.
        """
        if is_neutral(error) or (self._failure_filter is not None and not self._failure_filter(error)):
            return None
        if ref:
            report(bank, Verdict.FAILURE, ref, reason=said_by(error))
        if self._distill is not None and so_far is not None:
            self._enqueue(bank, ref, Verdict.FAILURE, partial(broken_run, so_far, error))
        return Verdict.FAILURE

    def leave(self, bank: ReasoningBank, ref: str) -> Verdict:
        """Close the episode of a run that nobody waits for any more, and that cannot be gone on with."""
        if ref:
            report(bank, Verdict.UNKNOWN, ref, reason="left before its end")
        return Verdict.UNKNOWN

    def judged(self, given: Any, loop: asyncio.AbstractEventLoop | None = None) -> Judgement:
        """Return what the judge says; unknown without one, and when it fails, which is logged.

        Args:
            loop: a running loop of another thread, in which an async judge is awaited; one of its own when None.
        """
        from reasoningbank.distill.judge import settled

        try:
            said = self._asked(given)
            if loop is not None and loop.is_running() and inspect.isawaitable(said):
                return as_judgement(asyncio.run_coroutine_threadsafe(_wait(said), loop).result())
            return as_judgement(settled(said))
        except Exception as error:  # noqa: BLE001 - a judge is the user's code; its fault must not end the run
            return _no_judgement(error)

    async def ajudged(self, given: Any) -> Judgement:
        """Do what `judged` does without holding up the loop; an async judge is awaited in it."""
        if self._judge is None:
            return Judgement(Verdict.UNKNOWN)
        try:
            said = await asyncio.to_thread(self._asked, given)
            return as_judgement(await said if inspect.isawaitable(said) else said)
        except Exception as error:  # noqa: BLE001 - as in `judged`
            return _no_judgement(error)

    def _asked(self, given: Any) -> Any:
        return None if self._judge is None else self._judge(given)

    def _ended(self, run: Hashable) -> list[tuple[ReasoningBank, str]]:
        root = self.runs.end(run)
        return [] if root is None else root.opened


def broken_run(messages: Any, error: BaseException) -> Any:
    """Return the turn that an exception ended as a run: what was asked, what was done, and the error."""
    from reasoningbank.runs.trajectory import Step, Trajectory

    run = Trajectory.of(last_turn(messages))
    return run.model_copy(update={"steps": (*run.steps, Step(error=said_by(error)))})


async def _wait(said: Awaitable[Any]) -> Any:
    return await said


def _no_judgement(error: Exception) -> Judgement:
    log.warning("the judge gave no verdict, so it is unknown: %s: %s", type(error).__name__, error)
    return Judgement(Verdict.UNKNOWN)


def report(
    bank: ReasoningBank, verdict: Verdict, ref: str, *, reason: str = "", by: str = "", is_again: bool = False
) -> None:
    """Report a verdict; what cannot be recorded is logged, since no run may fail for it.

    Unknown closes an episode that is open, and never takes back a verdict that somebody gave meanwhile: only that of an
    attempt which was tried again.
    """
    try:
        bank.report(verdict, ref=ref, reason=reason, by=by, revise=is_again or verdict is not Verdict.UNKNOWN)
    except ReasoningBankError as error:
        log.warning("the outcome of %s was not recorded: %s", ref, error)


def _open_one(bank: ReasoningBank, thread: str) -> list[tuple[ReasoningBank, str]]:
    try:
        episode = bank.runs.get(thread=thread)
    except EpisodeNotFoundError:
        return []
    return [(bank, episode.ref)] if episode.is_open else []
