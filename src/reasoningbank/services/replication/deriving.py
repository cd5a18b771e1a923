"""What is derived from what was exchanged: tallies of others' evidence, and which of several equal lessons is served.

Both are functions of what is exchanged, whatever the order in which it came.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from reasoningbank.memory import State
from reasoningbank.replication import HERE
from reasoningbank.services.view import Edit
from reasoningbank.storage import merges, replica, replica_evidence, trust
from reasoningbank.storage.replica import Known
from reasoningbank.storage.replica_evidence import Piece, Sums


def signal_sums(pieces: Iterable[Piece]) -> Sums:
    """Return what pieces of evidence add up to."""
    sums: Sums = {}
    for p in pieces:
        key = p.kind, p.day, p.judge, p.superseded
        positive, negative, last = sums.get(key, (0, 0, ""))
        sums[key] = positive + p.positive, negative + p.negative, max(last, p.last)
    return sums


def derive(edit: Edit, known: Known, own: Sequence[str]) -> None:
    """Derive a memory's tallies of others' evidence about what it says, and of its own that is lost here.

    `own` are the origins as which this bank speaks and spoke. Its own is lost with a changed text, and where the bank
    was put back to an earlier state.
    """
    there = replica_evidence.own_sums(edit, known.memory)
    told = signal_sums(replica_evidence.pieces(edit, known.id, known.said, own).values())
    lost: Sums = {}
    for key, (positive, negative, last) in told.items():
        plus, minus, _ = there.get(key, (0, 0, ""))
        if positive > plus or negative > minus:
            lost[key] = max(0, positive - plus), max(0, negative - minus), last
    replica_evidence.replace_replicated(edit, known.memory, known.id, known.said, lost, HERE)
    merges.tell_results(edit, [known.memory])


def derive_taught(edit: Edit) -> None:
    """Derive what the votes of others taught of the kinds of evidence."""
    counts: dict[str, tuple[int, int]] = {}
    for kinds, confirmed, refuted in replica_evidence.votes_that_teach(edit):
        for kind in json.loads(kinds):
            plus, minus = counts.get(kind, (0, 0))
            counts[kind] = plus + int(confirmed), minus + int(refuted)
    replica_evidence.replace_taught(edit, counts)


def settle_twins(edit: Edit, said: bytes) -> None:
    """Let one of the memories that say the same be served, that with the first id; the others count for it."""
    members = replica.saying(edit, said)
    if len(members) < 2 and not any(member.twin for member in members):
        return
    live = [member for member in members if not member.state and _can_serve(edit, member)]
    for member in live[1:]:
        if member.twin != live[0].id:
            trust.archive(edit, [member.memory], f"{trust.MERGED}{live[0].id}", edit.engine.now())
            merges.put(edit, [member.memory], live[0].memory, edit.engine.now())
            replica.put_known(edit, member._replace(twin=live[0].id))
    if live and live[0].twin:
        trust.restore(edit, [live[0].memory], edit.engine.now())
        replica.put_known(edit, live[0]._replace(twin=""))


def _can_serve(edit: Edit, member: Known) -> bool:
    state = trust.state_of(edit, member.memory)
    return state is State.ACTIVE or (state is State.ARCHIVED and bool(member.twin))
