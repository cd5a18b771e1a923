"""Sentences, each with its clauses in one order: what a sentence opens with may as well close it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
# A clause that begins with one of these may stand before the rest, up to a comma, or behind it.
_OPENING: Final = frozenset(
    """
    after as at because before between by during for if in on once since to unless until when whenever where while with
    without
    """.split()  # noqa: SIM905 - a paragraph reads better than two dozen quoted words
)


def sentences(text: str) -> Iterator[list[str]]:
    """Give the chunks between blanks of each sentence of a text.

    A clause that opens a sentence comes behind what it opens: "Before you push, run the tests" gives "run the tests
    before you push". A sentence begins in small letters, unless it begins with a name.
    """
    for sentence in _SENTENCE.split(text):
        chunks = sentence.split()
        if chunks:
            chunks[0] = _uncapitalised(chunks[0])
            if chunks[0] in _OPENING:
                comma = next((at for at, chunk in enumerate(chunks, 1) if chunk.endswith(",")), len(chunks))
                chunks = chunks[comma:] + chunks[:comma]
            yield chunks


def _uncapitalised(word: str) -> str:
    return word.lower() if word[1:] == word[1:].lower() else word
