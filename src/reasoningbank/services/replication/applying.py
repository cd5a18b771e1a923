"""Applying the changes of blocks inside the transaction that takes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from reasoningbank.errors import BusRefusedError
from reasoningbank.memory import Draft, State
from reasoningbank.replication import Taken, Terms
from reasoningbank.screening import door
from reasoningbank.services.record.history import draft_of, put_revision
from reasoningbank.services.record.preparing import Prepared
from reasoningbank.services.record.storing import insert
from reasoningbank.services.replication import changes
from reasoningbank.services.replication.changes import (
    Change,
    EvidenceChange,
    FitChange,
    GivenUpChange,
    LinkChange,
    MemoryChange,
    StateChange,
)
from reasoningbank.services.replication.deriving import derive, derive_taught, settle_twins
from reasoningbank.services.view import Edit
from reasoningbank.signals import day_number, parse_time
from reasoningbank.storage import fits, links, merges, records, replica, replica_evidence, sameness, trust
from reasoningbank.storage.fits import OriginFit
from reasoningbank.storage.fold import UNIT
from reasoningbank.storage.replica import Known, Origin, Register

DELETED: Final = "deleted there"


@dataclass
class Taking:
    """Blocks of one origin on their way into the bank; `clock` is the newest time that was seen."""

    edit: Edit
    origin: Origin
    terms: Terms
    kid: str
    clock: str
    blocks: int = 0
    news: int = 0
    memories: int = 0
    signals: int = 0
    skipped: int = 0
    touched: dict[tuple[str, bytes], None] = field(default_factory=dict)
    texts: dict[bytes, None] = field(default_factory=dict)
    teaches: bool = False
    fitted: bool = False
    given_up: list[GivenUpChange] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The source that all of it is of."""
        return f"{replica.PREFIX}{self.origin.name}"

    def spend(self, understood: Sequence[Change | None], size: int) -> None:
        """Count what a block costs; BusRefusedError when a cap is used up, or its source is blocked."""
        if trust.blocked_among(self.edit, [self.source]):
            raise BusRefusedError("blocked", f"{self.source} is blocked here: sources.unblock lifts that")
        weights = [
            max(1, -(-(piece.positive + piece.negative) // UNIT))
            for each in understood
            if isinstance(each, EvidenceChange)
            for piece in each.pieces
        ]
        amounts = {
            "memories": sum(isinstance(each, MemoryChange) for each in understood),
            "signals": sum(weights),
            "bytes": size,
        }
        day = day_number(self.edit.engine.now())
        before = replica.spent(self.edit, self.origin.key, day)
        for what, most in self.terms.caps.items():
            if before.get(what, 0) + amounts.get(what, 0) > most:
                raise BusRefusedError("cap", f"{amounts[what]:,} {what} more of {self.origin.name} are over its cap")
        replica.spend(self.edit, self.origin.key, day, amounts)

    def apply(self, change: Change | None, prepared: Prepared | None) -> None:
        """Apply one change."""
        match change:
            case MemoryChange():
                self._say(change, prepared)
            case StateChange():
                self._set_state(change)
            case LinkChange():
                self._link(change)
            case EvidenceChange():
                self._believe(change)
            case FitChange():
                self._learn(change)
            case GivenUpChange():
                self.given_up.append(change)
            case None:
                self.skipped += 1

    def _is_news(self, new: Register) -> bool:
        before = replica.register(self.edit, new.kind, new.a, new.b, new.c)
        if before is not None and before.version >= new.version:
            return False
        replica.put_register(self.edit, new)
        # A bank that begins anew tells again what it said: nothing is to be done then.
        return before is None or (before.body, before.other) != (new.body, new.other)

    # -- what a memory says ----------------------------------------------------------------------------------------

    def _say(self, change: MemoryChange, prepared: Prepared | None) -> None:
        body = "null" if change.body is None else json.dumps(change.body)
        if not self._is_news(Register(replica.MEMORY, change.id, "", "", change.clock, self.origin.origin, body)):
            return
        self.memories += 1
        known = replica.known_by_id(self.edit, change.id)
        twin = known.twin if known is not None else ""
        if known is not None:
            self.texts[known.said] = None
        if change.body is None or prepared is None:
            self._delete(known)
            return
        n = records.find(self.edit, change.id)
        if n is None:
            n = self.edit.number("memories")
            twin = self._insert(n, prepared)
            _, created = changes.draft_of(change.body, prepared.draft.source)
            trust.restore_times(self.edit, n, None if created is None else min(created, self.edit.engine.now()), None)
        else:
            twin = self._rewrite(n, prepared) or twin
        said = changes.said_by(change.body)
        hashed = changes.hash_of(changes.body_of(self.edit.row(n).memory))
        new = Known(n, change.id, said, hashed, known.state if known is not None else "", twin)
        replica.put_known(self.edit, new)
        self.texts[said] = None
        self.touched[change.id, said] = None
        self._settle_state(new)
        for register in replica.links_of(self.edit, change.id):
            self._settle_link(register)
        for merged in replica.merged_into(self.edit, change.id):
            if (other := replica.known_by_id(self.edit, merged)) is not None:
                self._settle_state(other)

    def _insert(self, n: int, prepared: Prepared) -> str:
        """Store a lesson; return the id of the memory that is served and says the same, where there is one."""
        twin = sameness.in_service(self.edit, prepared.identity)
        insert(self.edit, {n: prepared}, None if twin is None else State.ARCHIVED)
        if twin is not None:
            trust.note_archived(self.edit, n, prepared.state, f"{trust.MERGED}{twin}", self.edit.engine.now())
            self._count_for(n, twin)
        return twin or ""

    def _count_for(self, n: int, twin: str) -> None:
        served = records.find(self.edit, twin)
        if served is not None:
            merges.put(self.edit, [n], served, self.edit.engine.now())

    def _rewrite(self, n: int, prepared: Prepared) -> str:
        """Let a memory say something else; return the id of the memory that is served and says the same."""
        before = self.edit.row(n)
        if (archived := trust.archived(self.edit, n)) is not None and archived[1].endswith(DELETED):
            trust.restore(self.edit, [n], self.edit.engine.now())
            before = self.edit.row(n)
        twin = sameness.in_service(self.edit, prepared.identity, n)
        if twin is not None:
            trust.archive(self.edit, [n], f"{trust.MERGED}{twin}", self.edit.engine.now())
            self._count_for(n, twin)
            before = self.edit.row(n)
        theirs, mine = prepared.draft.source, before.memory.source
        source = mine.model_copy(update={"trusted": mine.trusted and theirs.trusted})
        kept = replace(prepared, draft=prepared.draft.model_copy(update={"source": source}))
        said: Draft = draft_of(before, self.edit.engine.rules)
        put_revision(self.edit, before, said, kept, (f"told by {self.source}", self.source))
        return twin or ""

    def _delete(self, known: Known | None) -> None:
        if known is None:
            return
        if self.origin.key == self.kid or self.edit.row(known.memory).memory.source.by == self.source:
            records.delete(self.edit, known.memory)
            replica.drop_known(self.edit, known.memory)
            return
        # Nobody destroys what another brought: it is out of service, and can be put back.
        why = f"retired by {self.source}: {DELETED}"
        trust.archive(self.edit, [known.memory], why, self.edit.engine.now())
        replica.put_known(self.edit, known._replace(state="archived:", twin=""))

    # -- the rest --------------------------------------------------------------------------------------------------

    def _set_state(self, change: StateChange) -> None:
        body = json.dumps({"archived": change.archived, "why": change.why})
        new = Register(replica.STATE, change.id, "", "", change.clock, self.origin.origin, body, change.into)
        if self._is_news(new) and (known := replica.known_by_id(self.edit, change.id)) is not None:
            self._settle_state(known)
            self.texts[known.said] = None

    def _settle_state(self, known: Known) -> None:
        """Let a memory be in or out of service, as was said last."""
        register = replica.register(self.edit, replica.STATE, known.id)
        if register is None:
            return
        said, n, now = json.loads(register.body), known.memory, self.edit.engine.now()
        is_archived = trust.state_of(self.edit, n) is State.ARCHIVED
        if said["archived"]:
            teller = replica.origins(self.edit)[register.origin].name
            why = f"retired by {replica.PREFIX}{teller}: {door.clean(said['why'], self.edit.engine.rules)}"
            trust.archive(self.edit, [n], why, now)
            into = replica.known_by_id(self.edit, register.other) if register.other else None
            if into is not None and into.memory != n:
                merges.put(self.edit, [n], into.memory, now)
        elif is_archived and not known.twin and not trust.restore(self.edit, [n], now):
            known = known._replace(twin=sameness.twin_of(self.edit, n) or "")
        state = f"archived:{register.other}" if said["archived"] else ""
        replica.put_known(self.edit, known._replace(state=state, twin="" if said["archived"] else known.twin))

    def _link(self, change: LinkChange) -> None:
        body = "null" if change.body is None else json.dumps(change.body)
        key = change.source, change.target, change.type
        new = Register(replica.LINK, *key, change.clock, self.origin.origin, body)
        if self._is_news(new):
            self._settle_link(new)

    def _settle_link(self, register: Register) -> None:
        """Set or remove a link, as was said last, once both of its ends are here."""
        ends = [replica.known_by_id(self.edit, end) for end in (register.a, register.b)]
        if ends[0] is None or ends[1] is None:
            return
        pair = ends[0].memory, ends[1].memory
        body: dict[str, Any] | None = json.loads(register.body)
        if body is None:
            links.remove(self.edit, pair, register.c)
            return
        rules = self.edit.engine.rules
        links.put(
            self.edit,
            pair,
            register.c,
            strength=body["strength"],
            evidence=door.clean(body["evidence"], rules),
            by=door.clean(body["by"], rules),
            now=parse_time(body["at"]),
        )

    def _believe(self, change: EvidenceChange) -> None:
        believe(self.edit, self.origin.origin, change)
        self.signals += len(change.pieces)
        self.teaches |= any(piece.validates != "[]" for piece in change.pieces)
        self.touched[change.id, change.said] = None

    def _learn(self, change: FitChange) -> None:
        learn(self.edit, self.origin.origin, change)
        self.fitted = True

    def finish(self) -> None:
        """Derive what follows from all of it."""
        for said in self.texts:
            settle_twins(self.edit, said)
        own = replica.spoken_as(self.edit, self.kid)
        for memory_id, said in self.touched:
            known = replica.known_by_id(self.edit, memory_id)
            if known is not None and known.said == said:
                derive(self.edit, known, own)
        if self.teaches or self.texts:
            derive_taught(self.edit)
        if self.fitted:
            fits.settle(self.edit, self.edit.engine.now())

    def result(self) -> Taken:
        """Say what became of it."""
        return Taken(self.memories, self.signals, self.skipped, known=not self.news, blocks=self.blocks)


def believe(edit: Edit, origin: str, change: EvidenceChange) -> None:
    """Keep an origin's evidence about what a memory says."""
    pieces = [piece._replace(judge=door.clean(piece.judge, edit.engine.rules)) for piece in change.pieces]
    replica_evidence.put_pieces(edit, change.id, change.said, origin, pieces)


def learn(edit: Edit, origin: str, change: FitChange) -> None:
    """Keep an origin's fit, by the weight of the evidence that it told before."""
    rules, told = edit.engine.rules, change.parameters
    judges, reporters = (
        tuple((door.clean(name, rules), value) for name, value in pairs) for pairs in (told.judges, told.reporters)
    )
    found, judged = replace(told, judges=judges, reporters=reporters), replica_evidence.judged_by_origin(edit, origin)
    fits.put(edit, OriginFit(origin, change.clock, judged, 0, found))
