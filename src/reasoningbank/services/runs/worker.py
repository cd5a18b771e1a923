"""A worker: distils what is in the queue."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from reasoningbank.distill.distiller import Distiller
from reasoningbank.distill.judge import RunJudge
from reasoningbank.errors import ReasoningBankError
from reasoningbank.runs.jobs import LEASE, Held, Job
from reasoningbank.screening import door
from reasoningbank.services.engine import Engine
from reasoningbank.services.runs import distilling

log = logging.getLogger("reasoningbank")


class Worker:
    """Distils what is in the queue, in a thread of its own while it is entered.

        with bank.worker(distiller):
            ...

    At the end the job at hand is finished; what is still in the queue stays there. Several workers, also in several
    processes, share a queue, and none does a job that another holds.
    """

    def __init__(self, engine: Engine, distiller: Distiller, judge: RunJudge | None, *, poll: float) -> None:
        self._engine, self._distiller, self._judge, self._poll = engine, distiller, judge, poll
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
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
        while (held := distilling.take(self._engine, str(uuid.uuid4()))) is not None:
            if (job := self._carry_out(held)) is not None:
                return job
        return None

    def run_until_empty(self) -> Iterator[Job]:
        """Do the jobs that are due, one after the other, in this thread; yield each as it is afterwards."""
        while not self._stop.is_set() and (job := self.run_once()) is not None:
            yield job

    def _carry_out(self, held: Held) -> Job | None:
        with self._kept_alive(held):
            try:
                return distilling.carry_out(self._engine, held, self._distiller, self._judge)
            except ReasoningBankError as error:
                log.warning("job %s could not be done (attempt %d): %s", held.job.id, held.job.attempts, error)
                reason = str(error)
            except Exception as error:  # noqa: BLE001 - logged
                # A distiller or judge of the user's own: its fault costs an attempt, not the job and not the worker.
                _log(error, f"job {held.job.id} broke down (attempt {held.job.attempts})")
                reason = door.said_by(error, self._engine.rules)
        distilling.give_back(self._engine, held, reason)
        return distilling.job(self._engine, held.job.id)

    @contextmanager
    def _kept_alive(self, held: Held) -> Iterator[None]:
        """Renew the hold on a job while it is being done, however long a model takes."""
        over = threading.Event()

        def go_on() -> None:
            while not over.wait(LEASE.total_seconds() / 3):
                try:
                    if not distilling.renew(self._engine, held):
                        return
                except ReasoningBankError as error:
                    log.warning("the hold on job %s could not be renewed: %s", held.job.id, error)

        keeper = threading.Thread(target=go_on, name="reasoningbank-hold", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            over.set()
            keeper.join()

    def _work(self) -> None:
        try:
            distilling.forget(self._engine)
        except ReasoningBankError as error:
            log.warning("old jobs were not forgotten: %s", error)
        while not self._stop.is_set():
            try:
                job = self.run_once()
            except Exception as error:  # noqa: BLE001 - the outermost loop: what breaks here is logged, and the queue goes on
                _log(error, "the worker could not reach its queue")
                job = None
            if job is None:
                self._stop.wait(self._poll)


def _log(error: Exception, what: str) -> None:
    """Log what broke down with its traceback, which may quote secrets."""
    log.error("%s\n%s", what, door.trace_of(error))
