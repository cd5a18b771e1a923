"""Vectors searched by the server, for processes that do not live long enough to keep an index of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reasoningbank.storage.postgres.indexes import LARGE, MOST_WIDE

if TYPE_CHECKING:
    from reasoningbank.storage.postgres.transaction import PostgresReading
    from reasoningbank.vectors.base import Float32

# Candidates that a search of an index looks at, at least; pgvector takes up to 1,000.
WIDTH, WIDEST = 200, 1_000
PATIENCE = 50  # milliseconds of a search that is made to get ready


class ServerVectors:
    """The vectors of memories that one transaction sees; `Near` says what its calls do.

    Every vector of the project is looked at, but for a large one that has an index of its own (`indexes`). An index
    over those of all projects would lose lessons of small ones.
    """

    def __init__(self, reading: PostgresReading, extension: str) -> None:
        self._reading, self._extension = reading, extension

    def nearest(
        self, generation: int, vector: Float32, k: int, allowed: Sequence[int] | None, least: float
    ) -> list[tuple[int, float]]:
        indexed = allowed is None and self._may_have_index(len(vector), k)
        if indexed:
            width = str(min(WIDEST, max(WIDTH, 2 * k)))
            self._reading.execute("SELECT set_config('hnsw.ef_search', :width, true)", {"width": width})
        found = self._found(generation, vector, k, allowed, indexed=indexed)
        if indexed and len(found) < k:
            # So many rows went that the index gives too few.
            found = self._found(generation, vector, k, allowed, indexed=False)
        return [each for each in found if each[1] >= least]

    def expect(self, generation: int, dim: int) -> None:
        """Search once for nothing in particular, which nobody waits for.

        What a session does for the first time takes several times as long as what it does again: it reads what the
        server knows of tables and indexes, and loads pgvector.
        """
        anywhere, k = np.full(dim, dim**-0.5, dtype=np.float32), WIDTH // 4
        sql, named = self._question(generation, anywhere, k, None, indexed=self._may_have_index(dim, k))
        # Where a large project has no index every vector would be looked at.
        limited = f"SELECT set_config('statement_timeout', '{PATIENCE}', true)"
        self._reading.ask_unread(f"{limited}; {sql}", named)

    def _may_have_index(self, dim: int, k: int) -> bool:
        return dim <= MOST_WIDE and 2 * k <= WIDEST and self._reading.given().get("vectors", 0) >= LARGE

    def _found(
        self, generation: int, vector: Float32, k: int, allowed: Sequence[int] | None, *, indexed: bool
    ) -> list[tuple[int, float]]:
        rows = self._reading.execute(*self._question(generation, vector, k, allowed, indexed=indexed))
        return [(int(memory), float(cosine)) for memory, cosine in rows]

    def _question(
        self, generation: int, vector: Float32, k: int, allowed: Sequence[int] | None, *, indexed: bool
    ) -> tuple[str, dict[str, object]]:
        """Ask for the nearest; `indexed` says that the project's own index may tell them, where there is one."""
        kind = f'"{self._extension}".vector({len(vector)})'
        distance = f'CAST(vector AS {kind}) OPERATOR("{self._extension}".<#>) CAST(:vector AS {kind})'
        named = {
            # Beside the policy, by a value: so the plan knows the project's part and its index.
            "project": self._reading.project,
            "generation": generation,
            "vector": f"[{','.join(map(repr, np.asarray(vector, dtype=np.float32).tolist()))}]",
            "k": k,
        } | ({} if allowed is None else {"allowed": list(allowed)})
        only = "" if allowed is None else " AND id IN (:allowed)"
        order = distance if indexed else f"-({distance}) DESC"
        return (
            f"SELECT memory, -({distance}) FROM searchable "
            f"WHERE project = :project AND generation = :generation{only} ORDER BY {order}, id LIMIT :k",
            named,
        )
