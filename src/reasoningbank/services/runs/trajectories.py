"""Trajectories: kept with their episode where the settings say so, and where memories came from and were used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from reasoningbank.distill.cleaning import Cleaned, clean
from reasoningbank.episode import Episode
from reasoningbank.errors import EpisodeNotFoundError
from reasoningbank.memory import Memory
from reasoningbank.runs.results import MemoryRuns, StepsKept
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.screening import door
from reasoningbank.screening.scrub import RULES_VERSION, RuleSet
from reasoningbank.services.cache.shown import is_clean, shown_episode, shown_summary
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.record import number_of
from reasoningbank.services.view import Edit
from reasoningbank.storage import episodes, trajectories
from reasoningbank.verdict import Verdict

SWITCHED_OFF = "the setting keep_trajectories is off: set it to true"


def add_steps(engine: Engine, ref: str, run: Any) -> StepsKept:
    """Keep steps with their episode: cleaned, and as long as the run is not too long."""
    cleaned = clean(Trajectory.of(run), engine.rules)
    with engine.write(create=False) as edit:
        if not episodes.exists(edit, ref):
            raise EpisodeNotFoundError(f"ref {ref!r}")
        return put(edit, ref, cleaned.run) if engine.settings.keep_trajectories else StepsKept(reason=SWITCHED_OFF)


def put(edit: Edit, ref: str, run: Trajectory, *, left_out: int = 0, at: datetime | None = None) -> StepsKept:
    """Keep a cleaned run with its episode as far as there is room, whatever the setting `keep_trajectories`.

    Before, `left_out` steps were left out of it, and `at` something was last added to it: now when None.
    """
    limit = edit.engine.settings.trajectory_limit
    room = limit - trajectories.size_of(edit, ref)
    kept: list[str] = []
    for step in run.steps:
        text = step.model_dump_json(exclude_defaults=True)
        if len(text) > room:
            break
        room -= len(text)
        kept.append(text)
    beyond = len(run.steps) - len(kept)
    result = run.result if len(run.result) <= room else ""
    at = at or edit.engine.now()
    trajectories.add(edit, ref, kept, result=result, left_out=left_out + beyond, scrub_version=RULES_VERSION, now=at)
    cut = beyond or result != run.result
    return StepsKept(len(kept), beyond, f"the run is longer than {limit:,}" if cut else "")


def of_episode(engine: Engine, cleaned: Cleaned, ref: str | None) -> Cleaned:
    """Return a run that says which episode it is from; where nothing is kept with that yet, keep the run."""
    if ref is None:
        return cleaned
    with engine.read() as view:
        if not episodes.exists(view, ref):
            raise EpisodeNotFoundError(f"ref {ref!r}")
    if engine.settings.keep_trajectories:
        with engine.write() as edit:
            if not trajectories.size_of(edit, ref):
                put(edit, ref, cleaned.run)
    return replace(cleaned, run=cleaned.run.model_copy(update={"session": ref}))


def trajectory(engine: Engine, ref: str) -> Trajectory:
    """Return an episode as a run: its task, what is kept of its steps, and how it ended."""
    with engine.read() as view:
        episode = episodes.load_episode(view, ref)
        if episode is None:
            raise EpisodeNotFoundError(f"ref {ref!r}")
        return shown(
            episode, trajectories.load(view, ref) or trajectories.Kept(scrub_version=RULES_VERSION), engine.rules
        )


def shown(episode: Episode, kept: trajectories.Kept, rules: RuleSet) -> Trajectory:
    """Return an episode and what is kept of it as one run, clean by the present rules."""
    episode = shown_episode(episode, rules)
    found = Trajectory(
        task=episode.task,
        steps=kept.steps,
        result=kept.result,
        verdict=episode.verdict or Verdict.UNKNOWN,
        reason=episode.reason,
        session=episode.ref,
        started_at=episode.opened_at,
        ended_at=episode.closed_at,
        metadata={"steps_left_out": kept.left_out} if kept.left_out else {},
    )
    return found if is_clean(kept.scrub_version, rules) else clean(found, rules).run


def runs_of(engine: Engine, memory_id: str, limit: int) -> MemoryRuns:
    """Return the runs that a memory came from, and those that it was handed out in."""
    with engine.read() as view:
        n = number_of(view, memory_id)
        found = trajectories.origins(view, n, limit), trajectories.uses(view, n, limit)
    return MemoryRuns(*(tuple(shown_summary(run, engine.rules) for run in runs) for runs in found))


def lessons_of(engine: Engine, ref: str) -> tuple[Memory, ...]:
    """Return the memories that were distilled from a run."""
    with engine.read() as view:
        return tuple(view.shown(trajectories.distilled_from(view, ref)).values())


def note_origins(edit: Edit, memory_ids: Sequence[str], runs: Iterable[Trajectory]) -> None:
    """Note which runs memories were distilled from, as far as the runs say what session they are."""
    trajectories.add_origins(
        edit, memory_ids, [door.clean(run.session, edit.engine.rules) for run in runs if run.session]
    )
