"""An index of which an engine has a part, some of it out of date."""

from __future__ import annotations

import math
import secrets
import tempfile
from functools import cache

import numpy as np

from reasoningbank.vectors.base import Float32, Int64, checked_rows
from reasoningbank.vectors.faiss import FaissIndex, Fetch
from reasoningbank.vectors.overlaid import overlaid
from reasoningbank.vectors.remote import Part, VectorEngine, open_engine


class Laid(FaissIndex):
    """What is held laid over an engine, which is told of new even ids only, and forgets only every fourth that goes.

    What is put again is held, so that the engine has an old vector of it.
    """

    def __init__(self, dim: int, engine: VectorEngine) -> None:
        super().__init__(dim)
        self._stored: dict[int, Float32] = {}
        self._engine, self._part = engine, Part(f"c{dim}", dim, secrets.token_hex(16))

    def __len__(self) -> int:
        return len(self._stored)

    def add(self, ids: Int64, vectors: Float32) -> None:
        ids, rows = checked_rows(ids, vectors, self.dim)
        told = np.array([n % 2 == 0 and n not in self._stored for n in ids.tolist()], dtype=bool)
        with self._lock.writing():
            self._stored.update(zip(ids.tolist(), rows.copy(), strict=True))
            self._engine.put(self._part, ids[told], rows[told])
        super().add(ids[~told], rows[~told])

    def remove(self, ids: Int64) -> None:
        with self._lock.writing():
            for number in ids.tolist():
                self._stored.pop(number, None)
            self._engine.remove(self._part, ids[(ids % 4 == 0) & (ids >= 0)])
        super().remove(ids)

    def search(
        self,
        query: Float32,
        k: int,
        *,
        allowed: Int64 | None = None,
        fetch: Fetch | None = None,
        least: float = -math.inf,
    ) -> tuple[Int64, Float32]:
        # One state of the truth, as a transaction sees it.
        with self._lock.reading():
            held, truth = FaissIndex(self.dim), dict(self._stored)
            own = np.array([number for number in self._place if number in self._stored], dtype=np.int64)
            held.add(own, self.get(own))

        def exact(ids: Int64) -> tuple[Int64, Float32]:
            there = [number for number in ids.tolist() if number in truth]
            rows = np.array([truth[number] for number in there], dtype=np.float32).reshape(-1, self.dim)
            return np.array(there, dtype=np.int64), rows

        return overlaid(held, self._engine, self._part, exact, query, k, allowed=allowed, least=least)

    def get(self, ids: Int64, fetch: Fetch | None = None) -> Float32:
        return np.array([self._stored[number] for number in ids.tolist()], dtype=np.float32).reshape(-1, self.dim)


def over_qdrant(dim: int) -> Laid:
    return Laid(dim, open_engine("qdrant://:memory:"))


def over_milvus(dim: int) -> Laid:
    return Laid(dim, open_engine(f"milvus://{_folder().name}/m.db"))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return one that goes with the process, of which one file holds every part."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
