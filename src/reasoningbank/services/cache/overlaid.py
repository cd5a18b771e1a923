"""The cache of vectors where an engine beside the records holds them: what it may not show yet is held here."""

from __future__ import annotations

import hashlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reasoningbank.errors import ReasoningBankError, StorageError
from reasoningbank.services.cache.snapshots import Filled
from reasoningbank.services.cache.vectors import VectorCache
from reasoningbank.storage import told as tellings
from reasoningbank.storage.contract import Generation, Reading
from reasoningbank.storage.place import Project
from reasoningbank.storage.stored_vectors import BATCH, Row, StoredVectors, Tail
from reasoningbank.storage.told import Told
from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.flat import FlatIndex
from reasoningbank.vectors.overlaid import overlaid
from reasoningbank.vectors.remote import AwayError, Part, VectorEngine, checked_address, open_engine

log = logging.getLogger("reasoningbank")

TELL = 64
"""Vectors that came since the engine was told last, from which on it is told."""

RETRY = 5.0
"""Seconds in which an engine that was away is not asked again."""


@dataclass
class Held(Filled):
    """What an engine may not show yet.

    Attributes:
        part: where the engine has everything else; None when everything is held here.
    """

    part: Part | None = None


class OverlaidCache(VectorCache):
    """The vectors of one project as an engine has them, with what it may not show yet laid over.

    Nothing depends on how consistent the engine is. What changed since it was told, and for some time after that, is
    held and searched here; what it finds is looked up in the records, which drop what is gone, and scored again. It is
    told beside the requests, never inside a write, by whichever process gets to it first. To tell twice does no harm:
    the id of a vector is never used again, and a vector never changes.

    Args:
        address: of the engine, as the setting has it.
        place: where the project is.

    Raises:
        InvalidInputError, MissingExtraError: as of `checked_address`.
    """

    def __init__(
        self, stored: StoredVectors, rebuilt: Callable[[VectorCache], None], *, address: str, place: str
    ) -> None:
        super().__init__(stored, rebuilt)
        checked_address(address)
        self.address = address
        self._place = tellings.place_of(place)
        self._asked_again = self._told_again = -math.inf
        self._shows_more = math.inf
        self._trusted, self._lost, self._away_text = "", "", ""

    def nearest(
        self, reading: Reading, vector: Float32, k: int, allowed: Int64 | None = None, least: float = -math.inf
    ) -> tuple[Int64, Float32]:
        self.said.problem = None
        filled = self.follow(reading)
        part = filled.part if isinstance(filled, Held) else None
        # Where everything is held, nobody is missed who is away.
        engine = None if part is None else self._engine(reading, part)
        if filled is None or part is None or engine is None:
            return super().nearest(reading, vector, k, allowed, least)
        owners: dict[int, int] = {}

        def exact(ids: Int64) -> tuple[Int64, Float32]:
            rows = [row for batch in self._stored.these(reading, filled.generation, ids.tolist()) for row in batch]
            owners.update((row[0], row[1]) for row in rows)
            return _arrays(rows, part.dim)

        try:
            ids, cosines = overlaid(filled.index, engine, part, exact, vector, k, allowed=allowed, least=least)
        except AwayError as error:
            self._is_away(error)
            return super().nearest(reading, vector, k, allowed, least)
        of = np.array([owners.get(n) or filled.owners.get(n, 0) for n in ids.tolist()], dtype=np.int64)
        return of[of > 0], cosines[of > 0]

    def follow(self, reading: Reading, tail: Tail | None = None) -> Filled | None:
        """Bring what is held up to the state that a transaction sees; let go of what the engine shows by now."""
        now = time.monotonic()
        if now >= self._shows_more:
            self._shows_more = math.inf
            self.drop()
        filled = super().follow(reading, tail)
        if filled is not None and len(filled.index) >= TELL and now >= self._told_again:
            self._told_again = now + tellings.LAG
            self._rebuilt(self)
        return filled

    def _engine(self, reading: Reading, part: Part) -> VectorEngine | None:
        """Return the engine; None when it is away, or lost what it had."""
        if time.monotonic() < self._asked_again:
            self.said.problem = self._away_text
            return None
        try:
            engine = open_engine(self.address)
            return engine if part.key == self._trusted or self._has_everything(reading, engine, part) else None
        except AwayError as error:
            self._is_away(error)
            return None

    def _has_everything(self, reading: Reading, engine: VectorEngine, part: Part) -> bool:
        """Tell whether the engine still has what it was told; if not, all is held here until it was told anew."""
        filled = self.follow(reading)
        if filled is None or engine.count(part) >= self._stored.count(reading, filled.generation) - len(filled.index):
            self._trusted = part.key
            return True
        log.warning("the vector engine %s lost vectors of this project: it is told them anew", self.address)
        self._lost = part.key
        self.drop()
        return False

    def _is_away(self, error: AwayError) -> None:
        self._asked_again = time.monotonic() + RETRY
        self._away_text = (
            f"the vector engine {self.address} did not answer ({error}): searched by keywords and by what this "
            "process holds"
        )
        self.said.problem = self._away_text
        log.warning("%s", self._away_text)

    # -- what is held ----------------------------------------------------------------------------------------------

    def _loaded(self, reading: Reading) -> Filled | None:  # noqa: ARG002 - there is no snapshot of it
        return None

    def _grew(self, filled: Filled) -> bool:  # noqa: ARG002 - as above
        return False

    def _build(self, reading: Reading, current: Generation, newest: int) -> Filled:
        known = self._known(reading, current)
        since = -1 if known is None else known.shown(time.time())
        tail = None if known is None or since < 0 else self._stored.tail(reading, since)
        if known is None or tail is None:
            return super()._build(reading, current, newest)
        part = Part(known.collection, known.dim, known.key)
        return self._follow(reading, Held(current.number, FlatIndex(current.dim), since, part=part), tail)

    def _known(self, reading: Reading, current: Generation) -> Told | None:
        """Return what the engine was told of this generation of this very project."""
        known = tellings.read(reading, self.address, self._place)
        return known if known is not None and known.key != self._lost and known.generation == current.number else None

    # -- telling the engine ----------------------------------------------------------------------------------------

    def keep(self, project: Project) -> None:
        """Tell the engine what changed since it was told last, if that is due; what it refuses is told another time."""
        if project.read_only:
            return
        try:
            self._tell(project)
        except AwayError as error:
            self._is_away(error)
        except StorageError as error:
            log.debug("the vector engine was not told: %s", error)

    def _tell(self, project: Project) -> None:
        with project.read() as reading:
            current, newest = reading.moment.generation, self._stored.newest(reading.moment)
            last = tellings.read(reading, self.address, self._place)
            known = None if current is None else self._known(reading, current)
            tail = None if known is None else self._stored.tail(reading, known.newest)
            whole = () if tail is not None or current is None else self._stored.ids(reading, current.number)
        if current is None or (known is not None and self._is_early(known, tail)):
            return
        engine = open_engine(self.address)
        if known is None or tail is None:
            part, new = Part(_collection(engine.prefix, current), current.dim, secrets.token_hex(16)), whole
            after = Told(*part, self._place, current.number, newest, -1, 0.0)
        else:
            part, new = Part(known.collection, known.dim, known.key), tail.vectors("put")
            after = replace(known, newest=newest, before=known.newest)
        self._put(project, engine, part, current.number, new)
        engine.remove(part, np.array([] if tail is None else tail.vectors("delete"), dtype=np.int64))
        after = replace(after, at=time.time())
        with project.write() as writing:
            if first := tellings.read(writing, self.address, self._place) == last:
                tellings.put(writing, self.address, after)
            kept = [row[0] for batch in self._stored.these(writing, current.number, new) for row in batch]
        self._shows_more = time.monotonic() + tellings.LAG
        if last is not None and first and last.key != part.key:
            engine.drop(Part(last.collection, last.dim, last.key))
        elif not first and after.before < 0:
            engine.drop(part)
        elif not first:
            # Another process was first, and may have told already what was deleted since.
            engine.remove(part, np.setdiff1d(np.array(new, dtype=np.int64), kept))

    def _is_early(self, known: Told, tail: Tail | None) -> bool:
        """Tell whether there is too little to tell, or the engine may not show yet what it was told last."""
        if time.time() - known.at < tellings.LAG:
            # What another process told is let go of here too.
            self._shows_more = min(self._shows_more, time.monotonic() + tellings.LAG)
            return True
        return tail is not None and len(tail.vectors("put")) < TELL and not tail.vectors("delete")

    def _put(self, project: Project, engine: VectorEngine, part: Part, generation: int, ids: Sequence[int]) -> None:
        for start in range(0, len(ids), BATCH):
            # A transaction for each: none stays open while the engine takes its time.
            with project.read() as reading:
                batches = list(self._stored.these(reading, generation, ids[start : start + BATCH]))
            for rows in batches:
                engine.put(part, *_arrays(rows, part.dim))


def _arrays(rows: Sequence[Row], dim: int) -> tuple[Int64, Float32]:
    vectors = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32)
    return np.array([row[0] for row in rows], dtype=np.int64), vectors.reshape(len(rows), dim)


def _collection(prefix: str, current: Generation) -> str:
    """Return the name of an embedder's collection."""
    whose = hashlib.sha256(repr(tuple(current)[1:]).encode()).hexdigest()[:12]
    return f"{prefix}_{current.dim}_{whose}"


def drop_told(told: Mapping[str, Told]) -> None:
    """Take out of engines, by their addresses, what they were told of a project that is gone, as far as they answer."""
    for address, each in told.items():
        try:
            open_engine(address).drop(Part(each.collection, each.dim, each.key))
        except (AwayError, ReasoningBankError) as error:
            log.warning("vectors of a deleted project stay in %s, as %s: %s", address, each.key, error)
