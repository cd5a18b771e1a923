"""Taking blocks of another bank's: checked, scrubbed, inspected, embedded, and put in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Final, NamedTuple

from reasoningbank.embed.base import Embedder
from reasoningbank.errors import BusRefusedError, InvalidInputError
from reasoningbank.memory import Source
from reasoningbank.replication import CLOCK_AHEAD_MS, HERE, Block, Taken, Terms, milliseconds
from reasoningbank.services.engine import Engine
from reasoningbank.services.record.preparing import Prepared, clean, embed
from reasoningbank.services.record.storing import check_embedder
from reasoningbank.services.replication import changes, renewing
from reasoningbank.services.replication.applying import Taking
from reasoningbank.services.replication.capture import PAGE, Sign, capture_some, clock_of, note_seen
from reasoningbank.services.replication.changes import Change, MemoryChange
from reasoningbank.services.view import Edit
from reasoningbank.signals import time_text
from reasoningbank.storage import replica
from reasoningbank.storage.replica import OTHER, SPOKE, Origin

OWN: Final = Terms(HERE, trusted=True)
"""On which a bank takes back what it said itself."""
MOST_ORIGINS: Final = 256
"""As how many origins a bank may go on, one behind the other: each is in every digest from then on."""


def take(engine: Engine, blocks: Sequence[Block], terms: Terms, kid: str, sign: Sign) -> Taken:
    """Take the first of some blocks of an origin whose signatures were checked, in one transaction.

    Each is there whole afterwards, or nothing of it. What is this bank's own is taken on its own terms.

    Raises:
        BusRefusedError: with the reason why the first is refused; nothing was changed.
    """
    if blocks[0].key == kid:
        terms = OWN
    with engine.read() as view:
        # Asked of several peers, a block comes several times: to look is a hundredth of the work of taking it.
        here = sum(1 for _ in takewhile(lambda block: renewing.is_here(view, block), blocks))
    if here:
        return Taken(known=True, blocks=here)
    read = _read(engine, blocks, terms)

    def attempt(embedder: Embedder) -> Taken:
        lessons = iter(embed(embedder, [lesson for each in read for lesson in each.lessons.values()]))
        embedded = [each._replace(lessons={place: next(lessons) for place in each.lessons}) for each in read]
        return _take(engine, embedded, terms, kid, sign)

    return engine.with_embedder(attempt)


class _Incoming(NamedTuple):
    """A block that was read: the hash of the one before, its changes, and its lessons by their change's place."""

    block: Block
    previous: bytes
    changes: Sequence[Change | None]
    lessons: Mapping[int, Prepared]


def _read(engine: Engine, blocks: Sequence[Block], terms: Terms) -> list[_Incoming]:
    """Read the first blocks, up to what a transaction may take; at least one."""
    read: list[_Incoming] = []
    size = 0
    for block in blocks:
        size += block.last - block.first + 1
        if read and (size > PAGE or block.origin != blocks[0].origin):
            break
        try:
            previous, parsed = changes.unpack(block)
        except BusRefusedError:
            if not read:
                raise
            break
        prepared, understood = _prepared(engine, parsed, terms)
        read.append(_Incoming(block, previous, understood, prepared))
    return read


def _prepared(
    engine: Engine, parsed: Sequence[Change | None], terms: Terms
) -> tuple[dict[int, Prepared], list[Change | None]]:
    """Return the lessons of changes, scrubbed and inspected, by the change's place; and the changes understood."""
    source = Source(how="replicated", by=f"{replica.PREFIX}{terms.name}", trusted=terms.trusted)
    prepared: dict[int, Prepared] = {}
    understood = list(parsed)
    for place, change in enumerate(parsed):
        if isinstance(change, MemoryChange) and change.body is not None:
            try:
                draft, _ = changes.draft_of(change.body, source)
                prepared[place] = clean(draft, change.id, engine.rules)
            except (InvalidInputError, ValueError, OverflowError):
                understood[place] = None
    return prepared, understood


def _take(engine: Engine, incoming: Sequence[_Incoming], terms: Terms, kid: str, sign: Sign) -> Taken:
    with engine.write() as edit:
        check_embedder(edit, [lesson for each in incoming for lesson in each.lessons.values()])
        more = True
        while more:
            # What was said here came before this: a memory that is about to change is told as it was.
            _, more = capture_some(edit, kid, sign)
        taking = Taking(edit, _origin(edit, incoming[0].block, terms, kid), terms, kid, clock_of(edit))
        for each in incoming:
            try:
                _take_one(taking, each, sign)
            except BusRefusedError:
                # It is refused before anything of it is written; those before it stay.
                if not taking.blocks:
                    raise
                break
        replica.put_origin(edit, taking.origin)
        for change in taking.given_up:
            renewing.heed(taking, change, sign)
        taking.finish()
        note_seen(edit, taking.clock)
        return taking.result()


def _take_one(taking: Taking, incoming: _Incoming, sign: Sign) -> None:
    block, understood, now = incoming.block, incoming.changes, taking.edit.engine.now()
    if renewing.is_here(taking.edit, block):
        taking.blocks += 1
        return
    behind = renewing.before(taking.edit, taking.origin, block, incoming.previous, taking.kid)
    _check_clock(understood, now)
    taking.spend(understood, len(block.body))
    if taking.origin.key == taking.kid:
        renewing.make_room(taking, behind, sign)
    for place, change in enumerate(understood):
        taking.apply(change, incoming.lessons.get(place))
    replica.put_block(taking.edit, block)
    taking.origin = taking.origin._replace(have=block.last, head=block.signed, at=time_text(now))
    taking.clock = max([taking.clock, *changes.clocks(understood)])
    taking.blocks += 1
    taking.news += 1


def _origin(edit: Edit, block: Block, terms: Terms, kid: str) -> Origin:
    origins = replica.origins(edit)
    known = origins.get(block.origin)
    if known is not None:
        return known
    if any(origin.name == terms.name and origin.key != block.key for origin in origins.values()):
        raise BusRefusedError("forked", f"{terms.name!r} is the name of another key that was here before")
    if sum(origin.key == block.key for origin in origins.values()) >= MOST_ORIGINS:
        raise BusRefusedError("cap", f"{terms.name} began anew {MOST_ORIGINS} times: it needs a new key")
    whose = SPOKE if block.key == kid else OTHER
    new = Origin(block.origin, terms.name, whose, 0, b"", time_text(edit.engine.now()))
    replica.put_origin(edit, new)
    return new


def _check_clock(understood: Sequence[Change | None], now: datetime) -> None:
    latest = int(now.timestamp() * 1000) + CLOCK_AHEAD_MS
    if any(milliseconds(clock) > latest for clock in changes.clocks(understood)):
        raise BusRefusedError("clock", f"it is said to be of more than {CLOCK_AHEAD_MS // 60_000} minutes from now")
