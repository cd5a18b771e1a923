"""Recall for those who cannot wait: within a time budget, and without ever breaking the agent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as WaitedTooLong

from reasoningbank.errors import DeadlineExceededError, InvalidInputError, ReasoningBankError, ScopeError
from reasoningbank.results import Recall

log = logging.getLogger("reasoningbank")

# Enough for the runs of one process; a recall beyond that waits for a free thread, inside its own time budget.
THREADS = 8


class Deadlines:
    """Runs recalls in threads of its own, and waits for each no longer than it may take.

    One a bank. What went wrong is logged once at WARNING for each kind of reason, then at DEBUG.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reasoningbank-recall")
        self._warned: set[str] = set()

    def recall(self, task: str, run: Callable[..., Recall], *, timeout: float | None, fail_open: bool) -> Recall:
        """Return what `run` recalls, or an empty recall that says why there is none.

        Args:
            run: does the recall; it opens no episode once the event `given_up` is set.
            timeout: seconds to wait; as long as it takes when None.
            fail_open: give an empty recall instead of raising, whatever the disk, the embedder or the clock did. Errors
                of scope and of the caller are raised in either case.
        """
        given_up = threading.Event()
        future: Future[Recall] = self._threads.submit(run, given_up=given_up)
        try:
            try:
                return future.result(timeout)
            except WaitedTooLong:
                given_up.set()
                future.cancel()
                late = f"the recall took longer than {timeout} s; no episode was opened"
                raise DeadlineExceededError(late) from None
        except ReasoningBankError as error:
            of_the_caller = isinstance(error, (ScopeError, InvalidInputError))
            if not fail_open or (of_the_caller and not isinstance(error, DeadlineExceededError)):
                raise
            kind = type(error).__name__
            level = logging.DEBUG if kind in self._warned else logging.WARNING
            self._warned.add(kind)
            log.log(level, "no lessons were recalled: %s", error)
            return Recall(ref="", task=task, degraded=(str(error),))

    def close(self) -> None:
        """Take no more work; what runs is left to end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
