"""Milvus as a vector engine: one collection an embedder, the project's key as its partition key."""

from __future__ import annotations

import atexit
from typing import Any

import numpy as np

from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.remote import EngineAddress, Part, alone_in, asking

TIMEOUT = 10.0  # seconds that one call may take
AT_ONCE = 512  # rows of one request
MOST = 16_384  # Milvus ranks no more
CONSISTENCY = "Bounded"  # what is newer than some seconds may not be seen, and nothing waits for it


class MilvusEngine:
    """A Milvus server, or a file of milvus-lite; `VectorEngine` says what its calls do.

    The index is a flat one, so searches are exact: Milvus looks at the vectors of the project's partition.

    Raises:
        AwayError: the server does not answer, or the file cannot be opened.
    """

    def __init__(self, address: EngineAddress, key: str | None) -> None:
        self.prefix = address.prefix
        self._alone = alone_in(address)
        self._there: set[str] = set()
        with asking(self._alone):
            # At the end of a process even this may fail.
            import pymilvus

            self._types: Any = pymilvus.DataType
            where = {"uri": address.path} if address.path else {"uri": address.url, "token": key or ""}
            self._client: Any = pymilvus.MilvusClient(**where, timeout=TIMEOUT)
        atexit.register(self._client.close)

    def _is_there(self, part: Part) -> bool:
        if part.collection not in self._there and self._client.has_collection(part.collection):
            self._client.load_collection(part.collection)
            self._there.add(part.collection)
        return part.collection in self._there

    def _make(self, part: Part) -> None:
        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("row", self._types.VARCHAR, max_length=64, is_primary=True)
        schema.add_field("project", self._types.VARCHAR, max_length=32, is_partition_key=True)
        schema.add_field("id", self._types.INT64)
        schema.add_field("vector", self._types.FLOAT_VECTOR, dim=part.dim)
        index = self._client.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="IP")
        self._client.create_collection(
            part.collection, schema=schema, index_params=index, consistency_level=CONSISTENCY
        )

    def put(self, part: Part, ids: Int64, rows: Float32) -> None:
        with asking(self._alone):
            if not self._is_there(part):
                self._make(part)
            for start in range(0, ids.size, AT_ONCE):
                numbered = zip(ids[start : start + AT_ONCE].tolist(), rows[start : start + AT_ONCE], strict=True)
                made = [
                    {"row": _row(part, number), "project": part.key, "id": number, "vector": row.tolist()}
                    for number, row in numbered
                ]
                # Not `upsert`: that of Milvus 2.3.5 puts rows where no search for the key finds them.
                self._client.delete(part.collection, ids=[row["row"] for row in made])
                self._client.insert(part.collection, made)

    def remove(self, part: Part, ids: Int64) -> None:
        with asking(self._alone):
            if ids.size and self._is_there(part):
                self._client.delete(part.collection, ids=[_row(part, number) for number in ids.tolist()])

    def drop(self, part: Part) -> None:
        with asking(self._alone):
            if self._is_there(part):
                self._client.delete(part.collection, filter=_only(part, None))

    def count(self, part: Part) -> int:
        with asking(self._alone):
            if not self._is_there(part):
                return 0
            counted = self._client.query(
                part.collection,
                filter=_only(part, None),
                output_fields=["count(*)"],
                consistency_level=CONSISTENCY,
            )
            return int(counted[0]["count(*)"])

    def nearest(self, part: Part, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        found: list[tuple[int, float]] = []
        with asking(self._alone):
            if self._is_there(part):
                found = self._all(part, allowed) if k > MOST else self._ranked(part, query, k, allowed)
        ids, cosines = ([each[place] for each in found] for place in (0, 1))
        return np.array(ids, dtype=np.int64), np.array(cosines, dtype=np.float32)

    def _ranked(self, part: Part, query: Float32, k: int, allowed: Int64 | None) -> list[tuple[int, float]]:
        (hits,) = self._client.search(
            part.collection,
            data=[query.tolist()],
            filter=_only(part, allowed),
            limit=k,
            output_fields=["id"],
            consistency_level=CONSISTENCY,
        )
        return [(hit["entity"]["id"], hit["distance"]) for hit in hits]

    def _all(self, part: Part, allowed: Int64 | None) -> list[tuple[int, float]]:
        """Return everything, unranked: with the least cosine there is, so that nothing is thought to be left."""
        pages = self._client.query_iterator(
            part.collection, filter=_only(part, allowed), output_fields=["id"], batch_size=min(1_000, MOST)
        )
        found = []
        while batch := pages.next():
            found += [(row["id"], -1.0) for row in batch]
        pages.close()
        return found


def _row(part: Part, number: int) -> str:
    """Return the key of a row, which is unique among all projects."""
    return f"{part.key}-{number}"


def _only(part: Part, allowed: Int64 | None) -> str:
    only = f'project == "{part.key}"'
    return only if allowed is None else f"{only} and id in {allowed.tolist()}"
