"""The distilling part of the API: from runs to lessons, at once or through the queue, from one run or from several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from reasoningbank.bank.filtering import as_label
from reasoningbank.bank.learning import Learning
from reasoningbank.bank.options import RecallOptions

if TYPE_CHECKING:
    from reasoningbank.distill.contrast import Mode, Run, Scaled, Selector
    from reasoningbank.distill.distillation import Distilled
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.distill.judge import Judgement, RunJudge
    from reasoningbank.runs.jobs import Job, JobStatus
    from reasoningbank.runs.trajectory import RunVerdict, Trajectory
    from reasoningbank.services.runs.worker import Worker

    AnyJudge = RunJudge | Callable[[Trajectory], Judgement | str | bool | None]


class Distilling(Learning):
    """Distil, contrast, scale, and the queue."""

    def distill(
        self,
        run: Any,
        verdict: RunVerdict | str | bool | None = None,
        *,
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        earlier: Sequence[Any] = (),
        ref: str | None = None,
    ) -> Distilled:
        """Draw lessons from a finished run and store them, now.

        What a lesson must not come from is taken out of the run before: recalled lessons, system prompts, secrets. A
        lesson that is in the bank already, in nearly the same words and with the same outcome, is not stored again.

        Args:
            run: a Trajectory, or anything that `Trajectory.of` reads: a dictionary, a list of steps or of messages.
            verdict: how it ended; what the run says itself when None. Unknown, and without a judge, it teaches nothing.
            distiller: the template distiller, which needs no model, when None.
            judge: asked when there is no verdict: an LLMJudge, or any callable from a run to a verdict.
            earlier: other runs of the same task, to compare with.
            ref: the episode that it is the run of: its lessons say so (`runs_of`), and its steps are kept with the
                episode if the settings say so and none are yet.

        Raises:
            EpisodeNotFoundError: a ref that is not of this project.
            InvalidInputError: it cannot be read as a run.
            JudgeUnavailableError: there is no verdict, and the judge gave none.
        """
        from reasoningbank.services.runs import distilling

        others = [distilling.read_run(other).run for other in earlier]
        cleaned = distilling.read_run_of(self._engine, run, verdict, ref)
        return distilling.distill(self._engine, cleaned, _distiller(distiller), _judge(judge), others)

    def contrast(
        self, runs: Sequence[Any], *, distiller: Distiller | None = None, judge: AnyJudge | None = None
    ) -> Distilled:
        """Draw lessons from several runs of one task, by comparing those that succeeded with those that failed.

        Args:
            runs: each as in `distill`, with its verdict.
            distiller, judge: as in `distill`.

        Raises:
            InvalidInputError: there is none, or one cannot be read as a run.
            JudgeUnavailableError: one has no verdict, and the judge gave none.
        """
        from reasoningbank.services.runs import distilling

        cleaned = [distilling.read_run(run) for run in runs]
        return distilling.contrast(self._engine, cleaned, _distiller(distiller), _judge(judge))

    def scale(
        self,
        run: Run,
        task: str,
        n: int = 3,
        *,
        mode: Mode = "parallel",
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        selector: Selector | None = None,
        k: int = 3,
        **options: Unpack[RecallOptions],
    ) -> Scaled:
        """Try a task several times with the bank's lessons, choose the best try, and learn from all of them together.

        It is one episode: the lessons are recalled once and given to every try, and the verdict of the chosen try is
        reported for them. A try that raises costs the others nothing.

        Args:
            run: makes one try: called with an Attempt (task, lessons, the try before), it returns a run as `distill`
                takes it. In parallel mode it is called from several threads at once.
            n: how many tries, 1 to 32.
            mode: "parallel", or "sequential": each re-examines the one before, until one succeeds.
            judge: judges the tries that bring no verdict of their own.
            selector: chooses the best of the tries, apart from the judge; by verdict, then by fewer errors and steps,
                when None. LLMSelector asks a model.
            distiller: as in `distill`.
            k, options: those of `recall`.

        Raises:
            InvalidInputError: an argument that is not allowed.
        """
        from reasoningbank.distill.contrast import Scaled, by_verdict, roll_out
        from reasoningbank.services.runs import distilling

        recall = self.recall(task, k, **options)
        rollouts = roll_out(run, task, n, lessons=recall.text, judge=_judge(judge), mode=mode)
        made = [rollout for rollout in rollouts if rollout.run is not None]
        best = made[(selector or by_verdict)(made)] if made else None
        self.report(_episode_verdict(best.verdict if best else None), ref=recall.ref, by="scale")
        cleaned = [distilling.read_run(rollout.run) for rollout in rollouts]
        distilled = distilling.contrast(self._engine, cleaned, _distiller(distiller), None)
        return Scaled(recall, rollouts, best, distilled)

    # -- the queue ---------------------------------------------------------------------------------------------------

    def enqueue(
        self,
        run: Any,
        verdict: RunVerdict | str | bool | None = None,
        *,
        key: str | None = None,
        ref: str | None = None,
    ) -> Job:
        """Put a finished run into the queue, to be distilled by a worker. Nothing waits for a model.

        Args:
            run, verdict: as in `distill`.
            key: what makes a repeated call the same job; the run itself and its verdict when None.
            ref: as in `distill`.

        Returns:
            The job; the one that is there already when it was enqueued before.
        """
        from reasoningbank.services.runs import distilling

        return distilling.enqueue(self._engine, distilling.read_run_of(self._engine, run, verdict, ref), key)

    def enqueue_anti_pattern(self, memory_id: str, reason: str) -> Job:
        """Put into the queue that a memory did not help, and why: a worker makes a guard-rail of it.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
            InvalidInputError: no reason is given.
        """
        from reasoningbank.services.runs import distilling

        return distilling.enqueue_anti_pattern(self._engine, memory_id, reason)

    def job(self, job_id: str) -> Job:
        """Return a job: where it is, and what came of it.

        Raises:
            JobNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.runs import distilling

        return distilling.job(self._engine, job_id)

    def jobs(self, status: JobStatus | str | None = None, *, limit: int = 100) -> list[Job]:
        """Return jobs, the newest first.

        Args:
            status: queued, running, done, empty, refused, truncated, unparseable or failed; all of them when None.
            limit: 1 to 1,000.
        """
        from reasoningbank.runs.jobs import JobStatus
        from reasoningbank.services.runs import distilling

        wanted = tuple(JobStatus) if status is None else (as_label(JobStatus, status, "status"),)
        return distilling.jobs(self._engine, wanted, limit)

    def retry(self, job_id: str) -> Job:
        """Put a job that ended without lessons back into the queue, with all its attempts; another stays as it is.

        Raises:
            JobNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.runs import distilling

        return distilling.retry(self._engine, job_id)

    def worker(self, distiller: Distiller | None = None, judge: AnyJudge | None = None, *, poll: float = 1.0) -> Worker:
        """Return a worker for this project's queue; it works in its own thread while it is entered.

            with bank.worker(LLMDistiller(chat), judge=LLMJudge(chat)):
                ...

        Args:
            distiller, judge: as in `distill`.
            poll: seconds between two looks at an empty queue.
        """
        from reasoningbank.services.runs.worker import Worker

        return Worker(self._engine, _distiller(distiller), _judge(judge), poll=poll)


def _distiller(given: Distiller | None) -> Distiller:
    if given is not None:
        return given
    from reasoningbank.distill.template import TemplateDistiller

    return TemplateDistiller()


def _judge(given: AnyJudge | None) -> RunJudge | None:
    if given is None:
        return None
    from reasoningbank.distill.judge import as_judge

    return as_judge(given)


def _episode_verdict(verdict: RunVerdict | None) -> str:
    """Return the verdict of an episode: a partial success says too little about the lessons to credit them."""
    return verdict.value if verdict is not None and verdict.value in ("success", "failure") else "unknown"
