"""Embedders whose vectors and failures a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reasoningbank import EmbedderIdentity, EmbedderUnavailableError, ReasoningBank
from reasoningbank.vectors.base import Float32


class Scripted:
    """An embedder whose vectors are chosen by words in the text; it can fail in ways that real ones do."""

    def __init__(self, name: str = "scripted", dim: int = 2, rows: Mapping[str, Sequence[float]] | None = None) -> None:
        self.identity = EmbedderIdentity(name, "1", dim, "none", normalised=False)
        self.rows = rows or {}
        self.available = True

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(len(texts), -1)

    def embed_query(self, text: str) -> Float32:
        if not self.available:
            raise EmbedderUnavailableError("nobody home")
        if "raises" in text:
            raise RuntimeError("the driver gave up")
        for word, row in self.rows.items():
            if word in text:
                return np.array(row, dtype=np.float32)
        return np.array([1.0, 0.5, *[0.0] * (self.identity.dim - 2)], dtype=np.float32)


def lesson(bank: ReasoningBank, title: str, content: str = "", **options: object) -> str:
    recorded = bank.record(title, content or f"{title}: in full", outcome="success", **options)  # type: ignore[arg-type]
    return recorded.memory.id
