"""What the default embedder adds: to a query, to one that was asked before, and to an import."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed_lessons import Float32, K, StubEmbedder, Texts, opened
from benchmarks.speed_timing import each_ms, median
from reasoningbank import ReasoningBank
from reasoningbank.embed.minilm import MiniLMEmbedder

IMPORTED = 48


class AtMiniLMsPrice(StubEmbedder):
    """Runs MiniLM for each query, and gives the stub's vector: so a bank of stub vectors can be asked."""

    def __init__(self, model: MiniLMEmbedder) -> None:
        super().__init__()
        self._model = model

    def embed_query(self, text: str) -> Float32:
        """Return the stub's vector, as late as MiniLM would return its own."""
        self._model.embed_query(text)
        return super().embed_query(text)


class Timed:
    """MiniLM, with the seconds that it took."""

    def __init__(self, model: MiniLMEmbedder) -> None:
        self._model, self.identity, self.seconds = model, model.identity, 0.0

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text."""
        start = time.perf_counter()
        rows = self._model.embed_documents(texts)
        self.seconds += time.perf_counter() - start
        return rows

    def embed_query(self, text: str) -> Float32:
        """Return the text's unit vector."""
        return self._model.embed_query(text)


def with_minilm(root: Path, made: Texts) -> tuple[dict[str, float], dict[str, float]]:
    """Ask a bank with and without MiniLM in turns, and import a few lessons with it.

    Args:
        root: a bank of stub vectors.

    Returns:
        What MiniLM alone takes for a query, and the figures of the bank.
    """
    model = MiniLMEmbedder()
    model.warm()
    floor, figures = _asked(root, made.queries[:50], model)
    return floor, figures | {"minilm_import_share": _imported(root, made.lessons, model)}


def _asked(root: Path, queries: list[str], model: MiniLMEmbedder) -> tuple[dict[str, float], dict[str, float]]:
    alone, first, again, without = [], [], [], []
    with opened(root, embedder=AtMiniLMsPrice(model)) as real, opened(root) as stub:
        for bank in (real, stub):
            bank.search("warm up", K)
        for query in queries:
            alone += each_ms(model.embed_query, [query])
            first += each_ms(lambda q: real.search(q, K), [query])
            stub.search(query, K)
            without += each_ms(lambda q: stub.search(q, K), [query])
            again += each_ms(lambda q: real.search(q, K), [query])
    return {"embed_ms": median(alone)}, {
        "query_minilm_ms": median(first),
        "query_minilm_cached_ms": median(again),
        "query_minilm_cached_extra_ms": round(median(again) - median(without), 4),
    }


def _imported(root: Path, lessons: list[dict[str, Any]], model: MiniLMEmbedder) -> float:
    """Return which share of a bulk import's time is the embedder's own: what it alone does, beside the whole."""
    embedder = Timed(model)
    with ReasoningBank(root.with_name(f"{root.name}-minilm"), tenant="speed", project="m", embedder=embedder) as bank:
        bank.record_many(lessons[:1])
        embedder.seconds, start = 0.0, time.perf_counter()
        bank.record_many(lessons[1:IMPORTED])
        return round(embedder.seconds / (time.perf_counter() - start), 3)
