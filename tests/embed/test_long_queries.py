"""Queries longer than a model reads: all of their parts count, up to a number of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.embed.guarded import FIRST, LAST, PART, parts, query_vector
from reasoningbank.embed.hashing import HashEmbedder

TALK = "The gate was changed twice, and the bag is still in Lisbon with the other one. "
TASK = "Rename every photo in the folder so that blanks become dashes."


class Counting(HashEmbedder):
    """Reads 2,000 characters, as a model does, and counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__(256)
        self.asked: list[str] = []

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        self.asked.append(text)
        return super().embed_query(text[:2_000])


def test_a_query_of_one_part_is_embedded_as_it_is() -> None:
    embedder = Counting()
    text = "x " * (PART // 2)

    assert (query_vector(embedder, text) == HashEmbedder(256).embed_query(text)).all()
    assert embedder.asked == [text]


@pytest.mark.parametrize("place", ["begins", "ends"])
def test_a_task_is_near_to_a_conversation_that_begins_or_ends_with_it(place: str) -> None:
    embedder, talk = Counting(), TALK * 30
    text = f"{TASK} {talk}" if place == "begins" else f"{talk} {TASK}"
    whole, task, beginning = query_vector(embedder, text), embedder.embed_query(TASK), embedder.embed_query(text)

    assert whole @ task > beginning @ task
    assert math.isclose(float(np.linalg.norm(whole)), 1.0, rel_tol=1e-5)


def test_of_more_parts_than_are_embedded_the_first_and_the_last_are() -> None:
    embedder = Counting()
    query_vector(embedder, "begin " + TALK * 400 + "end")

    assert len(embedder.asked) == FIRST + LAST
    assert embedder.asked[0].startswith("begin")
    assert embedder.asked[-1].endswith("end")


@given(st.text(alphabet="ab \n漢", max_size=3 * PART), st.integers(0, 2 * PART))
def test_parts_are_all_of_a_text_in_order_and_none_is_too_long(text: str, at: int) -> None:
    text = text[:at] + "a" * at + text[at:]
    found = parts(text)

    assert all(0 < len(part) <= PART for part in found)
    if len(found) < FIRST + LAST:
        assert "".join("".join(found).split()) == "".join(text.split())
