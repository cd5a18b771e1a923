"""Exact search in plain numpy: what the index is compared with."""

from __future__ import annotations

import numpy as np

from reasoningbank.vectors.base import Float32, Int64, best_first, cosines


class ExactIndex:
    """A dictionary of vectors that is scanned whole: right by its simplicity."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._rows: dict[int, Float32] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, ids: Int64, vectors: Float32) -> None:
        self._rows.update(zip(ids.tolist(), vectors, strict=True))

    def remove(self, ids: Int64) -> None:
        for number in ids.tolist():
            self._rows.pop(number, None)

    def search(
        self, query: Float32, k: int, *, allowed: Int64 | None = None, least: float = -1.0
    ) -> tuple[Int64, Float32]:
        live = self._rows.keys() & (self._rows if allowed is None else set(allowed.tolist()))
        ids = np.fromiter(live, dtype=np.int64, count=len(live))
        rows = np.array([self._rows[number] for number in ids.tolist()], dtype=np.float32).reshape(-1, self.dim)
        products = cosines(rows, query)
        return best_first(ids[products >= least], products[products >= least], k)
