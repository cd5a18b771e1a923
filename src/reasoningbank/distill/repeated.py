"""What a run repeats of lessons word for word, however they were shown to it: documents, tables, JSON, quotes.

Words are compared, and nothing between them: a lesson may stand wrapped, quoted, in markup, or escaped in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# So many words in a row are taken for a lesson's; a lesson of fewer has to be there whole, if it has FEWEST.
TOGETHER: Final = 8
FEWEST: Final = 5
# A lesson was shown when so much of it is there, or its beginning, as where it was cut off: to quote one error message
# that a lesson quotes, too, is not to repeat it.
SHOWN: Final = 0.6
BEGINNING: Final = 12

_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:\\{{1,9}}u[0-9a-fA-F]{{4}}|[^\W_{_UNSPACED}])+")
_ESCAPED_SPACE = re.compile(r"\\{1,9}[nrt]")
_ESCAPED = re.compile(r"\\{1,9}u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text in lower case, and where each stands."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> _Words:
        # Of the same length, so that every word stands where it stood.
        plain = _ESCAPED_SPACE.sub(lambda match: " " * len(match[0]), text)
        found = list(_WORD.finditer(plain))
        return cls(tuple(_as_said(match[0]) for match in found), tuple(match.span() for match in found))


def _as_said(word: str) -> str:
    said = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), word) if "\\" in word else word
    return said.casefold()


def without_lessons(text: str, lessons: Sequence[tuple[str, ...]]) -> str:
    """Return a text without the lessons that it repeats; each is given as its content, and what is shown beside it."""
    words = _Words.of(text)
    repeated: set[int] = set()
    for content, *beside in lessons:
        if found := _repeated(words, _Words.of(content).words):
            repeated |= found
            for other in beside:
                repeated |= _whole(words, _Words.of(other).words)
    if not repeated:
        return text
    kept, at = [], 0
    for place in sorted(repeated):
        start, end = words.spans[place]
        # What stands between two words that go, and is no word, goes with them.
        kept.append("" if place - 1 in repeated else text[at:start])
        at = end
    return "".join((*kept, text[at:]))


def _repeated(text: _Words, lesson: tuple[str, ...]) -> set[int]:
    """Return the places of the words that a text has from a lesson; none where it does not repeat it."""
    together = min(TOGETHER, len(lesson))
    if together < FEWEST:
        return set()
    begins = {lesson[at : at + together]: at for at in range(len(lesson) - together, -1, -1)}
    places: set[int] = set()
    said: set[int] = set()
    for place in range(len(text.words) - together + 1):
        at = begins.get(text.words[place : place + together])
        if at is not None:
            places.update(range(place, place + together))
            said.update(range(at, at + together))
    beginning = len(lesson) >= BEGINNING and said.issuperset(range(BEGINNING))
    return places if beginning or len(said) >= SHOWN * len(lesson) else set()


def _whole(text: _Words, said: tuple[str, ...]) -> set[int]:
    """Return the places of the words of a title, or of when a lesson applies, wherever it stands whole."""
    many = len(said)
    if many < 2:
        return set()
    starts = (at for at in range(len(text.words) - many + 1) if text.words[at : at + many] == said)
    return {at + step for at in starts for step in range(many)}
