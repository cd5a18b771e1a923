"""A query is taken apart and embedded once, and then remembered."""

from __future__ import annotations

import os

import pytest

from reasoningbank.embed.base import Embedder
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.errors import EmbedderUnavailableError
from reasoningbank.search.terms import query_terms
from reasoningbank.services.cache.queries import LONGEST, Query, QueryCache
from reasoningbank.vectors.base import Float32
from tests.processes import in_child


class Counting(HashEmbedder):
    """An embedder that notes what it is asked for, and does not answer while it is down."""

    down = False

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Float32:
        self.asked.append(text)
        if self.down:
            raise EmbedderUnavailableError("nobody home")
        return super().embed_query(text)


def test_a_query_has_its_terms_and_the_embedders_vector() -> None:
    embedder = HashEmbedder()
    made = QueryCache().query(embedder, "use retries, use them")

    assert made.vector is not None
    assert made.vector.tolist() == embedder.embed_query("use retries, use them").tolist()
    assert made.terms == tuple(query_terms("use retries, use them"))
    assert (made.text, made.embedder, made.degraded) == ("use retries, use them", embedder.identity, ())


def test_a_query_is_embedded_once_and_then_remembered() -> None:
    embedder, cache = Counting(), QueryCache()

    first = cache.query(embedder, "use retries")

    assert cache.query(embedder, "use retries") is first
    assert (embedder.asked, len(cache)) == (["use retries"], 1)


def test_nobody_can_change_what_is_remembered() -> None:
    made = QueryCache().query(HashEmbedder(), "use retries")

    assert made.vector is not None
    with pytest.raises(ValueError, match="read-only"):
        made.vector[0] = 1.0


def test_the_query_asked_longest_ago_is_forgotten_first() -> None:
    embedder, cache = HashEmbedder(), QueryCache(capacity=2)
    first, second = cache.query(embedder, "one"), cache.query(embedder, "two")
    assert cache.query(embedder, "one") is first

    cache.query(embedder, "three")

    assert cache.query(embedder, "one") is first
    assert cache.query(embedder, "two") is not second
    assert len(cache) == 2


def width(cache: QueryCache, embedder: Embedder) -> int:
    vector = cache.query(embedder, "text").vector
    assert vector is not None
    return len(vector)


def test_a_remembered_vector_belongs_to_its_embedder() -> None:
    cache = QueryCache()

    assert [width(cache, HashEmbedder(dim)) for dim in (64, 32, 64)] == [64, 32, 64]


def test_no_secret_of_a_query_reaches_an_embedder() -> None:
    embedder = Counting()

    query = QueryCache().query(embedder, "why is AKIAIOSFODNN7EXAMPLE refused by S3")

    assert query.text == "why is [REDACTED] refused by S3"
    assert embedder.asked == [query.text]
    assert not any("akia" in term for term in query.terms)


def test_without_a_vector_a_query_says_so_and_has_its_terms() -> None:
    embedder = Counting()
    embedder.down = True

    made = QueryCache().query(embedder, "use retries")

    assert made == Query(
        "use retries", tuple(query_terms("use retries")), None, embedder.identity,
        ("the query was not embedded (nobody home); searched by keyword only",),
    )  # fmt: skip


def test_a_query_that_could_not_be_embedded_is_asked_again() -> None:
    embedder, cache = Counting(), QueryCache()
    embedder.down = True
    for _ in range(2):
        assert cache.query(embedder, "use retries").vector is None
    assert (len(embedder.asked), len(cache)) == (2, 0)

    embedder.down = False
    assert cache.query(embedder, "use retries").vector is not None


class Raising(HashEmbedder):
    """An embedder with a fault."""

    def embed_query(self, text: str) -> Float32:
        raise RuntimeError("the driver gave up")


def test_a_fault_of_an_embedder_costs_the_vector_and_nothing_else() -> None:
    made = QueryCache().query(Raising(), "use retries")

    assert made.vector is None
    assert "the driver gave up" in made.degraded[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_empty_and_unlocked() -> None:
    embedder, cache = HashEmbedder(), QueryCache()
    kept = cache.query(embedder, "text")

    def ask() -> None:
        assert len(cache) == 0
        assert cache.query(embedder, "text") is not kept

    with cache._lock:
        assert in_child(ask) == 0
    assert len(cache) == 1


def test_of_a_long_query_the_ends_are_looked_at_and_no_half_of_a_secret_is_kept() -> None:
    embedder, cache = Counting(), QueryCache()
    key = "ghp_" + "a1B2" * 9
    cut = LONGEST // 2 + 4_096 - 10
    text = f"quote paths {'x ' * 20_000}"[:cut] + key + " and so on " * 400_000 + "shell at the end"
    query = cache.query(embedder, text)

    assert len(query.text) <= LONGEST + 3
    assert query.text.startswith("quote paths")
    assert query.text.endswith("shell at the end")
    assert key[:10] not in query.text
    assert query.degraded == (f"the query has {len(text):,} characters: the first and the last 10,000 were looked at",)
    assert sum(map(len, embedder.asked)) <= LONGEST + 3
    assert cache.query(embedder, text) is query


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, LONGEST + 8_192, LONGEST + 8_193])
def test_a_query_is_whole_up_to_the_limit(length: int) -> None:
    query = QueryCache().query(Counting(), "quote " + "x" * (length - 12) + " shell")

    assert bool(query.degraded) == (length > LONGEST)
    assert query.text.startswith("quote x")
    assert query.text.endswith("x shell")
