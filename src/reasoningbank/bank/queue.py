"""bank.queue: runs that wait to be distilled, and the workers that do it."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace, as_distiller, as_run_judge

if TYPE_CHECKING:
    from reasoningbank.bank.handle import AnyJudge
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.runs.jobs import DistillStatus, Job
    from reasoningbank.services.runs import distilling, trajectories
    from reasoningbank.services.runs.worker import Worker
    from reasoningbank.verdict import Verdict
else:
    distilling, trajectories = Later.each("reasoningbank.services.runs", "distilling", "trajectories")

LONGEST_REST = 365 * 86_400.0


class Queue(Namespace):
    """Jobs of this project's database, which outlive a process.

    An id that is not in this project raises JobNotFoundError, or MemoryNotFoundError where it is a memory's.
    """

    def put(
        self,
        run: Any,
        verdict: Verdict | str | bool | None = None,
        *,
        key: str | None = None,
        ref: str | None = None,
        rest: float = 0.0,
    ) -> Job:
        """Put a finished run into the queue, to be distilled by a worker. Nothing waits for a model.

        The job comes back; the one that is there already when it was put there before.

        Args:
            run, verdict: as in the bank's `distill`.
            key: what makes a repeated call the same job; the run itself and its verdict when None.
            ref: as in the bank's `distill`.
            rest: seconds, up to a year, that the thread of `ref` must rest before a worker takes the run up. Each run
                that is put with it puts off those of the thread that wait with their `ref` as the key, and replaces one
                of its own key.
        """
        ref, rest = arguments.reference(ref), arguments.number("rest", rest, 0, LONGEST_REST)
        cleaned = trajectories.of_episode(self._engine, distilling.read_run(self._engine, run, verdict), ref)
        return distilling.enqueue(self._engine, cleaned, key, ref=ref, rest=rest)

    def put_anti_pattern(self, memory_id: str, reason: str) -> Job:
        """Put into the queue that a memory did not help, and why: a worker makes a guard-rail of it.

        Raises:
            InvalidInputError: no reason is given.
        """
        return distilling.enqueue_anti_pattern(self._engine, arguments.memory_id(memory_id), reason)

    def get(self, job_id: str) -> Job:
        """Return a job: where it is, and what came of it."""
        return distilling.job(self._engine, arguments.identifier("job id", job_id))

    def list(self, *, status: DistillStatus | str | None = None, limit: int = 100) -> builtins.list[Job]:
        """Return jobs, the newest first.

        Args:
            status: queued, running, done, empty, refused, truncated, unparseable or failed; all of them when None.
            limit: 1 to 1,000.
        """
        from reasoningbank.runs.jobs import DistillStatus

        wanted = tuple(DistillStatus) if status is None else (arguments.label(DistillStatus, "status", status),)
        return distilling.jobs(self._engine, wanted, arguments.page_limit(limit))

    def retry(self, job_id: str) -> Job:
        """Put a job that ended without lessons back into the queue, with all its attempts; one that waits stays so.

        Raises:
            InvalidInputError: the job is done.
        """
        return distilling.retry(self._engine, arguments.identifier("job id", job_id))

    def worker(self, distiller: Distiller | None = None, judge: AnyJudge | None = None, *, poll: float = 1.0) -> Worker:
        """Return a worker for this project's queue; it works in its own thread while it is entered.

            with bank.queue.worker(LLMDistiller(chat), judge=LLMJudge(chat)):
                ...

        Args:
            distiller, judge: as in the bank's `distill`.
            poll: seconds between two looks at an empty queue.
        """
        from reasoningbank.services.runs.worker import OneProject, Worker

        return Worker(OneProject(self._engine), as_distiller(distiller), as_run_judge(judge), poll=poll)
