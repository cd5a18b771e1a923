"""Query vectors are asked for again and again; the last ones are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.embed.guarded import query_vector
from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32


class QueryCache:
    """The vectors of the queries asked last, by embedder identity and text. Safe for several threads."""

    def __init__(self, capacity: int = 1024) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[tuple[EmbedderIdentity, str], Float32] = OrderedDict()
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._vectors, self._lock = OrderedDict(), threading.Lock()

    def __len__(self) -> int:
        """Return how many vectors are kept."""
        return len(self._vectors)

    def embed(self, embedder: Embedder, text: str) -> Float32:
        """Return the (dim,) unit vector of a query, read-only; a failure is not kept.

        Raises:
            EmbeddingError: see `query_vector`.
        """
        key = (embedder.identity, text)
        with self._lock:
            kept = self._vectors.get(key)
            if kept is not None:
                self._vectors.move_to_end(key)
                return kept
        # Outside the lock: two threads may embed the same text, and none waits for another's model.
        vector = query_vector(embedder, text)
        vector.setflags(write=False)
        with self._lock:
            self._vectors[key] = vector
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
        return vector
