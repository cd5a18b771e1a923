"""Hashed n-grams: the published vectors bit for bit, and what the default does better."""

from __future__ import annotations

import numpy as np
import pytest

from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.vectors.base import cosines


def similarity(embedder: HashEmbedder, first: str, second: str) -> float:
    return float(cosines(embedder.embed_documents([first]), embedder.embed_query(second))[0])


PUBLISHED = {
    "no word in common": ("JWT tokens", "authentication", 0.0),
    "case and punctuation": ("Use JWT tokens", "use jwt tokens!", 1.0),
    "one word of three": ("JWT token validation", "validate JWT tokens", 0.166667),
    "a negation": ("use retries with backoff", "never use retries with backoff", 0.866025),
    "a word between": ("use retries with backoff", "use retries with exponential backoff", 0.677385),
    "a plural": ("memory leak", "memory leaks", 0.333333),
    "another subject": ("memory leak", "banana bread recipe", 0.0),
    "two Chinese texts": ("数据库", "天气预报", 1.0),
    "nothing and a Chinese text": ("", "数据库", 1.0),
    "short words collide": ("a b c", "c b a", 0.530798),
}


@pytest.mark.parametrize(("first", "second", "expected"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_the_compatible_hash_gives_the_published_similarities(first: str, second: str, expected: float) -> None:
    assert similarity(HashEmbedder(bit_compatible=True), first, second) == pytest.approx(expected, abs=1e-6)


def test_the_compatible_hash_puts_a_word_in_the_published_places() -> None:
    vector = HashEmbedder(bit_compatible=True).embed_query("jwt")

    assert np.flatnonzero(vector).tolist() == [294, 389, 484]
    assert vector[[294, 389, 484]].tolist() == pytest.approx([0.872872, 0.436436, 0.218218], abs=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "!?", "\n"])
def test_a_text_without_words_has_no_direction(text: str) -> None:
    assert not HashEmbedder().embed_query(text).any()


@pytest.mark.parametrize(
    ("first", "second"),
    [("数据库", "天气预报"), ("база данных", "прогноз погоды"), ("δίκτυο", "κλειδί"), ("データベース", "天気予報")],
)
def test_other_scripts_are_words_too(first: str, second: str) -> None:
    embedder = HashEmbedder()

    assert similarity(embedder, first, first) == pytest.approx(1.0, abs=1e-6)
    assert abs(similarity(embedder, first, second)) < 0.2


@pytest.mark.parametrize(("first", "second"), [("Straße", "STRASSE"), ("caf\u00e9", "cafe\u0301"), ("\uff21PI", "api")])
def test_spellings_of_one_word_are_one_word(first: str, second: str) -> None:
    assert similarity(HashEmbedder(), first, second) == pytest.approx(1.0, abs=1e-6)


def test_words_in_another_order_are_another_text() -> None:
    embedder = HashEmbedder()

    assert similarity(embedder, "a b c", "c b a") == pytest.approx(0.5, abs=0.1)


def test_texts_without_a_common_word_are_about_orthogonal() -> None:
    embedder = HashEmbedder()
    texts = [" ".join(f"w{word}" for word in range(start, start + 8)) for start in range(0, 800, 8)]
    rows = embedder.embed_documents(texts)
    others = (rows @ rows.T)[~np.eye(len(texts), dtype=bool)]

    assert abs(others.mean()) < 0.01
    assert np.abs(others).max() < 0.25


def test_the_same_text_has_the_same_vector_in_every_process_and_batch() -> None:
    embedder = HashEmbedder()

    assert np.flatnonzero(embedder.embed_query("jwt")).tolist() == np.flatnonzero(embedder.embed_query("JWT")).tolist()
    assert np.array_equal(embedder.embed_documents(["other", "jwt"])[1], embedder.embed_query("jwt"))


def test_lone_surrogates_are_embedded_like_any_character() -> None:
    assert HashEmbedder().embed_query("\ud800 broken").any()
    assert HashEmbedder(bit_compatible=True).embed_query("\ud800 broken").any()


def test_its_identity_tells_the_two_algorithms_and_widths_apart() -> None:
    identities = {
        HashEmbedder().identity,
        HashEmbedder(bit_compatible=True).identity,
        HashEmbedder(256).identity,
    }

    assert len(identities) == 3
    assert HashEmbedder().identity.dim == 1024
    assert HashEmbedder(256).embed_documents(["a", "b"]).shape == (2, 256)
    assert HashEmbedder().embed_documents([]).shape == (0, 1024)
