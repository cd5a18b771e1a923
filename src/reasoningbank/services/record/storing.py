"""Stores prepared lessons inside a transaction: those that are there already stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reasoningbank.memory import State
from reasoningbank.results import Recorded
from reasoningbank.screening.scrub import RULES_VERSION
from reasoningbank.services.record.preparing import Prepared
from reasoningbank.services.view import Edit, View
from reasoningbank.storage import records, trust
from reasoningbank.storage.stored import Stored

DISTRUSTED = "its source is blocked"


def store_all(edit: Edit, prepared: Sequence[Prepared]) -> list[Recorded]:
    """Store prepared lessons inside the caller's transaction, in their order."""
    stored = store(edit, prepared)
    known = [n for n, row in stored if row is None]
    rows = (edit.load(known) if known else {}) | {n: row for n, row in stored if row is not None}
    memories = edit.memories(rows)
    return [
        Recorded(
            memory=memories[n],
            created=row is not None,
            redactions=p.redactions,
            degraded=(p.problem,) if row is not None and p.problem else (),
        )
        for p, (n, row) in zip(prepared, stored, strict=True)
    ]


def store(edit: Edit, prepared: Sequence[Prepared], *, look_for_same: bool = True) -> list[tuple[int, Stored | None]]:
    """Store prepared lessons, except what is there already, by id or in other spelling, or came before in the list.

    Each one's row number comes back, or that of the one that was there, and the row as it is loaded when it is new.
    """
    by_id = records.numbers_of(edit, [p.memory_id for p in prepared if p.has_own_id])
    by_text = records.same_lessons(edit, [p.fingerprint for p in prepared]) if look_for_same else {}
    fresh: dict[int, Prepared] = {}
    found: list[int] = []
    for p in prepared:
        text = (p.fingerprint, p.draft.outcome.value)
        n = by_id.get(p.memory_id, by_text.get(text) if look_for_same else None)
        if n is None:
            n = by_id[p.memory_id] = by_text[text] = edit.number("memories")
            fresh[n] = p
        found.append(n)
    rows = _insert(edit, fresh) if fresh else {}
    # Of two that say the same the first is new.
    return [(n, rows.pop(n, None)) for n in found]


def _insert(edit: Edit, fresh: Mapping[int, Prepared]) -> dict[int, Stored]:
    identity = next(iter(fresh.values())).embedder
    assert identity is not None  # noqa: S101 - only what went through `embed` is stored
    sources = {name for p in fresh.values() for name in (p.draft.source.by, p.draft.source.session) if name}
    distrusted = trust.blocked_among(edit, sources)
    new = {}
    for n, p in fresh.items():
        is_blocked = distrusted & {p.draft.source.by, p.draft.source.session}
        findings = (*p.findings, DISTRUSTED) if is_blocked else p.findings
        new[n] = as_stored(p, State.QUARANTINED if findings else State.ACTIVE, findings)
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
    return records.NewMemory(p.memory_id, p.draft, p.fingerprint, vectors, p.terms, state, findings)
