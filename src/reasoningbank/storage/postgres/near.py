"""Vectors searched by the server, for processes that do not live long enough to keep an index of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reasoningbank.storage.postgres.transaction import PostgresReading
    from reasoningbank.vectors.base import Float32


class ServerVectors:
    """The vectors of memories that one transaction sees; `Near` says what its calls do.

    Every vector of the project is looked at. An index over those of all projects would lose lessons of small ones.
    """

    def __init__(self, reading: PostgresReading, extension: str) -> None:
        self._reading, self._extension = reading, extension

    def nearest(
        self, generation: int, vector: Float32, k: int, allowed: Sequence[int] | None, least: float
    ) -> list[tuple[int, float]]:
        named = {
            "generation": generation,
            "vector": f"[{','.join(map(repr, np.asarray(vector, dtype=np.float32).tolist()))}]",
            "least": max(least, -2.0) if math.isfinite(least) else -2.0,
            "k": k,
        } | ({} if allowed is None else {"allowed": list(allowed)})
        product = f'vector OPERATOR("{self._extension}".<#>) CAST(:vector AS "{self._extension}".vector)'
        only = "" if allowed is None else " AND id IN (:allowed)"
        rows = self._reading.execute(
            f"SELECT memory, cosine FROM (SELECT id, memory, -({product}) AS cosine FROM searchable "
            f"WHERE generation = :generation{only}) AS found WHERE cosine >= :least ORDER BY cosine DESC, id LIMIT :k",
            named,
        )
        return [(int(memory), float(cosine)) for memory, cosine in rows]
