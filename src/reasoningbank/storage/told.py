"""What a vector engine beside the records was told of a project's vectors, remembered with the project."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from reasoningbank.storage import meta
from reasoningbank.storage.contract import Reading, Writing

LAG = 60.0
"""Seconds after which an engine surely shows what it was told, on whatever replica it is asked."""

_KEY = "vectors in "


@dataclass(frozen=True, slots=True)
class Told:
    """How far an engine was told what is in the change feed.

    Attributes:
        collection: where the engine holds the vectors.
        dim: numbers of each.
        key: the project's own in there.
        place: where the project was then; a copy of it elsewhere begins anew.
        generation: whose vectors they are.
        newest: the change up to which it was told everything.
        before: the same, one time earlier.
        at: when it was told up to `newest`, in seconds since 1970.
    """

    collection: str
    dim: int
    key: str
    place: str
    generation: int
    newest: int
    before: int
    at: float

    def shown(self, now: float) -> int:
        """Return the change up to which it surely shows everything by now."""
        return self.newest if now - self.at >= LAG else self.before


def place_of(where: str) -> str:
    """Return what `Told.place` says for the place of a project."""
    return hashlib.sha256(where.encode()).hexdigest()[:16]


def read(reading: Reading, engine: str, place: str) -> Told | None:
    """Return what the engine at an address was told last from this place; None when nothing."""
    row = reading.execute("SELECT value FROM meta WHERE key = ?", (_key(engine, place),)).fetchone()
    return None if row is None else Told(**json.loads(row[0]))


def put(writing: Writing, engine: str, told: Told) -> None:
    """Remember what it was told."""
    meta.put(writing, _key(engine, told.place), json.dumps(asdict(told)))


def _key(engine: str, place: str) -> str:
    # Who reaches the project by another path has a part of his own; to share one, they would have to trust a copy's.
    return f"{_KEY}{engine} from {place}"


def every(reading: Reading, where: str) -> dict[str, Told]:
    """Return what engines were told of the very project in a place, by their addresses."""
    end = f" from {place_of(where)}"
    return {
        key.removeprefix(_KEY).removesuffix(end): Told(**json.loads(value))
        for key, value in meta.read(reading).items()
        if key.startswith(_KEY) and key.endswith(end)
    }
