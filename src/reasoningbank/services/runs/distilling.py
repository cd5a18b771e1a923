"""From a run to lessons in the bank: clean, judge, distil, look for near duplicates, store; at once, or by a worker."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from reasoningbank.distill.cleaning import Cleaned, clean
from reasoningbank.distill.distillation import Distillation, Distilled
from reasoningbank.distill.distiller import Distiller
from reasoningbank.distill.judge import RunJudge
from reasoningbank.distill.template import TemplateDistiller, anti_pattern
from reasoningbank.embed.base import Embedder
from reasoningbank.episode import Episode
from reasoningbank.errors import InvalidInputError, JobNotFoundError, ReasoningBankError
from reasoningbank.runs.jobs import DistillStatus, Held, Job, key_of
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.screening import door
from reasoningbank.services.cache.shown import shown_job
from reasoningbank.services.credit import credit
from reasoningbank.services.engine import Engine
from reasoningbank.services.record import record
from reasoningbank.services.runs.shown_lessons import as_it_happened
from reasoningbank.services.runs.sifting import Sifted, sift, stored
from reasoningbank.services.runs.trajectories import note_origins
from reasoningbank.services.view import Edit
from reasoningbank.storage import episodes
from reasoningbank.storage import jobs as job_rows
from reasoningbank.verdict import Verdict, as_verdict

log = logging.getLogger("reasoningbank")

# -- at once ---------------------------------------------------------------------------------------------------------


def read_run(engine: Engine, run: Any, verdict: Verdict | str | bool | None = None) -> Cleaned:
    """Return a run, cleaned, with the verdict that is given, if one is."""
    read = Trajectory.of(run)
    if verdict is not None:
        read = read.model_copy(update={"verdict": as_verdict(verdict)})
    return clean(read, engine.rules)


def judged(engine: Engine, run: Trajectory, judge: RunJudge | None) -> Trajectory:
    """Return the run with a verdict, if there is one: its own, that of its episode, or the judge's.

    What the judge says is said of the episode too, which ended before anybody had judged it: its lessons are credited.
    JudgeUnavailableError when the judge gives no verdict.
    """
    if run.verdict is not Verdict.UNKNOWN:
        return run
    with engine.read() as view:
        episode = episodes.load_episode(view, run.session) if run.session else None
    if episode is not None and episode.verdict in (Verdict.SUCCESS, Verdict.FAILURE):
        return run.model_copy(update={"verdict": episode.verdict, "reason": episode.reason})
    if judge is None:
        return run
    judgement = judge.judge(run)
    if episode is not None:
        credited = Verdict.UNKNOWN if judgement.verdict is Verdict.PARTIAL else judgement.verdict
        reason, by = judgement.reason, judgement.by
        credit.close_if_open(engine, episode.ref, credited, reason, by=by, or_unknown=True)
    return run.model_copy(update={"verdict": judgement.verdict, "reason": judgement.reason})


def distill(
    engine: Engine, cleaned: Cleaned, distiller: Distiller, judge: RunJudge | None, earlier: Sequence[Trajectory]
) -> Distilled:
    """Draw lessons from a run and store them."""
    run = judged(engine, cleaned.run, judge)
    drawn = distiller.distill(as_it_happened(engine, run), earlier)
    return replace(keep(engine, drawn, [run], earlier), removed=cleaned.removed)


def distill_many(engine: Engine, runs: Sequence[Cleaned], distiller: Distiller, judge: RunJudge | None) -> Distilled:
    """Draw lessons from several runs of one task together, and store them."""
    if not runs:
        raise InvalidInputError("there is no run to compare: give at least one")
    compared = [judged(engine, cleaned.run, judge) for cleaned in runs]
    return keep(engine, distiller.distill_many([as_it_happened(engine, run) for run in compared]), compared)


def learn_reason(engine: Engine, episode: Episode, reason: str) -> tuple[str, ...]:
    """Keep what was said of why a run failed as a guard-rail; return the ids of the memories that say it now.

    The run's own lessons may come later, from its steps. What cannot be stored now is put into the queue: the report
    stands.
    """
    said = {"task": episode.task, "reason": reason, "verdict": Verdict.FAILURE, "session": episode.ref}
    cleaned = clean(
        Trajectory.of({**said, "started_at": episode.opened_at, "ended_at": episode.closed_at}), engine.rules
    )
    drawn = TemplateDistiller().distill(cleaned.run)
    if not drawn.drafts:
        return ()
    try:
        kept = keep(engine, drawn, [cleaned.run])
    except ReasoningBankError as error:
        log.warning("the reason of %s becomes a lesson when the queue is worked: %s", episode.ref, error)
        enqueue(engine, cleaned, None)
        return ()
    return (*(one.memory.id for one in kept.recorded), *kept.duplicates)


def keep(
    engine: Engine, result: Distillation, runs: Sequence[Trajectory], earlier: Sequence[Trajectory] = ()
) -> Distilled:
    """Store the lessons of a distillation, without those that are there already in nearly the same words."""
    sifting = partial(sift, engine, drafts=result.drafts, runs=[*earlier, *runs])
    return engine.with_embedder(lambda embedder: _keep(engine, sifting(embedder=embedder), result, runs))


def _keep(engine: Engine, sifted: Sifted, result: Distillation, runs: Sequence[Trajectory]) -> Distilled:
    if not sifted.fresh and not sifted.known:
        return Distilled(result, runs[-1], (), ())
    with engine.write() as edit:
        recorded, duplicates = stored(edit, sifted)
        note_origins(edit, [*(one.memory.id for one in recorded), *duplicates], runs)
    return Distilled(result, runs[-1], tuple(recorded), tuple(duplicates))


# -- the queue -------------------------------------------------------------------------------------------------------


def enqueue(engine: Engine, cleaned: Cleaned, key: str | None, *, ref: str | None = None, rest: float = 0.0) -> Job:
    """Put a run into the queue; the same run again is the same job.

    Args:
        ref: the run's episode.
        rest: seconds that the episode's thread must rest before a worker takes up any run of it.
    """
    run, payload = cleaned.run, cleaned.run.model_dump_json()
    named = _key("run", payload, key)
    with engine.write() as edit:
        # In one transaction: a worker that waits would take up what does not rest yet.
        added = _add(edit, "run", payload, run, named)
        if rest:
            now = engine.now()
            until = now + timedelta(seconds=rest)
            added = job_rows.put_off(edit, named, payload=payload, run=run, ref=ref, now=now, until=until)
    return shown_job(added, engine.rules)


def enqueue_anti_pattern(engine: Engine, memory_id: str, reason: str) -> Job:
    """Put the writing of an anti-pattern into the queue: what a memory said, and why it did not help."""
    memory = record.get(engine, memory_id)
    anti_pattern(memory.title, memory.content, reason)  # says at once what is wrong with the reason
    reason = door.clean(reason, engine.rules)
    of = {"memory": memory.id, "revision": memory.revision, "session": memory.source.session}
    payload = json.dumps({**of, "title": memory.title, "content": memory.content, "reason": reason})
    task = Trajectory(task=f"Not always: {memory.title}", verdict=Verdict.FAILURE)
    with engine.write() as edit:
        added = _add(edit, "anti-pattern", payload, task, _key("anti-pattern", payload, None))
    return shown_job(added, engine.rules)


def _add(edit: Edit, kind: str, payload: str, run: Trajectory, key: str) -> Job:
    job_id = str(uuid.uuid4())
    return job_rows.add(edit, kind=kind, payload=payload, run=run, key=key, job_id=job_id, now=edit.engine.now())


def _key(kind: str, payload: str, key: str | None) -> str:
    return key_of(kind, payload) if key is None else f"{job_rows.GIVEN}{key}"


def job(engine: Engine, job_id: str) -> Job:
    """Return a job."""
    with engine.read() as view:
        found = job_rows.find(view, job_id)
    if found is None:
        raise JobNotFoundError(job_id)
    return shown_job(found, engine.rules)


def jobs(engine: Engine, statuses: Sequence[DistillStatus], limit: int) -> list[Job]:
    """Return the newest jobs with one of these statuses."""
    with engine.read() as view:
        return [shown_job(found, engine.rules) for found in job_rows.page(view, statuses, limit)]


def retry(engine: Engine, job_id: str) -> Job:
    """Put a job that ended without lessons back into the queue."""
    with engine.write(create=False) as edit:
        found = job_rows.retry(edit, job_id, engine.now())
    if found is None:
        raise JobNotFoundError(job_id)
    if found.status is DistillStatus.DONE:
        raise InvalidInputError(f"job {job_id} is done: to distil its run again, put the run with another key")
    return shown_job(found, engine.rules)


# -- the steps of a worker --------------------------------------------------------------------------------------------


def take(engine: Engine, token: str) -> Held | None:
    """Hold the job that is due first; None when there is none. Without one, nothing is written."""
    now = engine.now()
    with engine.read() as view:
        if not job_rows.is_due(view, now):
            return None
    with engine.write() as edit:
        return job_rows.take(edit, token=token, now=now)


def carry_out(engine: Engine, held: Held, distiller: Distiller, judge: RunJudge | None) -> Job | None:
    """Do a job that is held, and finish it together with storing its lessons, in one transaction.

    The job comes back as it is then, or None when it was lost to another worker meanwhile, and nothing was stored.
    JudgeUnavailableError, EmbeddingError or StorageError when it cannot be done now.
    """
    run, result = _draw(engine, held, distiller, judge)
    return engine.with_embedder(lambda embedder: _finish(engine, embedder, held, run, result))


def _finish(engine: Engine, embedder: Embedder, held: Held, run: Trajectory, result: Distillation) -> Job | None:
    sifted = sift(engine, embedder, result.drafts, [*held.earlier, run] if held.job.kind == "run" else ())
    with engine.write() as edit:
        if not job_rows.is_held(edit, held):
            return None
        now, status, reason = engine.now(), result.status, door.clean(result.reason, engine.rules)
        if status is DistillStatus.FAILED:
            job_rows.fail(edit, held, reason, now)
        else:
            recorded, duplicates = stored(edit, sifted)
            memories = [one.memory.id for one in recorded if not one.held]
            note_origins(edit, [*memories, *duplicates], [run])
            counts = {**result.counts, "lessons": len(memories), "duplicates": len(duplicates)}
            if stayed_out := len(recorded) - len(memories):
                counts["held"] = stayed_out
            job_rows.finish(edit, held, status, reason=reason, run=run, memories=memories, counts=counts, now=now)
        return job_rows.find(edit, held.job.id)


def _draw(engine: Engine, held: Held, distiller: Distiller, judge: RunJudge | None) -> tuple[Trajectory, Distillation]:
    if held.job.kind == "anti-pattern":
        said = held.payload
        draft = anti_pattern(said["title"], said["content"], said["reason"], said["session"])
        run = Trajectory(verdict=Verdict.FAILURE)
        return run, Distillation(DistillStatus.DONE, (draft,), by=draft.source.by or "")
    run = judged(engine, held.run, judge)
    return run, distiller.distill(as_it_happened(engine, run), held.earlier)


def give_back(engine: Engine, held: Held, reason: str) -> None:
    """Put a job that could not be done back into the queue, if it is still held."""
    with engine.write() as edit:
        if job_rows.is_held(edit, held):
            job_rows.fail(edit, held, door.clean(reason, engine.rules), engine.now())


def renew(engine: Engine, held: Held) -> bool:
    """Hold a job for another while; False when it was lost."""
    with engine.write() as edit:
        return job_rows.renew(edit, held, engine.now())


def forget(engine: Engine) -> int:
    """Delete jobs that ended well longer ago than signals are kept."""
    with engine.write(create=False) as edit:
        return job_rows.forget(edit, engine.now() - timedelta(days=engine.settings.keep_days))
