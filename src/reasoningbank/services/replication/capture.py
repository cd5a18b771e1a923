"""Capturing what changed in this bank since it was last looked at, as signed blocks for others.

What the bank holds is compared with what was told of it: nothing has to be written when a lesson is recorded, and a
bank that is not on the bus knows nothing of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from reasoningbank.errors import InvalidInputError
from reasoningbank.filters import Filters
from reasoningbank.memory import State
from reasoningbank.replication import Block, key_of, ticked
from reasoningbank.screening import door
from reasoningbank.services.cache.shown import rescrubbed
from reasoningbank.services.engine import Engine
from reasoningbank.services.replication import changes
from reasoningbank.services.replication.deriving import derive, settle_twins, signal_sums
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import time_text
from reasoningbank.storage import fits, merges, meta, records, replica, replica_evidence, trust
from reasoningbank.storage.replica import SPEAKS, Known, Origin, Register
from reasoningbank.storage.replica_evidence import Piece
from reasoningbank.storage.stored import Stored

Sign = Callable[[bytes], bytes]
# About what a transaction may take while others wait, and what a block may hold.
PAGE: Final = 200
BLOCK_CHANGES: Final = 200
BLOCK_BYTES: Final = 256 * 1024
_CURSOR, _CLOCK, _SCANNED, _LINKS = "replica_change", "replica_clock", "replica_scanned", "replica_links"


def capture(engine: Engine, kid: str, sign: Sign) -> int:
    """Capture all that changed here, some memories a transaction; return how many changes that were."""
    with engine.read() as view:
        more = not _is_captured(view, kid)
    found = 0
    while more:
        with engine.write(create=False) as edit:
            many, more = capture_some(edit, kid, sign)
            found += many
    return found


def _is_captured(view: View, kid: str) -> bool:
    """Tell whether nothing changed since the last time, without keeping other writers waiting."""
    known, me = meta.read(view), replica.speaks_as(view)
    return (
        me is not None
        and key_of(me) == kid
        and known.get(_CURSOR) == str(view.moment.change)
        and _SCANNED not in known
        and known.get(_LINKS) == replica.links_mark(view)
        and fits.untold(view, me) is None
    )


def capture_some(edit: Edit, kid: str, sign: Sign) -> tuple[int, bool]:
    """Capture some of what changed; return how many changes that were, and whether there may be more."""
    edit.catch_up()
    capturing = Capturing(edit, own_origin(edit, kid))
    numbers, more = _due(edit)
    capturing.look_at(numbers)
    if not more:
        capturing.look_at_links()
        meta.put(edit, _LINKS, replica.links_mark(edit))
        capturing.look_at_fit()
    capturing.seal(sign)
    return capturing.count, more


def own_origin(edit: Edit, kid: str) -> Origin:
    """Return this bank as an origin; InvalidInputError when it spoke with another key before."""
    origins = replica.origins(edit)
    before = next((origin for origin in origins.values() if origin.own == SPEAKS), None)
    if before is None and kid not in origins:
        before = Origin(kid, "", SPEAKS, 0, b"", time_text(edit.engine.now()))
        replica.put_origin(edit, before)
    if before is None or before.key != kid:
        spoke = "another bank" if before is None else f"key {before.origin:.16}…"
        raise InvalidInputError(
            f"this project and the key {kid:.16}… do not belong together: {spoke} spoke with the one or the other. "
            "Each project has a key of its own, from its first day on the bus"
        )
    return before


def clock_of(edit: Edit) -> str:
    """Return the newest time of the hybrid clock that was seen here."""
    return meta.read(edit).get(_CLOCK, "")


def note_seen(edit: Edit, clock: str) -> None:
    """Note that all is captured that was there before this transaction, and the newest time of the clock.

    What this one tells the feed is looked at once more: lines of the log that a killed process left are among it.
    """
    meta.put(edit, _CURSOR, str(edit.moment.change))
    meta.put(edit, _CLOCK, clock)


def _due(edit: Edit) -> tuple[list[int], bool]:
    """Return the memories to look at next, and whether there are more; what this notes is where to go on."""
    known = meta.read(edit)
    cursor = int(known.get(_CURSOR, "-1"))
    if _SCANNED in known or cursor < 0 or replica.oldest_change(edit) > cursor + 1:
        return _scan(edit, known)
    pairs = replica.changed_after(edit, cursor, PAGE)
    more = len(pairs) == PAGE
    if pairs:
        meta.put(edit, _CURSOR, str(pairs[-1][1]))
    return [n for n, _ in pairs], more


def _scan(edit: Edit, known: dict[str, str]) -> tuple[list[int], bool]:
    """Go through all memories: at the first time, and where the feed was cut off behind what was captured."""
    after = int(known.get(_SCANNED, "0"))
    if _SCANNED not in known:
        meta.put(edit, _CURSOR, str(edit.newest_change))
    numbers = records.page(edit, Filters(states=tuple(State)), after, PAGE)
    if len(numbers) == PAGE:
        meta.put(edit, _SCANNED, str(numbers[-1]))
        return numbers, True
    meta.drop(edit, _SCANNED)
    return [*numbers, *(each.memory for each in replica.gone(edit, None))], False


@dataclass
class Capturing:
    """One transaction's changes on their way into blocks."""

    edit: Edit
    me: Origin
    clock: str = ""
    fields: list[list[Any]] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.clock = clock_of(self.edit)
        self._now_ms = int(self.edit.engine.now().timestamp() * 1000)
        self._rules = self.edit.engine.rules
        self._own = replica.spoken_as(self.edit, self.me.key)

    def _tick(self) -> str:
        self.clock = ticked(self.clock, self._now_ms)
        return self.clock

    def _tell(self, kind: str, key: tuple[str, str, str], body: Any, fields: Sequence[Any], other: str = "") -> None:
        clock = self._tick()
        said = "null" if body is None else json.dumps(body, default=str)
        replica.put_register(self.edit, Register(kind, *key, clock, self.me.origin, said, other))
        self.fields.append([kind, clock, *fields])

    # -- memories --------------------------------------------------------------------------------------------------

    def look_at(self, numbers: Sequence[int]) -> None:
        """Capture what changed of these memories, and which of them are gone."""
        rows, known = self.edit.load(numbers), replica.known(self.edit, numbers)
        for n in numbers:
            if n in rows:
                self._look_at(n, rows[n], known.get(n))
        for each in replica.gone(self.edit, list(numbers)):
            self._bury(each)

    def _look_at(self, n: int, stored: Stored, before: Known | None) -> None:
        memory = rescrubbed(stored.memory, stored.scrub_version, self._rules)
        if memory.state is State.QUARANTINED:
            return
        body = changes.body_of(memory)
        said, hashed = changes.said_by(body), changes.hash_of(body)
        twin = before.twin if before is not None and memory.state is State.ARCHIVED else ""
        state = before.state if before is not None and twin else self._state_of(n, memory.state)
        if before is not None and before.hash == hashed and not self._is_revived(before, memory.state):
            said = before.said  # of what was told, which may have been scrubbed on its way in
        else:
            self._tell(replica.MEMORY, (memory.id, "", ""), body, (memory.id, body))
        after = Known(n, memory.id, said, hashed, state, twin)
        if state != (before.state if before is not None else ""):
            self._tell_state(n, memory.id, state)
        if after != before:
            replica.put_known(self.edit, after)
        if before is not None and before.said != said:
            self._changed_text(before, after)
        elif before is None or not twin:
            settle_twins(self.edit, said)
        self._look_at_evidence(after)

    def _is_revived(self, before: Known, state: State) -> bool:
        """Tell whether a memory that was deleted elsewhere, and only archived here, was put back."""
        if not before.state or state is State.ARCHIVED:
            return False
        register = replica.register(self.edit, replica.MEMORY, before.id)
        return register is not None and register.body == "null"

    def _changed_text(self, before: Known, after: Known) -> None:
        for said in (before.said, after.said):
            settle_twins(self.edit, said)
        derive(self.edit, after, self._own)

    def _state_of(self, n: int, state: State) -> str:
        if state is not State.ARCHIVED:
            return ""
        return f"archived:{merges.into(self.edit, [n]).get(n, '')}"

    def _tell_state(self, n: int, memory_id: str, state: str) -> None:
        archived = trust.archived(self.edit, n) if state else None
        why = door.clean(archived[1], self._rules)[:1_000] if archived else ""
        into = state.removeprefix("archived:") if state else ""
        body = {"archived": bool(state), "why": why}
        self._tell(replica.STATE, (memory_id, "", ""), body, (memory_id, bool(state), why, into), into)

    def _bury(self, each: Known) -> None:
        replica.drop_known(self.edit, each.memory)
        register = replica.register(self.edit, replica.MEMORY, each.id)
        if register is not None and not self._is_blocked(register.origin):
            self._tell(replica.MEMORY, (each.id, "", ""), None, (each.id, None))
        settle_twins(self.edit, each.said)

    def _is_blocked(self, origin: str) -> bool:
        """Tell whether a peer's lessons are unwanted here: that is for this bank to say, and for no other."""
        name = f"{replica.PREFIX}{replica.origins(self.edit)[origin].name}"
        return bool(trust.blocked_among(self.edit, [name]))

    # -- evidence --------------------------------------------------------------------------------------------------

    def _look_at_evidence(self, known: Known) -> None:
        """Capture this bank's own signals about a memory, and what was rolled up before it could be captured."""
        told = replica_evidence.pieces(self.edit, known.id, known.said, self._own)
        pieces = {piece.id: piece for piece in self._signals(known)}
        rest = self._rolled_up(known, told | pieces)
        news = [piece for piece in (*pieces.values(), *rest) if told.get(piece.id) != piece]
        replica_evidence.put_pieces(self.edit, known.id, known.said, self.me.origin, news)
        if len(self._own) > 1 and any(piece.id in told for piece in news):
            # What was lost here, and came back, may have been said anew.
            derive(self.edit, known, self._own)
        for start in range(0, len(news), changes.PIECES_LIMIT // 4):
            some = news[start : start + changes.PIECES_LIMIT // 4]
            self.fields.append(["e", known.id, known.said.hex(), [changes.piece_fields(piece) for piece in some]])

    def _signals(self, known: Known) -> Iterable[Piece]:
        for ref, kind, day, judge, superseded, positive, negative, at, validates in replica_evidence.own_signals(
            self.edit, known.memory
        ):
            taught = json.dumps(json.loads(validates))
            # The reference names a run of this bank's, which is nobody else's business.
            name = _hashed(self.me.key, known.id, known.said.hex(), ref, kind)
            yield Piece(name, kind, day, judge, superseded, positive, negative, at, taught)

    def _rolled_up(self, known: Known, told: dict[str, Piece]) -> Iterable[Piece]:
        signals = signal_sums(piece for piece in told.values() if not piece.id.startswith("s"))
        for key, (positive, negative, last) in replica_evidence.own_sums(self.edit, known.memory).items():
            plus, minus, _ = signals.get(key, (0, 0, ""))
            name = "s" + _hashed(self.me.key, known.id, known.said.hex(), *map(str, key))[1:]
            before = told.get(name)
            rest = positive - plus, negative - minus
            least = (before.positive, before.negative) if before else (0, 0)
            if rest[0] > least[0] or rest[1] > least[1]:
                kind, day, judge, superseded = key
                most = max(rest[0], least[0], 0), max(rest[1], least[1], 0)
                yield Piece(name, kind, day, judge, superseded, *most, last, "[]")

    # -- links -----------------------------------------------------------------------------------------------------

    def look_at_links(self) -> None:
        """Capture the links between exchanged memories that are new, changed or gone."""
        told = replica.link_registers(self.edit)
        there = set()
        for source, target, type_, strength, evidence, judge, at in replica.changed_links(self.edit):
            key = (source, target, type_)
            there.add(key)
            texts = (door.clean(evidence, self._rules), door.clean(judge, self._rules)[:200])
            body = {"strength": strength, "evidence": texts[0], "by": texts[1], "at": at}
            before = told.get(key)
            if before is None or _differs(json.loads(before.body), body):
                self._tell(replica.LINK, key, body, (*key, body))
        for key, before in told.items():
            ends = [replica.known_by_id(self.edit, end) for end in key[:2]]
            if before.body != "null" and key not in there and all(ends):
                self._tell(replica.LINK, key, None, (*key, None))

    # -- what the evidence taught ----------------------------------------------------------------------------------

    def look_at_fit(self) -> None:
        """Capture this bank's fit of the confidence model, behind the evidence by which it counts."""
        me = self.me.origin
        if (own := fits.untold(self.edit, me)) is None:
            return
        own = own._replace(clock=self._tick(), judged=replica_evidence.judged_by_origin(self.edit, me))
        fits.put(self.edit, own)
        fits.settle(self.edit, self.edit.engine.now())
        self.fields.append([replica.FIT, own.clock, own.told])

    # -- blocks ----------------------------------------------------------------------------------------------------

    def seal(self, sign: Sign) -> None:
        """Put the changes into signed blocks, and note the clock."""
        self.count = len(self.fields)
        for some in _in_blocks(self.fields):
            first = self.me.have + 1
            block = Block(self.me.origin, first, first + len(some) - 1, changes.pack(self.me.head, some))
            replica.put_block(self.edit, block._replace(signature=sign(block.signed)))
            at = time_text(self.edit.engine.now())
            self.me = self.me._replace(have=block.last, head=block.signed, at=at)
        if self.fields:
            replica.put_origin(self.edit, self.me)
            meta.put(self.edit, _CLOCK, self.clock)


def _differs(before: dict[str, Any] | None, now: dict[str, Any]) -> bool:
    if before is None:
        return True
    return any(before[name] != now[name] for name in ("strength", "evidence", "by"))


def _hashed(*parts: str) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _in_blocks(fields: Sequence[list[Any]]) -> Iterable[list[list[Any]]]:
    some: list[list[Any]] = []
    size = 0
    for each in fields:
        length = len(json.dumps(each, default=str))
        if some and (len(some) >= BLOCK_CHANGES or size + length > BLOCK_BYTES):
            yield some
            some, size = [], 0
        some.append(each)
        size += length
    if some:
        yield some
