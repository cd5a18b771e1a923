"""An index as a new process has it."""

from __future__ import annotations

import math

from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.faiss import FaissIndex, Fetch


class Reopened(FaissIndex):
    """An index that has only its codes at the start of each search, as if a new process had read a snapshot."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim, block_rows=4)
        self._stored: dict[int, Float32] = {}

    def _put(self, ids: Int64, rows: Float32) -> None:
        self._stored.update(zip(ids.tolist(), rows.copy(), strict=True))
        super()._put(ids, rows)

    def search(
        self,
        query: Float32,
        k: int,
        *,
        allowed: Int64 | None = None,
        fetch: Fetch | None = None,
        least: float = -math.inf,
    ) -> tuple[Int64, Float32]:
        # Blocks and vectors of one state, as a transaction sees them.
        with self._lock.reading():
            return self._reopened().search(query, k, allowed=allowed, fetch=self._stored_rows, least=least)

    def get(self, ids: Int64, fetch: Fetch | None = None) -> Float32:
        with self._lock.reading():
            return self._reopened().get(ids, self._stored_rows)

    def _reopened(self) -> FaissIndex:
        return FaissIndex.restored(self.dim, [block.coded() for block in self._blocks], block_rows=4)

    def _stored_rows(self, numbers: list[int]) -> dict[int, Float32]:
        return {number: self._stored[number] for number in numbers}
