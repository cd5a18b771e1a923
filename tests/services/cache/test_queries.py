"""What is kept of the queries asked last."""

from __future__ import annotations

import pytest

from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.services.cache.queries import QueryCache
from reasoningbank.vectors.base import Float32


class Failing(HashEmbedder):
    """An embedder that fails, and counts how often it was asked."""

    asked = 0

    def embed_query(self, text: str) -> Float32:
        self.asked += 1
        raise OSError("the model is away")


def test_a_query_is_embedded_once_and_then_remembered() -> None:
    embedder, cache = HashEmbedder(), QueryCache()

    first = cache.query(embedder, "use retries")

    assert cache.query(embedder, "use retries") is first
    assert first.terms == ("use", "retri")
    assert first.vector is not None
    assert first.vector.tolist() == embedder.embed_query("use retries").tolist()
    assert len(cache) == 1
    with pytest.raises(ValueError, match="read-only"):
        first.vector[0] = 1.0


def test_the_query_asked_longest_ago_is_forgotten_first() -> None:
    embedder, cache = HashEmbedder(), QueryCache(capacity=2)
    first, second = cache.query(embedder, "one"), cache.query(embedder, "two")
    assert cache.query(embedder, "one") is first

    cache.query(embedder, "three")

    assert cache.query(embedder, "one") is first
    assert cache.query(embedder, "two") is not second
    assert len(cache) == 2


def test_a_remembered_vector_belongs_to_its_embedder() -> None:
    cache = QueryCache()

    wide, narrow = (cache.query(HashEmbedder(dim), "text").vector for dim in (64, 32))

    assert wide is not None
    assert narrow is not None
    assert (wide.shape, narrow.shape) == ((64,), (32,))


def test_no_secret_of_a_query_reaches_an_embedder() -> None:
    query = QueryCache().query(HashEmbedder(), "why is AKIAIOSFODNN7EXAMPLE refused by S3")

    assert query.text == "why is [REDACTED] refused by S3"
    assert query.vector is not None
    assert query.vector.tolist() == HashEmbedder().embed_query("why is [REDACTED] refused by S3").tolist()
    assert not any("akia" in term for term in query.terms)


def test_after_a_fork_the_memory_of_queries_starts_empty_and_unlocked() -> None:
    embedder, cache = HashEmbedder(), QueryCache()
    kept = cache.query(embedder, "text")
    with cache._lock:
        cache.after_fork()

        assert cache.query(embedder, "text") is not kept


def test_a_failed_query_is_asked_again_and_goes_on_with_its_words() -> None:
    embedder, cache = Failing(), QueryCache()

    found = [cache.query(embedder, "use retries") for _ in range(2)]

    assert embedder.asked == 2
    assert len(cache) == 0
    assert [(query.terms, query.vector) for query in found] == [(("use", "retri"), None)] * 2
    assert "the model is away" in found[0].degraded[0]
