"""The guard around embedders that are not ours: bad texts cost no good ones, and nonsense is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.embed.guarded import ZEROS, embed_each, query_vector
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.embed.named import open_embedder
from reasoningbank.errors import EmbedderUnavailableError, EmbeddingError, InvalidInputError
from reasoningbank.vectors.base import Float32


class Scripted:
    """An embedder of two numbers, by text; `raises` and `unavailable` fail, others point along the first axis."""

    def __init__(self, dim: int = 2) -> None:
        self.identity = EmbedderIdentity("scripted", "1", dim, "none", normalised=False)
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        self.calls.append(list(texts))
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(len(texts), -1)

    def embed_query(self, text: str) -> Float32:
        if text == "raises":
            raise RuntimeError("the driver gave up")
        if text == "unavailable":
            raise EmbedderUnavailableError("nobody home")
        rows = {
            "huge": [3e38, 3e38],
            "nan": [np.nan, 0],
            "inf": [np.inf, 1],
            "long": [3, 4],
            "wide": [1, 2, 3],
            "zeros": [0, 0],
        }
        return np.array(rows.get(text, [2, 0]), dtype=np.float32)


def test_every_embedders_rows_come_out_at_length_one() -> None:
    embedded = embed_each(Scripted(), ["good", "long"])

    assert embedded.vectors.dtype == np.float32
    assert embedded.vectors.tolist() == [[1.0, 0.0], pytest.approx([0.6, 0.8])]
    assert embedded.failures == {}


def test_a_text_that_makes_the_embedder_raise_costs_no_other() -> None:
    texts = [f"text {number}" for number in range(50)]
    texts[17] = "raises"

    embedded = embed_each(Scripted(), texts)

    assert embedded.failures == {17: "RuntimeError: the driver gave up"}
    assert embedded.vectors.any(axis=1).tolist() == [number != 17 for number in range(50)]


def test_finding_one_bad_text_among_many_takes_few_calls() -> None:
    embedder = Scripted()

    embed_each(embedder, ["good"] * 512 + ["raises"] + ["good"] * 511)

    assert len(embedder.calls) <= 21


def test_rows_whose_numbers_are_too_large_to_add_up_are_rows_all_the_same() -> None:
    embedded = embed_each(Scripted(), ["huge", "good"])

    assert embedded.vectors.tolist() == [pytest.approx([0.5**0.5] * 2), [1.0, 0.0]]
    assert embedded.failures == {}


@pytest.mark.parametrize("bad", ["nan", "inf"])
def test_a_row_that_is_not_finite_is_a_failure_of_its_text(bad: str) -> None:
    embedded = embed_each(Scripted(), ["good", bad, "long"])

    assert embedded.failures == {1: "the embedder returned NaN or infinity"}
    assert embedded.vectors[1].tolist() == [0.0, 0.0]
    assert embedded.vectors[2].tolist() == pytest.approx([0.6, 0.8])


def test_zeros_for_a_text_with_words_are_a_failure_and_for_one_without_are_none() -> None:
    embedded = embed_each(Scripted(), ["good", "zeros", "long"])

    assert embedded.failures == {1: ZEROS}
    assert embed_each(HashEmbedder(8), ["?!", "quote paths"]).failures == {}
    assert not query_vector(HashEmbedder(8), "?!").any()
    with pytest.raises(EmbeddingError, match=ZEROS):
        query_vector(Scripted(), "zeros")


def test_all_texts_may_fail() -> None:
    embedded = embed_each(Scripted(), ["raises", "nan", "raises"])

    assert sorted(embedded.failures) == [0, 1, 2]
    assert not embedded.vectors.any()


def test_no_texts_give_no_rows() -> None:
    embedded = embed_each(Scripted(), [])

    assert embedded.vectors.shape == (0, 2)
    assert embedded.failures == {}


def test_an_embedder_that_does_not_answer_is_not_asked_text_by_text() -> None:
    embedder = Scripted()

    with pytest.raises(EmbedderUnavailableError):
        embed_each(embedder, ["unavailable"] * 100)

    assert len(embedder.calls) == 1


def test_rows_of_another_width_than_promised_are_refused_with_both_widths() -> None:
    with pytest.raises(EmbeddingError, match=r"scripted says .* 3 numbers, and returned \(2, 2\) for 2 texts"):
        embed_each(Scripted(dim=3), ["good", "good"])


def test_a_query_gets_the_same_guard() -> None:
    assert query_vector(Scripted(), "long").tolist() == pytest.approx([0.6, 0.8])
    for bad in ("nan", "inf", "raises", "wide"):
        with pytest.raises(EmbeddingError, match="scripted"):
            query_vector(Scripted(), bad)
    with pytest.raises(EmbedderUnavailableError):
        query_vector(Scripted(), "unavailable")


def test_an_object_with_the_contract_is_an_embedder() -> None:
    embedder = Scripted()

    assert open_embedder(embedder) is embedder


def test_hash_is_a_name() -> None:
    assert open_embedder("hash").identity == HashEmbedder().identity


@pytest.mark.parametrize(
    ("given", "lacking"), [(object(), "identity, embed_documents, embed_query"), (7, "identity"), (None, "identity")]
)
def test_anything_else_is_refused_and_told_what_it_lacks(given: object, lacking: str) -> None:
    with pytest.raises(InvalidInputError, match=f"is not an embedder, it lacks {lacking}"):
        open_embedder(given)  # type: ignore[arg-type]


def test_an_identity_that_is_none_is_refused() -> None:
    embedder = Scripted()
    embedder.identity = "scripted"  # type: ignore[assignment]

    with pytest.raises(InvalidInputError, match="an EmbedderIdentity as identity"):
        open_embedder(embedder)


def test_openai_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="names no model"):
        open_embedder("openai:")
