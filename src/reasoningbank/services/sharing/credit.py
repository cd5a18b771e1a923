"""Credit for shared lessons: what runs and votes of a project say of them is evidence in the shared bank.

The project is the evidence's source, and the run's own reference never leaves it. What a shared bank is to be told is
remembered in the project, in the transaction in which it is found out (`shared_runs`), and telling it twice changes
nothing: what is killed in between heals at the next call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from reasoningbank.belief.calibrated import CalibratedModel
from reasoningbank.belief.pooled import PooledModel, mostly_fails
from reasoningbank.episode import Served
from reasoningbank.errors import MemoryNotFoundError, ReasoningBankError
from reasoningbank.memory import State
from reasoningbank.results import Voted
from reasoningbank.services.credit import credit
from reasoningbank.services.search.recall import usage
from reasoningbank.services.search.repair import of_repair
from reasoningbank.services.sharing import worlds
from reasoningbank.services.sharing.engine import MemberEngine
from reasoningbank.services.sharing.levels import Levels
from reasoningbank.services.sharing.state import holding
from reasoningbank.services.view import View
from reasoningbank.signals import SignalKind
from reasoningbank.storage import episodes, records, sharing, signatures, trust
from reasoningbank.storage.signatures import Failed
from reasoningbank.storage.stored import Stored

TASK = "a run of another project"
"""What stands for the task in a shared bank: the words of a project's tasks stay in the project."""

FEWEST_JUDGES, FAILS_BELOW = 3, 0.5
REVIEW = "fails in most projects that tried it"


def ref_of(project: str, ref: str) -> str:
    """Return the reference under which a shared bank knows a project's run: a hash, the same each time."""
    return hashlib.blake2b(f"{project}\0{ref}".encode(), digest_size=16).hexdigest()


def settle(levels: Levels, strength: float = 1.0, ref: str | None = None) -> tuple[str, ...]:
    """Tell the shared banks what they are still to be told; what one refuses waits for the next time.

    Args:
        strength: how strongly the verdict of `ref` was given, in (0, 1].

    Returns:
        The ids of the shared memories that are credited for the run `ref`.
    """
    credited: tuple[str, ...] = ()
    with levels.own.read() as view:
        due, is_news = sharing.due(view, list(levels.banks)), worlds.is_news(view)
    for run, bank in due:
        try:
            told = _tell(levels, levels.banks[bank], run, strength if run == ref else 1.0)
            credited += told if run == ref else ()
        except ReasoningBankError as error:
            levels.left_out(bank, error)
    if is_news:
        worlds.exchange(levels)
    return credited


def _tell(levels: Levels, engine: MemberEngine, ref: str, strength: float) -> tuple[str, ...]:
    """Tell one shared bank of one run; return the ids of the memories that are credited for it."""
    own, credited = levels.own, tuple[str, ...]()
    with own.read() as view:
        episode, handed = episodes.load_episode(view, ref), sharing.run(view, ref)
        failures = signatures.failures_of(view, ref)
    if episode is None:
        return ()
    there = ref_of(own.project_name, ref)
    others = [served for bank, each in handed.items() if bank != engine.project_name for served in each]
    mine = handed[engine.project_name]
    _serve(engine, there, own.project_name, mine, episode.opened_at)
    _tell_failures(engine, there, mine, failures)
    if episode.verdict is not None:
        credited = credit.report(
            engine,
            episode.verdict,
            ref=there,
            thread=None,
            reason=None,
            by=episode.by,
            revise=True,
            strength=strength,
            beside=[*episode.memories, *others],
        ).credited
        for memory_id in credited:
            _look_again(engine, memory_id)
    with own.write(create=False) as edit:
        if signatures.failures_of(edit, ref) == failures:
            verdict = None if episode.verdict is None else episode.verdict.value
            sharing.told(edit, ref, engine.project_name, verdict)
    return credited


def _tell_failures(engine: MemberEngine, ref: str, served: Sequence[Served], failures: Sequence[Failed]) -> None:
    """Say of what was handed out at failures what came of those; said before, it changes nothing."""
    came_of = {failed.step: failed.settled for failed in failures if failed.settled}
    about = [each for each in served if each.step in came_of]
    if not about:
        return
    now, project = engine.now(), engine.own.project_name
    signals = [replace(of_repair(s.memory, s.revision, ref, came_of[s.step], now), source=project) for s in about]
    with engine.write() as edit:
        edit.catch_up()
        edit.write_signals(signals, now, only_news=True)


def _serve(engine: MemberEngine, ref: str, project: str, served: Sequence[Served], opened: datetime) -> None:
    """Open the run's episode in the shared bank, or add what it was handed since, each counted as used once."""
    with engine.write() as edit:
        now = engine.now()
        known = episodes.load_episode(edit, ref)
        there = set() if known is None else {each.memory for each in known.memories}
        numbers = records.numbers_of(edit, [each.memory for each in served])
        new = [(numbers[s.memory], s) for s in served if s.memory in numbers and s.memory not in there]
        if known is None:
            episodes.open_episode(edit, ref=ref, task=TASK, thread=project, served=new, tokens=0, now=opened)
        elif new and not episodes.is_sealed(edit, ref):
            episodes.serve_more(edit, ref, new, 0)
        else:
            return
        edit.write_signals([usage(s, ref, project, now) for _, s in new], now)


def vote(levels: Levels, memory_id: str, helpful: bool, **said: Any) -> Voted:
    """Count one piece of evidence about one memory of the project, or else of the shared bank that has it."""
    settle(levels)
    try:
        return credit.vote(levels.own, memory_id, helpful, **said)
    except MemoryNotFoundError:
        return _vote(holding(levels, memory_id), memory_id, helpful, **said)


def _vote(
    engine: MemberEngine,
    memory_id: str,
    helpful: bool,
    *,
    kind: SignalKind,
    ref: str | None,
    by: str | None,
    reason: str | None,
) -> Voted:
    project = engine.own.project_name
    with engine.read() as view:
        n = records.find(view, memory_id)
        if n is None:
            raise MemoryNotFoundError(memory_id)
        open_ref = sharing.served_by(view, n, project)
    there = open_ref if ref is None else ref_of(project, ref)
    voted = credit.vote(engine, memory_id, helpful, kind=kind, ref=there, by=by, reason=reason, source=project)
    _look_again(engine, memory_id)
    return voted if ref is None else replace(voted, ref=ref)


def _look_again(engine: MemberEngine, memory_id: str) -> None:
    """Send a shared lesson to review that fails in most of the projects that tried it, unless that was done before."""
    with engine.read() as view:
        if _failing(view, memory_id) is None:
            return
    with engine.write() as edit:
        if row := _failing(edit, memory_id):
            trust.settle(edit, row.n, [*row.memory.findings, REVIEW])
            records.set_state(edit, row.n, State.QUARANTINED, engine.now())


def _failing(view: View, memory_id: str) -> Stored | None:
    n = records.find(view, memory_id)
    row = None if n is None else view.load([n]).get(n)
    model = view.model
    if row is None or row.memory.state is not State.ACTIVE or REVIEW in row.memory.findings:
        return None
    own = model.model if isinstance(model, PooledModel) else CalibratedModel()
    fails = mostly_fails(row.tallies, own, row.initial_confidence, fewest=FEWEST_JUDGES, below=FAILS_BELOW)
    return row if fails else None
