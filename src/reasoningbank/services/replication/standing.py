"""How far each origin's changes are here, and what was taken and refused of them today."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reasoningbank.replication import Block, OriginStatus, key_of
from reasoningbank.services.engine import Engine
from reasoningbank.services.view import View
from reasoningbank.signals import day_number
from reasoningbank.storage import meta, replica

_REFUSED: Final = "refused:"
_NEWEST: Final = "replica_newest"
UNKNOWN: Final = "others"
"""For whom refusals are counted that are of no known origin: whoever knocks must not fill the table."""


def have(engine: Engine) -> dict[str, int]:
    """Return the newest change of each origin that is here with all before it."""
    with engine.read() as view:
        return {origin.origin: origin.have for origin in replica.origins(view).values()}


def blocks(engine: Engine, origin: str, after: int, most: int) -> list[Block]:
    """Return blocks of an origin behind a change."""
    with engine.read() as view:
        return replica.blocks_after(view, origin, after, most)


def ends(engine: Engine, origin: str, change: int) -> str:
    """Return the hash of the block of an origin that ends with a change; "" when none does."""
    with engine.read() as view:
        block = replica.block_ending(view, origin, change)
        return "" if block is None else block.signed.hex()


def refuse(engine: Engine, origin: str, reason: str) -> None:
    """Count a refusal."""
    with engine.write() as edit:
        key = key_of(origin)
        who = key if any(known.key == key for known in replica.origins(edit).values()) else UNKNOWN
        replica.spend(edit, who, day_number(engine.now()), {f"{_REFUSED}{reason}": 1})


def status(engine: Engine) -> list[OriginStatus]:
    """Say how each origin stands, and what was refused of those that are none."""
    with engine.read() as view:
        today, told = day_number(engine.now()), _told(view)
        found: dict[str, OriginStatus] = {}
        for origin in replica.origins(view).values():
            # A bank that began anew is one bank to people, whatever its origins are.
            before = found.get(origin.key, OriginStatus(origin.key, "" if origin.own else origin.name, 0))
            have, newest = before.have + origin.have, before.newest + told.get(origin.origin, 0)
            found[origin.key] = replace(before, have=have, newest=newest)
        found[UNKNOWN] = OriginStatus(UNKNOWN, UNKNOWN, 0)
        parts = {key: _parted(replica.spent(view, key, today)) for key in found}
        return [replace(each, spent=parts[key][0], refused=parts[key][1]) for key, each in found.items()]


def heard(engine: Engine, newest: Mapping[str, int]) -> None:
    """Note what peers told of the newest changes there are, for whoever asks how far this bank is behind."""
    with engine.write() as edit:
        meta.put(edit, _NEWEST, json.dumps(dict(sorted(newest.items()))))


def _told(view: View) -> dict[str, int]:
    return dict(json.loads(meta.read(view).get(_NEWEST, "{}")))


def _parted(spent: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    taken = {what: many for what, many in spent.items() if not what.startswith(_REFUSED)}
    return taken, {what.removeprefix(_REFUSED): many for what, many in spent.items() if what.startswith(_REFUSED)}
