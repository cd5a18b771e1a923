"""Commands distill, work, jobs and retry."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank import Verdict
from reasoningbank.cli.arguments import Every, EveryTenant, UsageError
from reasoningbank.cli.reading import FileRead, Summary, files_read, is_over, told
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import counts, headline, indented, sentence, shown

if TYPE_CHECKING:
    from reasoningbank import (
        Distilled,
        Distiller,
        Job,
        JudgeUnavailableError,
        LLMJudge,
        ReasoningBank,
        Trajectory,
        Worker,
    )

    Outcome = Distilled | JudgeUnavailableError

app = typer.Typer()

DistillerName = Literal["template", "llm"]
WithDistiller = Annotated[
    DistillerName, typer.Option("--distiller", help="template needs no model; llm asks the one of --model.")
]
WithModel = Annotated[str | None, typer.Option("--model", help="The model's name at the endpoint.")]
WithBaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1. Else: OpenAI."),
]
WithJudge = Annotated[bool, typer.Option("--judge", help="Let the model judge runs that have no verdict.")]


def chosen_distiller(
    name: DistillerName, model: str | None, base_url: str | None, *, judge: bool
) -> tuple[Distiller, LLMJudge | None]:
    """Return the distiller and the judge that are asked for; UsageError when a model is needed and not named."""
    from reasoningbank import LLMDistiller, LLMJudge, OpenAIChat, TemplateDistiller

    if name == "template" and not judge:
        return TemplateDistiller(), None
    if model is None:
        raise UsageError(f"{'--judge' if judge else '--distiller llm'} needs a model: give --model")
    chat = OpenAIChat(model, base_url=base_url)
    distiller = TemplateDistiller() if name == "template" else LLMDistiller(chat)
    return distiller, LLMJudge(chat) if judge else None


@command(app, "distill", begins=True)
def distill(
    session: Session,
    file: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="A file of runs, a folder of such files, or - for standard input."),
    ],
    *,
    form: Annotated[
        str | None,
        typer.Option("--format", help="The form of the runs, if it is not recognised; see `reasoningbank forms`."),
    ] = None,
    distiller: WithDistiller = "template",
    model: WithModel = None,
    base_url: WithBaseUrl = None,
    judge: WithJudge = False,
    verdict: Annotated[
        Verdict | None, typer.Option("--verdict", help="How all of them ended; else what each run says.")
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Compare the runs of one task with each other, instead of each alone.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Of a folder: also the files that were distilled before, and not changed.")
    ] = False,
) -> Answer:
    """Draw lessons from finished runs and store them.

    A run is {"task", "steps": [{"thought", "action", "observation"}], "result", "verdict"}, or has "messages" in place
    of steps, in the form of any framework; or it is the file that an agent, a benchmark or a tracer left behind. Runs
    without a verdict teach nothing, unless --judge asks the model. A folder is taken up where it was left: a file that
    was distilled before in the same way, and has not changed since, is not read again.
    """

    if together and verdict is not None:
        raise UsageError("--together compares how runs ended: leave out --verdict, and let each run say its own")
    drawing, judging = chosen_distiller(distiller, model, base_url, judge=judge)
    summary = Summary()
    way = json.dumps([form, drawing.name, verdict, judge])
    before = (lambda _: False) if again or together else session.bank.runs.was_read
    with session.progress("Distilling") as progress:
        for one in files_read(file, form, way, before):
            runs = summary.read(one)
            if together:
                summary.kept.extend(runs)
                continue
            came = []
            for count, outcome in one_by_one(session.bank, runs, verdict, drawing, judging):
                came.append(outcome)
                progress(*((count, len(runs)) if one.of == 1 else (one.done, one.of)))
            summary.came += came
            finished(session.bank, one, came)
        if together:
            for count, outcome in compared(session.bank, summary.kept, drawing, judging):
                summary.came.append(outcome)
                progress(count, len(summary.kept))
    # 1 when part of what was given could not be read or distilled.
    return Answer(summary.counted(), told, exit_code=int(summary.is_partial))


def finished(bank: ReasoningBank, one: FileRead, came: Sequence[Outcome]) -> None:
    """Note a file of a folder whose runs were all distilled for good, or with another file."""
    if one.digest and one.has_runs and all(map(is_over, came)):
        bank.runs.note_read(one.digest)


# How many runs are done, and what came of the last of them: lessons, or why there is no verdict.
Progress = Iterator[tuple[int, "Outcome"]]


def one_by_one(
    bank: ReasoningBank,
    runs: Sequence[Trajectory],
    verdict: Verdict | None,
    distiller: Distiller,
    judge: LLMJudge | None,
) -> Progress:
    """Distil each run, with the three of its task that came before it at hand."""
    from reasoningbank import JudgeUnavailableError

    earlier: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for done, run in enumerate(runs, start=1):
        of_task = earlier[task_words(run)]
        try:
            distilled = bank.distill(run, verdict, distiller=distiller, judge=judge, earlier=of_task[:-4:-1])
        except JudgeUnavailableError as error:
            yield done, error
            continue
        of_task.append(distilled.run)
        yield done, distilled


def compared(bank: ReasoningBank, runs: Sequence[Trajectory], distiller: Distiller, judge: LLMJudge | None) -> Progress:
    """Distil the runs of each task together."""
    from reasoningbank import JudgeUnavailableError

    tasks: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for run in runs:
        tasks[task_words(run)].append(run)
    done = 0
    for of_task in tasks.values():
        done += len(of_task)
        try:
            yield done, bank.runs.distill_many(of_task, distiller=distiller, judge=judge)
        except JudgeUnavailableError as error:
            yield done, error


def task_words(run: Trajectory) -> str:
    """Return what makes two runs runs of one task: its words, whatever their case and spacing."""
    return " ".join(run.task.casefold().split())


@command(app, "forms", scope=())
def forms(_session: Session) -> Answer:
    """List the forms that runs are recognised in, as --format of distill takes them."""
    from reasoningbank.runs import known_forms

    return Answer(known_forms(), _forms)


def _forms(console: Console, known: Mapping[str, str]) -> None:
    for name, title in known.items():
        sentence(console, f"{name}: {title}")


@command(app, "work", begins=True)
def work(
    session: Session,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
    every: Every = False,
    every_tenant: EveryTenant = False,
    upkeep: Annotated[
        bool,
        typer.Option("--upkeep", help="With --all or --every-tenant: also do the rounds of `maintain` that are due."),
    ] = False,
    distiller: WithDistiller = "template",
    model: WithModel = None,
    base_url: WithBaseUrl = None,
    judge: WithJudge = False,
) -> Answer:
    """Distil the runs that wait in the queue, until interrupted; the job at hand is finished then.

    With --all it is the queues of all projects: start as many of these as there is work for, on any machines; each job
    is taken by one. A job of a worker that died is taken up again after a minute.
    """
    drawing, judging = chosen_distiller(distiller, model, base_url, judge=judge)
    banks = session.fleet(every=every, every_tenant=every_tenant)
    if upkeep and (banks is None or once):
        raise UsageError("--upkeep goes with --all or --every-tenant, and without --once: there is `maintain`")
    worker = banks.worker(drawing, judging, upkeep=upkeep) if banks else _worker_of_one(session.bank, drawing, judging)
    if not once:
        with worker:
            wait_for_an_interrupt()
        return Answer({"stopped": True}, "Stopped.")
    with session.progress("Working") as progress:
        done = []
        for job in worker.run_until_empty():
            done.append(job)
            progress(len(done), None)
    statuses = Counter(job.status.value for job in done)
    lessons = sum(len(job.memories) for job in done)
    return Answer({"jobs": len(done), "statuses": dict(statuses), "lessons": lessons}, _worked)


def _worker_of_one(bank: ReasoningBank, drawing: Distiller, judging: LLMJudge | None) -> Worker:
    if not (bank.exists or bank.shared):
        # A worker may be started before the first run; a name that was mistyped would wait for ever without a word.
        typer.echo(f"Note: tenant {bank.tenant!r} has no project {bank.project!r} yet.", err=True)
    return bank.queue.worker(drawing, judging)


def wait_for_an_interrupt() -> None:
    """Return when the user interrupts."""
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


@command(app, "jobs")
def jobs(
    session: Session,
    *,
    status: Annotated[
        str | None,
        typer.Option("--status", help="queued, running, done, empty, refused, truncated, unparseable, failed."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at the most.")] = 20,
) -> Answer:
    """List the jobs of the queue, the newest first, each with the reason why it is where it is."""
    found = session.bank.queue.list(status=status, limit=limit)
    return Answer({"jobs": found}, lambda console, _: _jobs(console, found))


@command(app, "retry")
def retry(
    session: Session, job_id: Annotated[str, typer.Argument(metavar="ID", help="The job's id, as jobs shows it.")]
) -> Answer:
    """Put a job that ended without lessons back into the queue."""
    job = session.bank.queue.retry(session.id_of(job_id, "job"))
    return Answer(job, f"{job.id} is {job.status}.")


def _worked(console: Console, counted: Mapping[str, Any]) -> None:
    if not counted["jobs"]:
        sentence(console, "Nothing was due.")
        return
    sentence(console, f"{counted['jobs']:,} jobs ({counts(counted['statuses'])}): {counted['lessons']:,} lessons.")


def _jobs(console: Console, found: Sequence[Job]) -> None:
    if not found:
        sentence(console, "No jobs.")
        return
    for job in found:
        tries = f", {job.attempts} tries" if job.attempts else ""
        headline(console, Text.assemble((f"{job.status.value}{tries}", "bold"), "  ", shown(job.task)))
        indented(console, job.id, "dim", by=4)
        if job.reason:
            indented(console, job.reason, "dim", by=4)
