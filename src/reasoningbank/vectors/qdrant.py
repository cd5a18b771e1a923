"""Qdrant as a vector engine: one collection an embedder, the project's key as its tenant."""

from __future__ import annotations

import atexit
import uuid
from typing import Any

import numpy as np

from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.remote import EngineAddress, Part, alone_in, asking

TIMEOUT = 10  # seconds that one call may take
AT_ONCE = 512  # points of one request


class QdrantEngine:
    """A Qdrant server, or a folder in Qdrant's local mode; `VectorEngine` says what its calls do.

    Ids are only unique within a project, so a point's id is made of the project's key and the id. Searches are exact:
    with the project as a filter, Qdrant looks at the project's own vectors. An approximate graph over all projects
    would lose lessons of small ones.

    Raises:
        AwayError: a folder cannot be opened, for instance since another process has it open.
    """

    def __init__(self, address: EngineAddress, key: str | None) -> None:
        self.prefix = address.prefix
        self._is_local = bool(address.path)
        self._alone = alone_in(address)
        self._there: set[str] = set()
        where: dict[str, Any] = (
            {"path": address.path}
            if address.path
            else {"url": address.url, "api_key": key, "timeout": TIMEOUT, "check_compatibility": False}
        )
        with asking(self._alone):
            # At the end of a process even this may fail.
            import qdrant_client

            self._models: Any = qdrant_client.models
            self._client: Any = qdrant_client.QdrantClient(**where)
        # Later, what it needs for closing may be gone.
        atexit.register(self._client.close)

    def _is_there(self, part: Part) -> bool:
        if part.collection not in self._there and self._client.collection_exists(part.collection):
            self._there.add(part.collection)
        return part.collection in self._there

    def _make(self, part: Part) -> None:
        m = self._models
        self._client.create_collection(
            part.collection,
            vectors_config=m.VectorParams(size=part.dim, distance=m.Distance.DOT),
            # No graph over all projects; searches look at the vectors of one.
            hnsw_config=m.HnswConfigDiff(m=0, payload_m=16),
        )
        if self._is_local:
            return
        tenant = m.KeywordIndexParams(type=m.KeywordIndexType.KEYWORD, is_tenant=True)
        self._client.create_payload_index(part.collection, "project", field_schema=tenant)

    def put(self, part: Part, ids: Int64, rows: Float32) -> None:
        with asking(self._alone):
            if not self._is_there(part):
                self._make(part)
            for start in range(0, ids.size, AT_ONCE):
                numbers = ids[start : start + AT_ONCE].tolist()
                self._client.upsert(
                    part.collection,
                    points=self._models.Batch(
                        ids=[_point(part, number) for number in numbers],
                        vectors=rows[start : start + AT_ONCE].tolist(),
                        payloads=[{"project": part.key, "id": number} for number in numbers],
                    ),
                    wait=True,
                )

    def remove(self, part: Part, ids: Int64) -> None:
        with asking(self._alone):
            if ids.size and self._is_there(part):
                points = self._models.PointIdsList(points=[_point(part, number) for number in ids.tolist()])
                self._client.delete(part.collection, points_selector=points, wait=True)

    def drop(self, part: Part) -> None:
        with asking(self._alone):
            if self._is_there(part):
                selector = self._models.FilterSelector(filter=self._only(part, None))
                self._client.delete(part.collection, points_selector=selector, wait=True)

    def count(self, part: Part) -> int:
        with asking(self._alone):
            if not self._is_there(part):
                return 0
            return int(self._client.count(part.collection, count_filter=self._only(part, None), exact=True).count)

    def nearest(self, part: Part, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        points = []
        with asking(self._alone):
            if self._is_there(part):
                points = self._client.query_points(
                    part.collection,
                    query=query.tolist(),
                    query_filter=self._only(part, allowed),
                    limit=k,
                    # The local mode is exact, and says so loudly when it is asked for it.
                    search_params=None if self._is_local else self._models.SearchParams(exact=True),
                    with_payload=["id"],
                ).points
        ids = np.array([point.payload["id"] for point in points], dtype=np.int64)
        return ids, np.array([point.score for point in points], dtype=np.float32)

    def _only(self, part: Part, allowed: Int64 | None) -> Any:
        m = self._models
        must: list[Any] = [m.FieldCondition(key="project", match=m.MatchValue(value=part.key))]
        if allowed is not None:
            must.append(m.HasIdCondition(has_id=[_point(part, number) for number in allowed.tolist()]))
        return m.Filter(must=must)


def _point(part: Part, number: int) -> str:
    """Return the id of a point: the first half of the project's key, and the id."""
    return str(uuid.UUID(int=(int(part.key[:16], 16) << 64) | (number & (2**64 - 1))))
