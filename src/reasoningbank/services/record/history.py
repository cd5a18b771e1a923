"""Putting memories right: changing what they say, what they said before, and which took the place of which."""

from __future__ import annotations

from functools import partial
from typing import Any

from reasoningbank.corrections import Revision, Superseded
from reasoningbank.diagnostics import mentioned, written
from reasoningbank.embed.base import Embedder
from reasoningbank.errors import InvalidInputError, MemoryNotFoundError
from reasoningbank.links import SUPERSEDES
from reasoningbank.memory import DESCRIPTION_LIMIT, SAID, Draft, Memory, State, is_blank, within
from reasoningbank.screening import door
from reasoningbank.screening.scrub import RULES_VERSION, RuleSet
from reasoningbank.services.cache.shown import is_clean, rescrubbed
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.record import number_of
from reasoningbank.services.record.storing import as_stored
from reasoningbank.services.view import Edit
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage import links, pins, records, revisions, sameness, trust
from reasoningbank.storage.revisions import RevisionRow
from reasoningbank.storage.stored import Stored
from reasoningbank.validation import validated

# The texts that name the errors a lesson answers, in the order in which they are read.
NAMING = ("title", "description", "applies_when", "content")

# What an update leaves as it is unless it names it; changed by somebody else meanwhile, it is read again.
KEPT = (*Draft.model_fields.keys() - {"confidence"}, "initial_confidence", "state", "revision")


def update(engine: Engine, memory_id: str, changes: dict[str, Any], *, reason: str | None, by: str | None) -> Memory:
    """Change some fields of a memory; what is not named stays, and what is changed is kept as a revision."""
    why = checked_reason(reason, engine.rules), door.clean(by or "", engine.rules)
    while True:
        with engine.read() as view:
            n = number_of(view, memory_id)
            before = view.row(n)
        said = draft_of(before, engine.rules)
        draft = validated(Draft, said.model_dump() | {"confidence": said.initial_confidence} | changes)
        rewrite = partial(_rewrite, engine, before, clean(draft, memory_id, engine.rules), why=why)
        if (after := engine.with_embedder(rewrite)) is not None:
            return after


def restore_revision(engine: Engine, memory_id: str, number: int, *, why: str = "", by: str = "") -> Memory:
    """Let a memory say again what it said, with the evidence that it had then; what it says now is kept."""
    while True:
        with engine.read() as view:
            n = number_of(view, memory_id)
            before = view.row(n)
            rows = {row.number: row for row in revisions.of_memory(view, n)}
        if number not in rows:
            there = f"1 to {len(rows)}" if rows else "none yet: it was never changed"
            raise InvalidInputError(f"memory {memory_id!r} has no revision {number}; there are {there}")
        cleaned = clean(Draft.model_validate_json(rows[number].draft), memory_id, engine.rules)
        said = why or f"revision {number} was restored", by
        rewrite = partial(_rewrite, engine, before, cleaned, why=said, back=rows[number].evidence)
        if (after := engine.with_embedder(rewrite)) is not None:
            return after


def draft_of(stored: Stored, rules: RuleSet) -> Draft:
    """Return what a memory says, without secrets."""
    shown = rescrubbed(stored.memory, stored.scrub_version, rules)
    fields = {name: getattr(shown, name) for name in Draft.model_fields.keys() - {"confidence"}}
    if stored.memory.signatures == tuple(map(written, mentioned(*(getattr(stored.memory, name) for name in NAMING)))):
        fields["signatures"] = None  # they came of its text, and go on to
    return clean(validated(Draft, fields | {"confidence": shown.initial_confidence}), shown.id, rules).draft


def _rewrite(
    engine: Engine, before: Stored, cleaned: Prepared, embedder: Embedder, *, why: tuple[str, str], back: str = ""
) -> Memory | None:
    """Store a changed memory, and give it its evidence `back`; None when somebody else changed it since `before`."""
    said = draft_of(before, engine.rules)
    (prepared,) = embed(embedder, [cleaned])
    with engine.write(create=False) as edit:
        if not _is_as_before(edit, before):
            return None
        twin = sameness.in_service(edit, prepared.identity, before.n)
        if twin is not None and state_after(before, prepared) is State.ACTIVE:
            raise InvalidInputError(f"memory {twin!r} says this already: archive or delete one of the two")
        says_something_else = put_revision(edit, before, said, prepared, why)
        if back and says_something_else:
            revisions.give_back(edit, before.n, back)
        return edit.memories(edit.load([before.n]))[before.n]


def says_another(before: Stored, prepared: Prepared) -> bool:
    """Tell whether a lesson says something else than a memory: its evidence starts anew then."""
    return any(getattr(prepared.draft, name) != getattr(before.memory, name) for name in SAID)


def state_after(before: Stored, prepared: Prepared) -> State:
    """Return the state of a memory that is to say what a lesson says."""
    # A person's approval or archiving holds for what the memory said then.
    judged_anew = says_another(before, prepared) and before.memory.state is not State.ARCHIVED
    return prepared.state if judged_anew else before.memory.state


def put_revision(edit: Edit, before: Stored, said: Draft, prepared: Prepared, why: tuple[str, str]) -> bool:
    """Let a memory say what a lesson says, and keep what it said: why, and who wants it.

    Tell whether that is something else, so that its evidence starts anew.
    """
    anew = says_another(before, prepared)
    assert prepared.embedder is not None  # noqa: S101 - only what went through `embed` is stored
    if prepared.draft != said:
        _keep(edit, before, said, why, with_evidence=anew)
    records.rewrite(
        edit,
        before.n,
        as_stored(prepared, state_after(before, prepared), prepared.findings if anew else before.memory.findings),
        generation=edit.generation(prepared.embedder),
        scrub_version=RULES_VERSION,
        says_something_else=anew,
        now=edit.engine.now(),
    )
    return anew


def _is_as_before(edit: Edit, before: Stored) -> bool:
    edit.catch_up()
    present = edit.load([before.n]).get(before.n)
    if present is None:
        raise MemoryNotFoundError(before.memory.id)
    return all(getattr(present.memory, name) == getattr(before.memory, name) for name in KEPT)


def _keep(edit: Edit, before: Stored, said: Draft, why: tuple[str, str], *, with_evidence: bool) -> None:
    row = RevisionRow(
        number=0,
        draft=said.model_dump_json(),
        identity=sameness.identity_of(edit, before.n),
        scrub_version=RULES_VERSION,
        evidence=revisions.evidence_of(edit, before.n) if with_evidence else "",
        reason=why[0],
        judge=why[1],
        written_at=time_text(before.memory.updated_at),
        replaced_at=time_text(edit.engine.now()),
    )
    revisions.keep(edit, before.n, row)


def history(engine: Engine, memory_id: str) -> list[Revision]:
    """Return what a memory said before, the first first."""
    with engine.read() as view:
        rows = revisions.of_memory(view, number_of(view, memory_id))
    return [shown(memory_id, row, engine.rules) for row in rows]


def shown(memory_id: str, row: RevisionRow, rules: RuleSet) -> Revision:
    """Return what a memory said, without what is known for a secret by now."""
    draft = Draft.model_validate_json(row.draft)
    return Revision(
        memory=memory_id,
        number=row.number,
        said=draft if is_clean(row.scrub_version, rules) else clean(draft, memory_id, rules).draft,
        reason=door.clean(row.reason, rules),
        by=door.clean(row.judge, rules),
        written_at=parse_time(row.written_at),
        replaced_at=parse_time(row.replaced_at),
    )


# -- one in the place of another -------------------------------------------------------------------------------------


def supersede(engine: Engine, old_id: str, new_id: str, *, reason: str, by: str | None) -> Superseded:
    """Take a memory out of service for one that says better what it said, and link the two."""
    if is_blank(reason):
        raise InvalidInputError("reason is empty: say why the one takes the place of the other")
    with engine.write(create=False) as edit:
        old, new = number_of(edit, old_id), number_of(edit, new_id)
        retire_for(edit, old, new, reason=checked_reason(reason, engine.rules), by=door.clean(by or "", engine.rules))
        shown = edit.shown([old, new])
        return Superseded(shown[old], shown[new])


def retire_for(edit: Edit, old: int, new: int, *, reason: str, by: str) -> None:
    """Archive a memory, and let another take its place: linked, and required where the old one was."""
    now = edit.engine.now()
    ids = links.ids_of(edit, [old, new])
    if old == new:
        raise InvalidInputError(f"memory {ids[old]!r} cannot take its own place: name two memories")
    if trust.state_of(edit, new) is not State.ACTIVE:
        raise InvalidInputError(f"memory {ids[new]!r} is not served: restore or approve it first")
    links.put(edit, (new, old), SUPERSEDES, strength=1.0, evidence=reason, by=by, now=now)
    for source, target, kind, strength, evidence, judge in links.ends_of(edit, [old]):
        if kind == "requires" and target == old and source != new:
            links.put(edit, (source, new), kind, strength=strength, evidence=evidence, by=judge, now=now)
    pins.hand_on(edit, old, new)
    trust.archive(edit, [old], f"superseded: {ids[new]}{f' ({reason})' if reason else ''}", now)


def checked_reason(reason: str | None, rules: RuleSet) -> str:
    """Return a reason as it is stored: clean, without secrets; LimitExceededError when it is too long."""
    return door.clean(within("reason", reason, DESCRIPTION_LIMIT), rules).strip() if reason else ""
