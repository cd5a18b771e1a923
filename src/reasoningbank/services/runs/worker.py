"""A worker: distils what is in the queue."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol, Self

from reasoningbank.distill.distiller import Distiller
from reasoningbank.distill.judge import RunJudge
from reasoningbank.errors import ReasoningBankError
from reasoningbank.runs.jobs import LEASE, Held, Job
from reasoningbank.screening import door
from reasoningbank.services.engine import Engine
from reasoningbank.services.runs import distilling

log = logging.getLogger("reasoningbank")


class Source(Protocol):
    """Where a worker's jobs come from."""

    def check(self) -> None:
        """Raise a ScopeError where one may not look for them; it would be the same at every look."""

    def begin(self) -> None:
        """Do what is to be done once, before the first job."""

    def taken(self) -> AbstractContextManager[tuple[Engine, Held] | None]:
        """Hold the job that is due first, in an engine that stays open meanwhile; None when there is none."""

    def wait(self, stop: threading.Event, poll: float) -> None:
        """Return when it is worth while to look again; after `poll` seconds where nothing tells."""

    def end(self) -> None:
        """Wait for nothing any more."""


class OneProject:
    """The queue of one project; `Source` says what its calls do."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def check(self) -> None:
        """Whoever has the project may look at its queue."""

    def begin(self) -> None:
        distilling.forget(self._engine)

    @contextmanager
    def taken(self) -> Iterator[tuple[Engine, Held] | None]:
        held = distilling.take(self._engine, str(uuid.uuid4()))
        yield None if held is None else (self._engine, held)

    def wait(self, stop: threading.Event, poll: float) -> None:
        stop.wait(poll)

    def end(self) -> None:
        """Nothing was opened."""


class Worker:
    """Distils what is in a queue, or in those of many projects, in a thread of its own while it is entered.

        with bank.queue.worker(distiller):
            ...

    At the end the job at hand is finished; what is still in the queue stays there. Several workers, also in several
    processes, share a queue, and none does a job that another holds.
    """

    def __init__(
        self,
        source: Source,
        distiller: Distiller,
        judge: RunJudge | None,
        *,
        poll: float,
        when_idle: Callable[[], bool] = bool,
    ) -> None:
        self._source, self._distiller, self._judge, self._poll = source, distiller, judge, poll
        # Does something else when no job is due, and says whether there was any.
        self._when_idle = when_idle
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._source.check()
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="reasoningbank-worker", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish the job at hand, and take no other."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def run_once(self) -> Job | None:
        """Do the one job that is due first, in this thread; return it as it is afterwards, None when none was due."""
        while True:
            with self._source.taken() as taken:
                if taken is None:
                    return None
                if (job := self._carry_out(*taken)) is not None:
                    return job

    def run_until_empty(self) -> Iterator[Job]:
        """Do the jobs that are due, one after the other, in this thread; yield each as it is afterwards."""
        while not self._stop.is_set() and (job := self.run_once()) is not None:
            yield job

    def _carry_out(self, engine: Engine, held: Held) -> Job | None:
        with kept_alive(partial(distilling.renew, engine, held), f"job {held.job.id}"):
            try:
                return distilling.carry_out(engine, held, self._distiller, self._judge)
            except ReasoningBankError as error:
                log.warning("job %s could not be done (attempt %d): %s", held.job.id, held.job.attempts, error)
                reason = str(error)
            except Exception as error:  # noqa: BLE001 - logged
                # A distiller or judge of the user's own: its fault costs an attempt, not the job and not the worker.
                _log(error, f"job {held.job.id} broke down (attempt {held.job.attempts})")
                reason = door.said_by(error, engine.rules)
        distilling.give_back(engine, held, reason)
        return distilling.job(engine, held.job.id)

    def _work(self) -> None:
        try:
            self._source.begin()
        except ReasoningBankError as error:
            log.warning("old jobs were not forgotten: %s", error)
        while not self._stop.is_set():
            try:
                busy = self.run_once() is not None or self._when_idle()
            except Exception as error:  # noqa: BLE001 - the outermost loop: what breaks here is logged, and the queue goes on
                _log(error, "the worker could not reach its queue")
                self._stop.wait(self._poll)
            else:
                if not busy:
                    self._source.wait(self._stop, self._poll)
        self._source.end()


@contextmanager
def kept_alive(renew: Callable[[], bool], what: str) -> Iterator[None]:
    """Renew a hold while something is done, however long it takes, until it is another's."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(LEASE.total_seconds() / 3):
            try:
                if not renew():
                    return
            except ReasoningBankError as error:
                log.warning("the hold on %s could not be renewed: %s", what, error)

    keeper = threading.Thread(target=go_on, name="reasoningbank-hold", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _log(error: Exception, what: str) -> None:
    """Log what broke down with its traceback, which may quote secrets."""
    log.error("%s\n%s", what, door.trace_of(error))
