"""bank.runs: episodes, the steps that are kept of them, and lessons from several runs of a task."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from reasoningbank import arguments
from reasoningbank.bank.handle import Handle, Later, Namespace, RecallOptions, as_distiller, as_run_judge
from reasoningbank.episode import Episode
from reasoningbank.errors import StorageError
from reasoningbank.filters import FilterOptions
from reasoningbank.memory import Memory
from reasoningbank.results import Recall, Reported
from reasoningbank.runs.results import FailureRecall
from reasoningbank.verdict import Verdict, as_verdict

if TYPE_CHECKING:
    from reasoningbank.bank.bank import ReasoningBank
    from reasoningbank.bank.handle import AnyJudge
    from reasoningbank.distill.best_of import Agent, BestOf, Mode, Selector
    from reasoningbank.distill.distillation import Distilled
    from reasoningbank.distill.distiller import Distiller
    from reasoningbank.judgement import Judgement
    from reasoningbank.runs import trajectory
    from reasoningbank.runs.results import EpisodePage, MemoryRuns, StepsKept
    from reasoningbank.runs.trajectory import Trajectory
    from reasoningbank.services.credit import credit, taking_back
    from reasoningbank.services.runs import distilling, read_files, trajectories
else:
    credit, taking_back = Later.each("reasoningbank.services.credit", "credit", "taking_back")
    trajectory = Later("reasoningbank.runs.trajectory")
    distilling, read_files, trajectories = Later.each(
        "reasoningbank.services.runs", "distilling", "read_files", "trajectories"
    )

log = logging.getLogger(__name__)


class Runs(Namespace):
    """What happened in runs, and what several of them teach together.

    A run that is not there raises EpisodeNotFoundError.
    """

    def __init__(self, handle: Handle, bank: ReasoningBank) -> None:
        super().__init__(handle)
        self._bank = bank

    def get(self, ref: str | None = None, *, thread: str | None = None) -> Episode:
        """Return an episode: what was recalled for it, and how it ended.

        Args:
            ref: its reference.
            thread: in its place: the newest episode of this thread, as long as it could still be open.

        Raises:
            InvalidInputError: not exactly one of ref and thread.
        """
        ref, thread = arguments.run_of(ref, thread)
        return credit.get_episode(self._engine, ref=ref, thread=thread)

    def list(
        self,
        *,
        thread: str | None = None,
        verdict: Verdict | str | None = None,
        is_open: bool | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> EpisodePage:
        """Return a page of episodes, the newest first.

        Args:
            thread: only those of this conversation.
            verdict: only those that ended so.
            is_open: only those without a verdict (True), or with one (False).
            after: `next` of the page before.
            limit: 1 to 1,000.

        Raises:
            EpisodeNotFoundError: there is no episode `after`.
        """
        return credit.list_episodes(
            self._engine,
            after=arguments.reference(after, "after"),
            thread=arguments.reference(thread, "thread"),
            verdict=None if verdict is None else as_verdict(verdict),
            is_open=is_open,
            limit=arguments.page_limit(limit),
        )

    def add_steps(self, ref: str, steps: Any) -> StepsKept:
        """Keep steps of a run with its episode, as they happen or at the end, if the settings say so.

        Recalled lessons, system prompts and secrets are taken out before. A run is kept up to the setting
        `trajectory_limit`; what comes after that is left out and counted. `run.step` inside `with bank.episode(...)`
        calls this by itself.

        Args:
            ref: the episode's reference.
            steps: anything that `Trajectory.of` reads: a Trajectory, a dictionary, a list of steps or of messages. A
                result replaces the one before.

        Raises:
            InvalidInputError: it cannot be read as steps.
        """
        return trajectories.add_steps(self._engine, arguments.episode_ref(ref), steps)

    def take_back(self, ref: str, memory_ids: Iterable[str] | None = None) -> tuple[str, ...]:
        """Take back what a run was handed and never showed to its model; return the ids of what was taken out.

        It is neither counted as used, nor credited when the run ends. An episode that has a verdict stays as it is.

        Args:
            ref: the episode's reference.
            memory_ids: which of its memories; all of them when None.
        """
        given = None if memory_ids is None else frozenset(arguments.memory_ids(memory_ids).values())
        return taking_back.take_back(self._engine, arguments.episode_ref(ref), given)

    def was_read(self, digest: str) -> bool:
        """Tell whether a file of runs was noted as distilled (see `note_read`)."""
        return read_files.was_read(self._engine, arguments.identifier("digest", digest))

    def note_read(self, digest: str) -> None:
        """Note that a file of runs was distilled, so that a folder can be taken up where it was left.

        Args:
            digest: what tells the file, and how it was distilled, from others: `reasoningbank distill FOLDER` takes a
                hash of both, so a session that has grown since is read again. Up to 200 characters.
        """
        read_files.note_read(self._engine, arguments.identifier("digest", digest))

    def trajectory(self, ref: str) -> Trajectory:
        """Return an episode as a run: its task, the steps that are kept, how it ended. `distill` takes it.

        `is_empty` is true when no steps were kept, or when they expired (setting `trajectory_days`).
        """
        return trajectories.trajectory(self._engine, arguments.episode_ref(ref))

    def of(self, memory_id: str, limit: int = 20) -> MemoryRuns:
        """Return the runs that a memory was distilled from, and those that it was handed out in.

        Args:
            limit: how many of each at the most, the newest first; 1 to 1,000.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        return trajectories.runs_of(self._engine, arguments.memory_id(memory_id), arguments.page_limit(limit))

    def lessons(self, ref: str) -> tuple[Memory, ...]:
        """Return the memories that were distilled from a run, in the order they were recorded.

        Args:
            ref: the episode's reference, or the session where the bank knows no episode of it.
        """
        return trajectories.lessons_of(self._engine, arguments.episode_ref(ref))

    def distill_many(
        self, runs: Sequence[Any], *, distiller: Distiller | None = None, judge: AnyJudge | None = None
    ) -> Distilled:
        """Draw lessons from several runs of one task, by comparing those that succeeded with those that failed.

        Args:
            runs: each as in the bank's `distill`, with its verdict.
            distiller, judge: as in the bank's `distill`.

        Raises:
            InvalidInputError: there is none, or one cannot be read as a run.
            JudgeUnavailableError: one has no verdict, and the judge gave none.
        """
        cleaned = [distilling.read_run(self._engine, run) for run in runs]
        return distilling.distill_many(self._engine, cleaned, as_distiller(distiller), as_run_judge(judge))

    def best_of(
        self,
        agent: Agent,
        task: str,
        n: int = 3,
        *,
        mode: Mode = "parallel",
        distiller: Distiller | None = None,
        judge: AnyJudge | None = None,
        selector: Selector | None = None,
        limit: int = 3,
        **options: Unpack[RecallOptions],
    ) -> BestOf:
        """Try a task several times with the bank's lessons, choose the best try, and learn from all of them together.

        It is one episode: the lessons are recalled once and given to every try, and the verdict of the chosen try is
        reported for them. A try that raises costs the others nothing.

        Args:
            agent: makes one try: called with an Attempt (task, lessons, the try before), it returns a run as `distill`
                takes it. In parallel mode it is called from several threads at once.
            n: how many tries, 1 to 32.
            mode: "parallel", or "sequential": each re-examines the one before, until one succeeds.
            judge: judges the tries that bring no verdict of their own.
            selector: chooses the best of the tries, apart from the judge; by verdict, then by fewer errors and steps,
                when None. LLMSelector asks a model.
            distiller: as in the bank's `distill`.
            limit, options: those of `recall`, but for timeout and fail_open.
        """
        from reasoningbank.distill.best_of import BestOf, by_verdict, roll_out

        recall = self._bank.recall(task, limit, **options)
        rollouts = roll_out(agent, task, n, lessons=recall.text, judge=as_run_judge(judge), mode=mode)
        made = [rollout for rollout in rollouts if rollout.run is not None]
        best = made[(selector or by_verdict)(made)] if made else None
        self._bank.report(best.verdict if best else Verdict.UNKNOWN, ref=recall.ref, by="best_of")
        cleaned = [distilling.read_run(self._engine, rollout.run) for rollout in rollouts]
        distilled = distilling.distill_many(self._engine, cleaned, as_distiller(distiller), None)
        return BestOf(recall, rollouts, best, distilled)


class Run:
    """One run of a task, inside `with bank.episode(task) as run`.

    Attributes:
        recall: what was handed out.
        ref: the episode's reference.
        text: the prompt block with the recalled lessons; empty when nothing fits.
        hits: the memories handed out.
    """

    def __init__(self, bank: ReasoningBank, recall: Recall) -> None:
        self._bank = bank
        self.recall, self.ref, self.text, self.hits = recall, recall.ref, recall.text, recall.hits
        self._steps: list[dict[str, str]] = []
        self._verdict: Verdict | None = None
        self._checks: dict[str, Judgement] = {}

    @property
    def trajectory(self) -> Trajectory:
        """The task and the steps so far, with the verdict if one was given: what `distill` and `queue.put` take."""
        return trajectory.Trajectory.of(
            {"task": self.recall.task, "steps": self._steps, "verdict": self._verdict, "session": self.ref or None}
        )

    def step(self, action: str, result: str = "", *, thought: str = "", error: str = "") -> None:
        """Add a step as it happens; with the setting `keep_trajectories` it is written at once.

        A disk that refuses it then costs the run nothing: that is logged, and the step stays in `trajectory`.
        """
        step = {"thought": thought, "action": action, "observation": result, "error": error}
        self._steps.append(step)
        if self._bank.settings.keep_trajectories:
            try:
                self._bank.runs.add_steps(self.ref, [step])
            except StorageError as refused:
                log.warning("a step of %s was not kept: %s", self.ref, refused)

    def failed(
        self,
        output: str,
        *,
        tool: str | None = None,
        command: str | None = None,
        exit_code: int | None = None,
        **filters: Unpack[FilterOptions],
    ) -> FailureRecall:
        """Return what is known of the errors in the output of what failed; see `recall_failure`.

        Whatever goes wrong with it costs the run nothing: then nothing is handed out, and `degraded` says why.
        """
        return self._bank.recall_failure(
            output, tool=tool, command=command, exit_code=exit_code, ref=self.ref, fail_open=True, **filters
        )

    def worked(self, *, tool: str | None = None, command: str | None = None) -> tuple[str, ...]:
        """Say that an act succeeded, which is evidence for what was handed out at a failure; see `report_act`."""
        return self._bank.report_act(self.ref, tool=tool, command=command)

    def report(self, verdict: Any, *, reason: str | None = None, by: str | None = None) -> Reported:
        """Say how the run ended, by a verdict or anything that says one; a later report replaces an earlier one."""
        given = arguments.judgement(verdict)
        self._verdict = given.verdict
        return self._bank.report(given, ref=self.ref, reason=reason, by=by)

    def check(
        self,
        kind: str,
        result: Any = None,
        *,
        exit_code: int | None = None,
        junit: str | os.PathLike[str] | None = None,
    ) -> Reported:
        """Report what a check says of the run: tests, a type checker, a person's approval.

            run.check("pytest", exit_code=process.returncode)
            run.check("mypy", junit="mypy.xml")
            run.check("approval", True)

        How far each kind of check is to be believed is learned, as of a judge. Of several checks one failure is a
        failure, whichever came last; a check that was not carried out (no tests, an interrupt) says nothing.

        Args:
            kind: what checks, such as "pytest"; it is who reports.
            result: anything that `report` takes.
            exit_code: in its place: 0 is success. Of pytest only 0 and 1 say something; else an interrupt (130), and
                what could not be started (126, 127), say nothing.
            junit: in its place: a file with a test report in JUnit's XML.

        Raises:
            InvalidInputError: not exactly one of these, or a report that cannot be read.
        """
        said = arguments.check_result(kind, result, exit_code, junit)
        self._checks[said.by] = said
        told = [check for check in self._checks.values() if check.verdict is not Verdict.UNKNOWN]
        failed = [check for check in told if check.verdict is not Verdict.SUCCESS]
        return self.report(next(iter(failed or told), said))
