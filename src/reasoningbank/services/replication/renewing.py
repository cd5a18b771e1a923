"""A bank that was put back to an earlier state, and copies of one: it goes on as another origin of the same key.

Others hold blocks of its own that it does not know. From then on it tells what it says under a new name behind its key,
and takes back what it spoke as before like blocks of anybody. Blocks that it told since, under numbers that others know
with other changes, are given up by all, and told again under the new name: nothing is lost, and nothing counts twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from reasoningbank.errors import BusRefusedError
from reasoningbank.replication import HERE, Block, begun_anew, key_of
from reasoningbank.services.replication import changes
from reasoningbank.services.replication.applying import Taking, believe, learn
from reasoningbank.services.replication.capture import PAGE, Capturing, Sign, own_origin
from reasoningbank.services.replication.changes import EvidenceChange, FitChange, GivenUpChange
from reasoningbank.services.view import Edit, View
from reasoningbank.signals import time_text
from reasoningbank.storage import fits, replica, replica_evidence
from reasoningbank.storage.replica import SPEAKS, Origin, Register


def is_here(view: View, block: Block) -> bool:
    """Tell whether a block is here, or was given up by its bank."""
    if replica.block_at(view, block.origin, block.first) == block:
        return True
    return replica.register(view, replica.GIVEN_UP, block.origin, block.signed.hex()) is not None


def before(edit: Edit, origin: Origin, block: Block, previous: bytes, kid: str) -> Block | None:
    """Return the block here that one follows; None when it is the first of all.

    Another bank's follows its newest here. A bank's own may follow an earlier one: it was put back since.

    Raises:
        BusRefusedError: it follows none.
    """
    if block.first == origin.have + 1 and previous == origin.head:
        return replica.block_ending(edit, origin.origin, origin.have)
    if origin.key == kid:
        found = replica.block_ending(edit, origin.origin, block.first - 1)
        if previous == (b"" if found is None else found.signed) and (found is not None or block.first == 1):
            return found
    elif block.first > origin.have + 1:
        raise BusRefusedError("gap", f"change {origin.have + 1} of {origin.name} comes next, not {block.first}")
    raise BusRefusedError("forked", f"{origin.name or HERE} said something else before than what is known here")


def make_room(taking: Taking, behind: Block | None, sign: Sign) -> None:
    """Let a bank's own block that it does not know follow one of its blocks: it goes on as another origin."""
    edit, have = taking.edit, 0 if behind is None else behind.last
    if taking.origin.own == SPEAKS:
        _begin_anew(edit, taking.origin)
    if have < taking.origin.have:
        _give_up(taking, taking.origin.origin, behind, sign)
    taking.origin = replica.origins(edit)[taking.origin.origin]


def heed(taking: Taking, change: GivenUpChange, sign: Sign) -> None:
    """Let go of blocks that their bank gave up, and of what follows them."""
    edit = taking.edit
    if key_of(change.origin) != taking.origin.key or change.origin == taking.origin.origin:
        return
    for _, signed in change.blocks:
        given_up = Register(replica.GIVEN_UP, change.origin, signed, "", "", taking.origin.origin, "")
        replica.put_register(edit, given_up)
    ended = replica.origins(edit).get(change.origin)
    if ended is None:
        return
    for first, signed in sorted(change.blocks):
        there = replica.block_at(edit, change.origin, first)
        if there is not None and there.signed.hex() == signed:
            if ended.own == SPEAKS:
                _begin_anew(edit, ended)
            _give_up(taking, change.origin, replica.block_ending(edit, change.origin, first - 1), sign)
            return


def _begin_anew(edit: Edit, old: Origin) -> None:
    """Let this bank speak as another origin of its key from now on; what it fitted goes with it."""
    now = edit.engine.now()
    known = replica.spoken_as(edit, old.key)
    new = begun_anew(old.key, int(now.timestamp() * 1000), secrets.token_hex(2), known)
    own = fits.of(edit, old.origin)
    replica.end_speaking(edit, HERE)
    replica.put_origin(edit, Origin(new, "", SPEAKS, 0, b"", time_text(now)))
    if own is not None:
        fits.put(edit, own._replace(origin=new, clock="", judged=0))
        if not own.clock:
            replica.drop_fit(edit, old.origin)


def _give_up(taking: Taking, origin: str, behind: Block | None, sign: Sign) -> None:
    """Let go of an origin's blocks behind one; a bank tells its own ones again, as what it speaks as now."""
    edit = taking.edit
    ended = replica.origins(edit)[origin]
    dropped = _rewound(edit, ended, behind)
    for block in dropped:
        for change in changes.unpack(block)[1]:
            if isinstance(change, EvidenceChange):
                taking.touched[change.id, change.said] = None
                taking.teaches = True
    taking.fitted = True
    if ended.key == taking.kid:
        _retell(edit, ended, dropped, own_origin(edit, taking.kid), sign)


def _rewound(edit: Edit, ended: Origin, behind: Block | None) -> list[Block]:
    """Hold an origin's blocks up to one, and its evidence and fit as these tell it; return the others.

    What a memory says, its state and its links stay as they are: they are told again, and the newest holds.
    """
    have = 0 if behind is None else behind.last
    dropped = list(_blocks(edit, ended.origin, have))
    replica.drop_blocks(edit, ended.origin, have)
    replica_evidence.drop_pieces(edit, ended.origin)
    replica.drop_fit(edit, ended.origin)
    for block in _blocks(edit, ended.origin, 0):
        for change in changes.unpack(block)[1]:
            if isinstance(change, EvidenceChange):
                believe(edit, ended.origin, change)
            elif isinstance(change, FitChange):
                learn(edit, ended.origin, change)
    head = b"" if behind is None else behind.signed
    replica.put_origin(edit, ended._replace(have=have, head=head, at=time_text(edit.engine.now())))
    return dropped


def _blocks(edit: Edit, origin: str, have: int) -> Iterator[Block]:
    while some := replica.blocks_after(edit, origin, have, PAGE):
        yield from some
        have = some[-1].last


def _retell(edit: Edit, ended: Origin, dropped: Sequence[Block], me: Origin, sign: Sign) -> None:
    """Tell the changes of blocks that are given up as what this bank speaks as now."""
    telling = Capturing(edit, me)
    named = [[block.first, block.signed.hex()] for block in dropped]
    for start in range(0, len(named), PAGE):
        telling.fields.append([replica.GIVEN_UP, ended.origin, named[start : start + PAGE]])
    clocks = []
    for block in dropped:
        replica.put_register(edit, Register(replica.GIVEN_UP, ended.origin, block.signed.hex(), "", "", me.origin, ""))
        for fields, change in zip(changes.opened(block)[1], changes.unpack(block)[1], strict=True):
            if isinstance(change, FitChange):
                continue  # the fit that is in force goes with the bank
            telling.fields.append(fields)
            if isinstance(change, EvidenceChange):
                believe(edit, me.origin, change)
        clocks += changes.clocks(changes.unpack(block)[1])
    replica.take_over(edit, ended.origin, me.origin, clocks)
    telling.seal(sign)
