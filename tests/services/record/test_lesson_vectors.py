"""The vectors that a memory is found by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from reasoningbank import EmbedderIdentity
from reasoningbank.memory import Draft
from reasoningbank.search.terms import LONGEST_PASSAGE
from reasoningbank.services.record.preparing import TITLE_SHARE, lesson_vectors
from reasoningbank.vectors.base import Float32

LONG = "\n".join(letter * (LONGEST_PASSAGE - 10) for letter in "abc")


class ByFirstLetter:
    """Each letter has an axis of its own; a text that begins with "!" cannot be embedded."""

    identity = EmbedderIdentity("letters", "1", 26, "none", normalised=True)

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        self.seen += texts
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(len(texts), 26)

    def embed_query(self, text: str) -> Float32:
        if "!" in text:
            raise ValueError("no exclamations")
        axis: Float32 = np.eye(1, 26, ord(text.removeprefix("Title. ")[0].lower()) - ord("a"), dtype=np.float32)[0]
        return axis


def draft(title: str, content: str, applies_when: str = "") -> Draft:
    return Draft(title=title, content=content, outcome="success", applies_when=applies_when)  # type: ignore[arg-type]


def weights(vector: Float32) -> dict[str, float]:
    found = {chr(ord("a") + i): float(x) for i, x in enumerate(vector) if x}
    return {letter: round(x / max(found.values()), 4) for letter, x in found.items()}


def test_a_short_lesson_is_one_text_headed_by_its_title() -> None:
    embedder = ByFirstLetter()
    (made,) = lesson_vectors(embedder, [draft("Title", "content")])
    assert embedder.seen == ["Title. content", "Title"]
    assert {role: weights(vector) for role, vector in made.roles} == {"lesson": {"c": 1.0, "t": TITLE_SHARE}}


def test_the_first_passages_of_a_long_lesson_weigh_most() -> None:
    (made,) = lesson_vectors(ByFirstLetter(), [draft("Title", LONG)])
    found = made.roles[0][1]
    assert found[1] / found[0] == pytest.approx(1 / 2)
    assert found[2] / found[0] == pytest.approx(1 / 3)
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_a_title_that_repeats_the_first_words_is_not_embedded() -> None:
    embedder = ByFirstLetter()
    lesson_vectors(embedder, [draft("con…", "content")])
    assert embedder.seen == ["content"]


def test_when_it_applies_is_a_vector_of_its_own() -> None:
    made = lesson_vectors(ByFirstLetter(), [draft("Title", "content", "when"), draft("Title", "other")])
    assert [[role for role, _ in each.roles] for each in made] == [["lesson", "applies_when"], ["lesson"]]
    assert weights(made[0].roles[1][1]) == {"w": 1.0}


def test_a_text_that_cannot_be_embedded_costs_no_other() -> None:
    made = lesson_vectors(ByFirstLetter(), [draft("Title", "a"), draft("Title", "!"), draft("Title", "b", "when!")])
    assert [[role for role, _ in each.roles] for each in made] == [["lesson"], [], ["lesson"]]
    assert [each.problem for each in made] == ["", "ValueError: no exclamations", ""]
