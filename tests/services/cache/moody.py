"""A real engine that is away when a test says so, and shows changes only when it is made to."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.services.cache import overlaid
from reasoningbank.services.cache.overlaid import OverlaidCache
from reasoningbank.storage import told
from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.remote import AwayError, Part, VectorEngine

T = TypeVar("T")


class Moody:
    """Waits with what it was told for as long as the bank allows, which is all that a lax engine may do."""

    def __init__(self, engine: VectorEngine) -> None:
        self.engine, self.prefix = engine, engine.prefix
        self.away, self.asked = False, 0
        self._waiting: list[tuple[float, Callable[[], None]]] = []
        self.now = 1_000_000.0

    def _do(self, call: Callable[[], T]) -> T:
        if self.away:
            raise AwayError("nobody listens there")
        due = [change for at, change in self._waiting if at <= self.now]
        self._waiting = [(at, change) for at, change in self._waiting if at > self.now]
        for change in due:
            change()
        return call()

    def _later(self, change: Callable[[], None]) -> None:
        self._do(lambda: self._waiting.append((self.now + told.LAG, change)))

    def put(self, part: Part, ids: Int64, rows: Float32) -> None:
        self._later(lambda: self.engine.put(part, ids, rows))

    def remove(self, part: Part, ids: Int64) -> None:
        self._later(lambda: self.engine.remove(part, ids))

    def drop(self, part: Part) -> None:
        self._later(lambda: self.engine.drop(part))

    def count(self, part: Part) -> int:
        return self._do(lambda: self.engine.count(part))

    def nearest(self, part: Part, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        self.asked += 1
        return self._do(lambda: self.engine.nearest(part, query, k, allowed))

    def ids(self, part: Part) -> set[int]:
        """Return all ids that it shows."""
        everything = self._do(lambda: self.engine.nearest(part, np.zeros(part.dim, dtype=np.float32), 10_000, None))
        return set(everything[0].tolist())

    def given_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let every bank have it, and its time."""
        monkeypatch.setattr(overlaid, "open_engine", lambda _: self)
        monkeypatch.setattr(overlaid, "time", SimpleNamespace(time=lambda: self.now, monotonic=lambda: self.now))


def cache_of(bank: ReasoningBank) -> OverlaidCache:
    cache = bank._engine.cache.vectors
    assert isinstance(cache, OverlaidCache)
    return cache


def tell(bank: ReasoningBank) -> None:
    """Tell the engine now what would be told beside the requests."""
    project = bank._engine.project()
    assert project is not None
    cache_of(bank).keep(project)


def part_of(bank: ReasoningBank) -> Part:
    """Return where the engine has the bank's vectors."""
    with bank._engine.read() as view:
        (said,) = told.every(view, bank._engine.where).values()
    return Part(said.collection, said.dim, said.key)
