"""Certainty: whether two texts say the same beyond doubt, so that nobody needs to be asked before they become one.

Likeness proposes by tables of what may stand for what, and no table knows all of English: "log in" and "log out" differ
by a word that is of no weight elsewhere. Here nothing is weighed: two texts are the same word for word, in one order,
but for what changes no instruction. What was tried and what it gave: docs/benchmarks/merging.md.
"""

from __future__ import annotations

import re
from typing import Final

from reasoningbank.upkeep.sentences import sentences
from reasoningbank.upkeep.wording import NUMBER_WORDS

_CLOSING: Final = ".,;!?"  # but no colon: "key: yes" is read by more than people
# Markup around one word. Quotes around what a shell would read are kept: it reads them too.
_MARKED: Final = re.compile(r"[\"'*_\u201c\u2018]{1,2}(\w[\w./-]*)[\"'*_\u201d\u2019]{1,2}")
# They change nothing before another word; at an end, "the folder a" names a folder.
_DROPPED: Final = frozenset({"a", "an", "the", "please"})
_SPOKEN_SHORT: Final = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
}
_SHORT_ENDINGS: Final = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will"}
# Each line is one meaning, whatever it is said of.
_SAME: Final = """
    delete remove erase
    deleted removed erased
    deleting removing erasing
    directory folder
    directories folders
    fix repair
    choose pick
    large big
    verify validate
"""
_SAME_AS: Final = {word: words[0] for words in map(str.split, _SAME.strip().splitlines()) for word in words}


def beyond_doubt(one: str, other: str) -> bool:
    """Tell whether two texts are the same but for spelling, markup, articles, and where a clause stands."""
    return plainly(one) == plainly(other)


def plainly(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of a text, each as the words that count, in one order."""
    counted = (_that_count(chunks) for chunks in sentences(text))
    return tuple(words for words in counted if words)


def _that_count(chunks: list[str]) -> tuple[str, ...]:
    words = [word for chunk in chunks for word in _words_of(chunk)]
    return tuple(word for at, word in enumerate(words, 1) if word not in _DROPPED or at == len(words))


def _words_of(chunk: str) -> list[str]:
    bare = chunk.replace("`", "").rstrip(_CLOSING).replace("\u2019", "'")
    if marked := _MARKED.fullmatch(bare):
        bare = marked[1]
    whole = _SPOKEN_SHORT.get(bare, bare)
    for ending, said in _SHORT_ENDINGS.items():
        if whole == bare and bare.endswith(ending):
            whole = bare.removesuffix(ending) + said
    return [_SAME_AS.get(word, NUMBER_WORDS.get(word, word)) for word in whole.split()]
