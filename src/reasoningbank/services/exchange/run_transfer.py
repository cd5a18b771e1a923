"""Runs in an export and out of it: cleaned on the way in, as long as they may be, and counted for nothing twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reasoningbank.distill.cleaning import clean
from reasoningbank.episode import Episode
from reasoningbank.exchange.runs import ExportedRun, HandedOver
from reasoningbank.runs.trajectory import Trajectory
from reasoningbank.screening import door
from reasoningbank.screening.scrub import RuleSet
from reasoningbank.services.engine import Engine
from reasoningbank.services.runs.trajectories import put, shown
from reasoningbank.services.view import Edit
from reasoningbank.storage import episodes, trajectories
from reasoningbank.storage.contract import Reading

PAGE = 200


def export_runs(reading: Reading, rules: RuleSet) -> Iterator[ExportedRun]:
    """Yield every run of the project, with what is kept of it, in the order of their references."""
    after = ""
    while refs := episodes.refs_behind(reading, after, PAGE):
        loaded = filter(None, (episodes.load_episode(reading, ref) for ref in refs))
        yield from (_exported(reading, episode, rules) for episode in loaded)
        after = refs[-1]


def _exported(reading: Reading, episode: Episode, rules: RuleSet) -> ExportedRun:
    kept = trajectories.load(reading, episode.ref) or trajectories.Kept()
    run = shown(episode, kept, rules)
    unchanged = episodes.unchanged_in(reading, episode.ref)
    return ExportedRun(
        ref=episode.ref,
        task=run.task,
        thread=episode.thread,
        opened_at=episode.opened_at,
        closed_at=episode.closed_at,
        verdict=episode.verdict,
        reason=run.reason,
        by=door.clean(episode.by, rules),
        tokens=episodes.tokens_of(reading, episode.ref),
        memories=tuple(
            HandedOver(**served.model_dump(exclude={"revision"}), unchanged=served.position in unchanged)
            for served in episode.memories
        ),
        lessons=tuple(episodes.lessons_of(reading, episode.ref)),
        steps=run.steps,
        result=run.result,
        left_out=kept.left_out,
        kept_at=kept.at,
    )


def store_runs(engine: Engine, runs: Sequence[ExportedRun], numbers: Mapping[str, int]) -> int:
    """Store runs that are not there yet, one transaction for all, and return how many.

    Their evidence came with the memories: what they were handed counts as counted. `numbers` are the row numbers of the
    memories of the same export, by the ids that they have there.
    """
    cleaned = [_cleaned(run, engine.rules) for run in runs]
    with engine.write() as edit:
        return sum(_store(edit, run, numbers) for run in cleaned)


def _cleaned(run: ExportedRun, rules: RuleSet) -> ExportedRun:
    found = clean(Trajectory(task=run.task, steps=run.steps, result=run.result, reason=run.reason), rules).run
    said = {"task": found.task, "steps": found.steps, "result": found.result, "reason": found.reason}
    named = {name: door.clean(getattr(run, name) or "", rules) for name in ("by", "ref", "thread")}
    return run.model_copy(update=said | named | {"thread": named["thread"] or None})


def _store(edit: Edit, run: ExportedRun, numbers: Mapping[str, int]) -> bool:
    if episodes.exists(edit, run.ref):
        return False
    handed = [(numbers[each.memory], each) for each in run.memories if each.memory in numbers]
    episodes.put_run(edit, run, handed, [numbers[lesson] for lesson in run.lessons if lesson in numbers])
    if run.kept_at is not None:
        kept = Trajectory(steps=run.steps, result=run.result)
        put(edit, run.ref, kept, left_out=run.left_out, at=run.kept_at)
    return True
