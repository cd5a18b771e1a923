"""Stores prepared lessons inside a transaction: those that are there already stay as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from reasoningbank.memory import Memory, State
from reasoningbank.results import EXPIRED, Recorded
from reasoningbank.screening.scrub import RULES_VERSION
from reasoningbank.services.record.preparing import Prepared
from reasoningbank.services.view import Edit, View
from reasoningbank.storage import merges, records, revisions, sameness, stored, trust
from reasoningbank.storage.sameness import Known, Retired
from reasoningbank.storage.stored import Stored
from reasoningbank.upkeep.pruning import evidence_against, is_refuted

DISTRUSTED = "its source is blocked"


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a lesson is.

    Attributes:
        n: its row number, or that of the memory that says the same, or said so before it was changed; 0 when that was
            deleted.
        row: as it is loaded, when it is new.
        alike: id of a memory that is the same in a looser form.
        held: why it stays out of service, when somebody took it out.
    """

    n: int
    row: Stored | None = None
    alike: str | None = None
    held: str = ""


def store_all(edit: Edit, prepared: Sequence[Prepared]) -> list[Recorded]:
    """Store prepared lessons inside the caller's transaction, in their order.

    What says the same as a memory that has expired is news: that one is served again, until the new time.
    """
    placed, now = store(edit, prepared), edit.engine.now()
    for p, each in zip(prepared, placed, strict=True):
        if (
            each.n
            and each.row is None
            and not (each.held or p.has_own_id)
            and (p.draft.expires_at is None or p.draft.expires_at > now)
        ):
            records.renew(edit, each.n, p.draft.expires_at, now)
    known = [each.n for each in placed if each.row is None and each.n]
    rows = (edit.load(known) if known else {}) | {each.n: each.row for each in placed if each.row is not None}
    memories = edit.memories(rows)
    return [
        Recorded(
            memory=memories[each.n] if each.n else _not_stored(edit, p),
            created=each.row is not None,
            possible_duplicate_of=each.alike,
            held=each.held,
            redactions=p.redactions,
            degraded=(p.problem,) if each.row is not None and p.problem else (),
        )
        for p, each in zip(prepared, placed, strict=True)
    ]


def _not_stored(edit: Edit, p: Prepared) -> Memory:
    """Return what a lesson would be that was deleted once, and is not stored again: without an id."""
    row = records.row_of(0, as_stored(p, State.ARCHIVED, p.findings), RULES_VERSION, edit.engine.now(), revision=0)
    memory = stored.as_stored(row, (), edit.engine.project_name).memory
    return replace(memory, id="")


def store(
    edit: Edit,
    prepared: Sequence[Prepared],
    *,
    look_for_same: bool = True,
    state: State | None = None,
    beside: Collection[int] = (),
    by_hand: bool = True,
) -> list[Placed]:
    """Store prepared lessons, except what is there already, by id or by what it says, or came before in the list.

    Without `look_for_same`, what is there by id only; nobody else in service may say the same then. `state` is the one
    to store them in, when it is not for the guard to say. Archived memories that came along with the lessons, `beside`
    them, decide nothing about them. What was deleted, or put right, comes back only `by_hand`.
    """
    by_id = records.numbers_of(edit, [p.memory_id for p in prepared if p.has_own_id])
    asked = prepared if look_for_same else ()
    known = sameness.known(edit, [p.identity for p in asked], [p.fingerprint for p in asked], beside)
    fresh: dict[int, Prepared] = {}
    placed = []
    for p in prepared:
        wanted = not look_for_same or (by_hand and p.draft.source.how == "manual")
        placed.append(_place(edit, p, known, by_id, fresh, wanted=wanted, look_for_same=look_for_same))
    rows = insert(edit, fresh, state) if fresh else {}
    # Of two that say the same the first is new.
    return [Placed(each.n, rows.pop(each.n, None), each.alike, each.held) for each in placed]


def _place(
    edit: Edit,
    p: Prepared,
    known: Known,
    by_id: dict[str, int],
    fresh: dict[int, Prepared],
    *,
    wanted: bool,
    look_for_same: bool,
) -> Placed:
    """Say where a lesson is; a fresh one gets a row number, by which what comes behind it knows it."""
    n = by_id.get(p.memory_id, known.there.get(p.identity) if look_for_same else None)
    if n is not None:
        return Placed(n)
    for retired in known.retired.get(p.identity, ()):
        if (decided := _decided(edit, retired)) is not None:
            return decided
    if (decided := _gone(edit, p, known, wanted=wanted)) is not None:
        return decided
    n = by_id[p.memory_id] = edit.number("memories")
    fresh[n] = p
    key = (p.fingerprint, p.draft.outcome.value)
    alike = known.alike.get(key)
    if look_for_same:
        known.there[p.identity] = n
        known.alike.setdefault(key, (n, p.memory_id))
    return Placed(n, alike=None if alike is None else alike[1])


def _decided(edit: Edit, retired: Retired) -> Placed | None:
    """Say what an archived memory means for a lesson that says the same and comes again; None when nothing.

    What was merged is there, in what it was merged into. What was pruned for want of use, or of room, or is no longer
    refuted, is wanted now, and goes back with its evidence. Any other decision stands until `restore`. A source that is
    blocked says nothing against the lesson.
    """
    if retired.why.startswith(trust.BLOCKED):
        return None
    if retired.why == EXPIRED:
        trust.restore(edit, [retired.n], edit.engine.now())
        return Placed(retired.n)
    if (result := merges.served_by(edit, retired.n)) is not None:
        return Placed(result)
    if retired.why.startswith(trust.PRUNED):
        row = edit.row(retired.n)
        if not is_refuted(edit.beliefs([row])[retired.n].mean, evidence_against(row.tallies)[0]):
            trust.restore(edit, [retired.n], edit.engine.now())
            return Placed(retired.n)
    trust.came_again(edit, retired.n)
    return Placed(retired.n, held=retired.why)


def _gone(edit: Edit, p: Prepared, known: Known, *, wanted: bool) -> Placed | None:
    """Say what it means that a lesson was deleted, or replaced by another text; nothing when it is wanted again."""
    if wanted:
        if p.identity in known.deleted:
            revisions.lift(edit, p.identity)
        return None
    if p.identity in known.deleted:
        revisions.came_again(edit, p.identity)
        return Placed(0, held="deleted")
    if p.identity in known.replaced:
        n, reason = known.replaced[p.identity]
        return Placed(n, held=f"replaced: {reason or 'the memory says something else now'}")
    return None


def insert(edit: Edit, fresh: Mapping[int, Prepared], state: State | None = None) -> dict[int, Stored]:
    """Store lessons that are new under their row numbers, and return them as they are loaded from now on."""
    identity = next(iter(fresh.values())).embedder
    assert identity is not None  # noqa: S101 - only what went through `embed` is stored
    sources = {name for p in fresh.values() for name in (p.draft.source.by, p.draft.source.session) if name}
    distrusted = trust.blocked_among(edit, sources)
    new = {}
    for n, p in fresh.items():
        is_blocked = distrusted & {p.draft.source.by, p.draft.source.session}
        findings = (*p.findings, DISTRUSTED) if is_blocked else p.findings
        # A source that is blocked here stays so, whatever is said of its memories.
        guarded = State.QUARANTINED if is_blocked else p.state
        new[n] = as_stored(p, guarded if state is None or (is_blocked and state is State.ACTIVE) else state, findings)
    return records.insert(
        edit,
        new,
        generation=edit.generation(identity),
        project=edit.engine.project_name,
        scrub_version=RULES_VERSION,
        now=edit.engine.now(),
    )


def check_embedder(view: View, prepared: Sequence[Prepared]) -> None:
    """Check, before anything is stored, that lessons were embedded by the embedder whose vectors are stored.

    EmbedderMismatchError when they were not.
    """
    for identity in {p.embedder for p in prepared if p.embedder is not None}:
        view.check_embedder(identity)


def as_stored(p: Prepared, state: State, findings: tuple[str, ...]) -> records.NewMemory:
    """Return a prepared lesson as it is stored."""
    vectors = tuple((role, vector.tobytes()) for role, vector in p.vectors)
    return records.NewMemory(p.memory_id, p.draft, p.fingerprint, vectors, p.terms, state, findings, p.signatures)
