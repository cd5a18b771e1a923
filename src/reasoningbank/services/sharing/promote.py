"""Promotion: a lesson of a project becomes one of a shared bank, and both stay linked.

It is one write, in the shared bank: the copy, and where it came from. So a promotion is whole or not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reasoningbank.belief.pooled import for_others
from reasoningbank.distill.distiller import generalise
from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.memory import SAID, Draft, Memory, Source, State
from reasoningbank.screening.door import clean as cleaned
from reasoningbank.services.record import history, trust
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.storing import store
from reasoningbank.services.sharing.engine import MemberEngine
from reasoningbank.services.view import View
from reasoningbank.sharing.results import Linked, Promoted
from reasoningbank.sharing.rights import Right
from reasoningbank.sharing.specific import Specific, specifics
from reasoningbank.storage import records, sharing
from reasoningbank.storage import trust as out_of_service
from reasoningbank.storage.sharing import Origin
from reasoningbank.validation import validated

if TYPE_CHECKING:
    from reasoningbank.embed.base import Embedder
    from reasoningbank.llm.base import Chat
    from reasoningbank.services.engine import Engine

WAITS = "promoted from {project}: waits for a review"
PROPOSED = "promoted_from"


def check(memory: Memory, wording: Mapping[str, str], names: Sequence[str]) -> tuple[Specific, ...]:
    """Return what in a lesson, in other words where those are given, is specific to its project."""
    said = {name: wording.get(name, getattr(memory, name)) for name in SAID} | {"tags": " ".join(memory.tags)}
    return specifics(said, [memory.project, *names])


def promote(
    engine: MemberEngine,
    memory_id: str,
    *,
    wording: Mapping[str, str],
    names: Sequence[str],
    anyway: bool,
    confidence: float | None,
    chat: Chat | None,
    by: str | None,
) -> Promoted:
    """Copy a lesson of the project into a shared bank, to be reviewed unless the caller may approve."""
    with engine.own.read() as view:
        memory, start = _own(view, memory_id), confidence
        if start is None:
            (row,) = view.load(records.numbers_of(view, [memory_id]).values()).values()
            start = for_others([(memory.project, row.tallies)], row.initial_confidence)
    if memory.state is not State.ACTIVE:
        raise InvalidInputError(f"memory {memory_id!r} is {memory.state}: only lessons in service are promoted")
    with engine.read() as there:
        engine.check(there, Right.WRITE)
    found, proposed = check(memory, wording, names), dict[str, str]()
    if found and chat is not None and not anyway:
        proposed = _generalised(chat, memory, found, names)
    if found and not anyway:
        return Promoted(engine.project_name, specific=found, proposed=proposed)
    draft = _draft(engine, memory, wording, by, start)
    prepared = clean(draft, None, engine.rules)
    return engine.with_embedder(lambda embedder: _store(engine, memory, prepared, embedder, by, found))


def _generalised(chat: Chat, memory: Memory, found: Sequence[Specific], names: Sequence[str]) -> dict[str, str]:
    """Return other wording by a model; nothing where that is no better."""
    draft = generalise(chat, memory, [one.text for one in found])
    proposed = {name: getattr(draft, name) for name in SAID if getattr(draft, name) != getattr(memory, name)}
    left = check(memory, proposed, names)
    return proposed if len(left) < len(found) else {}


def _own(view: View, memory_id: str) -> Memory:
    n = records.find(view, memory_id)
    if n is None:
        raise MemoryNotFoundError(memory_id)
    return view.shown([n])[n]


def _draft(
    engine: MemberEngine, memory: Memory, wording: Mapping[str, str], by: str | None, confidence: float
) -> Draft:
    """Return the copy: it starts from what the project found, as far as that counts, and brings no evidence along."""
    said: dict[str, Any] = {name: getattr(memory, name) for name in SAID} | dict(wording)
    return validated(
        Draft,
        said
        | {
            "outcome": memory.outcome,
            "tags": memory.tags,
            # Where others start: the evidence itself stays, and so counts once.
            "confidence": confidence,
            "source": Source(how="imported", by=by or engine.own.project_name),
            "metadata": {PROPOSED: engine.own.project_name},
            "signatures": list(memory.signatures) or None,
            "expires_at": memory.expires_at,
        },
    )


def _store(
    engine: MemberEngine,
    memory: Memory,
    prepared: Prepared,
    embedder: Embedder,
    by: str | None,
    found: tuple[Specific, ...],
) -> Promoted:
    (ready,) = embed(embedder, [prepared])
    project = engine.own.project_name
    with engine.write() as edit:
        may = engine.check(edit, Right.WRITE)
        waits = may is not Right.APPROVE
        if waits:
            ready = replace(ready, findings=(*ready.findings, WAITS.format(project=project)))
        (placed,) = store(edit, [ready], state=State.QUARANTINED if waits or ready.suspicion else None)
        if not placed.n:
            raise InvalidInputError(f"shared bank {engine.project_name!r} had this lesson deleted: {placed.held}")
        there = edit.shown([placed.n])[placed.n]
        came = Origin(placed.n, project, memory.id, memory.revision, there.revision)
        sharing.note_promoted(edit, came, cleaned(by or "", engine.rules), engine.now())
        created = placed.row is not None
        return Promoted(engine.project_name, there, created, there.state is State.QUARANTINED, found)


# -- what approvers do ---------------------------------------------------------------------------------------------


def demote(engine: MemberEngine, memory_id: str, *, reason: str | None, by: str | None) -> Memory:
    """Take a shared lesson out of service; the lessons that it came from stay as they are."""
    with engine.read() as view:
        engine.check(view, Right.APPROVE)
    return trust.archive(engine, memory_id, reason=reason, by=by)


def approve(engine: MemberEngine, memory_id: str) -> Memory:
    """Let a lesson in that waits for a review, or that was sent back to one."""
    with engine.read() as view:
        engine.check(view, Right.APPROVE)
    return trust.approve(engine, memory_id)


def review(engine: MemberEngine, limit: int) -> list[Memory]:
    """Return what waits for a review; a project that may not approve sees what it proposed itself."""
    with engine.read() as view:
        waiting = [*view.shown(out_of_service.to_review(view, limit)).values()]
        if engine.check(view, Right.READ) is Right.APPROVE:
            return waiting
        own = {origin.n for origin in sharing.promoted_from(view, engine.own.project_name)}
        mine = records.numbers_of(view, [memory.id for memory in waiting])
        return [memory for memory in waiting if mine.get(memory.id) in own]


# -- links ---------------------------------------------------------------------------------------------------------


def linked(engine: MemberEngine) -> list[Linked]:
    """Return the shared lessons that came from this project, and what became of both since."""
    with engine.own.read() as own, engine.read() as view:
        came = sharing.promoted_from(view, engine.own.project_name)
        copies = view.load([origin.n for origin in came])
        here = records.numbers_of(own, [origin.origin for origin in came])
        origins = {row.id: row for row in own.load(here.values()).values()}
        found = []
        for each in came:
            origin = origins.get(each.origin)
            changed = origin is not None and origin.memory.revision != each.origin_revision
            corrected = copies[each.n].memory.revision != each.revision
            state = _STATES[changed, corrected] if origin is not None else "origin deleted"
            found.append(Linked(engine.project_name, copies[each.n].id, each.origin, state))
        return found


_STATES = {
    (False, False): "same",
    (True, False): "origin changed",
    (False, True): "copy changed",
    (True, True): "both changed",
}


def take_correction(engine: MemberEngine, memory_id: str, *, to_project: bool, by: str | None) -> Memory:
    """Let the project's lesson say what the shared one says, or the shared one what the project's says.

    Args:
        memory_id: the shared lesson.
        to_project: which way.

    Returns:
        The lesson that was changed.
    """
    project = engine.own.project_name
    with engine.own.read() as own, engine.read() as view:
        if not to_project:
            engine.check(view, Right.APPROVE)
        n = records.find(view, memory_id)
        came = [] if n is None else [each for each in sharing.origins(view, n) if each.source == project]
        if n is None or not came:
            raise MemoryNotFoundError(memory_id)
        copy, origin = view.shown([n])[n], _own(own, came[0].origin)
    source = copy if to_project else origin
    changed: Engine = engine.own if to_project else engine
    said = {name: getattr(source, name) for name in SAID}
    target = origin if to_project else copy
    if any(getattr(target, name) != text for name, text in said.items()):
        target = history.update(changed, target.id, said, reason=f"corrected in {source.project}", by=by)
    new, there = (target.revision, copy.revision) if to_project else (origin.revision, target.revision)
    with engine.write() as edit:
        sharing.note_promoted(edit, Origin(n, project, origin.id, new, there), by or "", engine.now())
    return target
