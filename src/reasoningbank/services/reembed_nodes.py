"""The graph's share of a re-embedding: nodes get a vector of the next generation, like memories."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import embed_each


def missing(connection: sqlite3.Connection, generation: int, failed: set[int]) -> dict[int, str]:
    """Return the texts of the nodes that have no vector of a generation, by row number."""
    rows = connection.execute(
        "SELECT n, text FROM nodes WHERE NOT EXISTS "
        "(SELECT 1 FROM node_vectors AS v WHERE v.node = nodes.n AND v.generation = ?) ORDER BY n",
        (generation,),
    )
    return {n: text for n, text in rows if n not in failed}


def embed(embedder: Embedder, texts: Mapping[int, str]) -> dict[int, bytes]:
    """Return the vector of every node that could be embedded."""
    embedded = embed_each(embedder, list(texts.values()))
    return {n: embedded.vectors[i].tobytes() for i, n in enumerate(texts) if i not in embedded.failures}


def store(
    connection: sqlite3.Connection, generation: int, texts: Mapping[int, str], vectors: Mapping[int, bytes]
) -> None:
    """Store vectors; a node that was changed or deleted while it was being embedded is taken up by the next round."""
    connection.executemany(
        "INSERT OR IGNORE INTO node_vectors(node, generation, vector) "
        "SELECT n, ?, ? FROM nodes WHERE n = ? AND text = ?",
        [(generation, vector, n, texts[n]) for n, vector in vectors.items()],
    )
