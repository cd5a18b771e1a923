"""An embedder that embeds each text once, however many banks ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from reasoningbank import EmbedderIdentity
from reasoningbank.embed.base import Embedder
from reasoningbank.embed.guarded import query_vector


class Remembering:
    """An embedder that keeps every vector: each text is asked for in several banks."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._documents: dict[str, npt.NDArray[np.float32]] = {}
        self._vector = lru_cache(maxsize=100_000)(partial(query_vector, embedder))

    @property
    def identity(self) -> EmbedderIdentity:
        """That of the embedder itself."""
        return self._embedder.identity

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the vectors of texts, from memory where they were asked for before."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._documents]:
            self._documents |= dict(zip(new, self._embedder.embed_documents(new), strict=True))
        return np.stack([self._documents[text] for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return a query's vector, from memory when it was asked for before."""
        return self._vector(text)
