"""What memories said before they were changed, in an export and out of it: cleaned both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reasoningbank.exchange.history import Counted, SaidBefore, history_object
from reasoningbank.screening import door
from reasoningbank.screening.scrub import RULES_VERSION, RuleSet
from reasoningbank.services.cache.shown import shown_tallies
from reasoningbank.services.record.history import shown
from reasoningbank.services.record.preparing import clean
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import SignalKind, time_text
from reasoningbank.storage import revisions
from reasoningbank.storage.records import identity_of
from reasoningbank.storage.revisions import RevisionRow


def export_history(view: View, n: int) -> list[dict[str, Any]]:
    """Return what a memory said before, the first first, as objects of its line."""
    return [_exported(row, view.engine.rules) for row in revisions.of_memory(view, n)]


def _exported(row: RevisionRow, rules: RuleSet) -> dict[str, Any]:
    said = shown("", row, rules)
    counted = None
    if row.evidence:
        known = revisions.read_evidence(row.evidence)
        counted = Counted(
            tallies=shown_tallies(known.tallies, rules),
            told=tuple((ref, SignalKind(kind), polarity) for ref, kind, polarity in known.said),
            taught=tuple((SignalKind(kind), *counts) for kind, counts in known.taught.items()),  # type: ignore[misc]
        )
    return history_object(
        SaidBefore(said.said, said.reason, said.by, said.written_at, said.replaced_at, evidence=counted)
    )


def store_history(edit: Edit, n: int, history: Sequence[SaidBefore]) -> None:
    """Keep what a memory said before, in the bank that it comes from."""
    for revision in history:
        revisions.keep(edit, n, _row(revision, edit.engine.rules))


def _row(revision: SaidBefore, rules: RuleSet) -> RevisionRow:
    cleaned, counted = clean(revision.said, None, rules).draft, revision.evidence
    evidence = ""
    if counted is not None:
        told = [(ref, kind.value, polarity) for ref, kind, polarity in counted.told]
        taught = {kind.value: [confirmed, refuted] for kind, confirmed, refuted in counted.taught}
        evidence = revisions.evidence_text(counted.tallies, told, taught)
    return RevisionRow(
        number=0,
        draft=cleaned.model_dump_json(),
        identity=identity_of(cleaned),
        scrub_version=RULES_VERSION,
        evidence=evidence,
        reason=door.clean(revision.reason, rules),
        judge=door.clean(revision.by, rules),
        written_at=time_text(revision.written_at),
        replaced_at=time_text(revision.replaced_at),
    )
