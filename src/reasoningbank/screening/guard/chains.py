"""Which signs stand in a sentence: chains of word classes near each other, and two things that change places."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator

from reasoningbank.screening.guard.sentences import Words, words_of
from reasoningbank.screening.guard.signs import SIGNS, Sign

_BREAKS = frozenset(",;:()-")
_BEFORE_COMMAND = frozenset(
    [*_BREAKS, "", "please", "then", "first", "and", "or", "must", "should", "just", "simply", "always", "now", "also",
     "you", "instead", "to", "can", "will", "shall", "\"", "'", "*", "#", ">", "immediately", "run"]
)  # fmt: skip


def standing(words: Words) -> dict[str, float]:
    """Return the signs that stand in a sentence, each with its greatest weight."""
    found: dict[str, float] = {}
    for name in words.places.keys() & _BY_FIRST.keys():
        for sign in _BY_FIRST[name]:
            if sign.weight > found.get(sign.name, 0.0) and stands(sign, words):
                found[sign.name] = sign.weight
    return found


_BY_FIRST = {name: [sign for sign in SIGNS if sign.chain[0] == name] for name in {sign.chain[0] for sign in SIGNS}}


def stands(sign: Sign, sentence: Words) -> bool:
    """Tell whether a sign stands in a sentence, and nothing undoes it."""
    places = sentence.places
    if not all(name in places for name in (*sign.chain, *sign.also)) or any(name in places for name in sign.unless):
        return False
    return any(
        (_surrounds(sign, places, start) if sign.loose else _follows(sign, places, start, 1))
        and not (sign.commands and not _is_command(sentence, start))
        and (sign.negated or not _is_negated(sentence, start))
        and not _is_quoted(sentence, start)
        for start in places[sign.chain[0]]
    )


def _follows(sign: Sign, places: dict[str, list[int]], place: int, step: int) -> bool:
    """Tell whether the rest of the chain stands behind `place`."""
    if step == len(sign.chain):
        return True
    here = places[sign.chain[step]]
    near = here[bisect_right(here, place) : bisect_right(here, place + sign.gap)]
    return any(_follows(sign, places, other, step + 1) for other in near[:4])


def _surrounds(sign: Sign, places: dict[str, list[int]], place: int) -> bool:
    """Tell whether the rest of the chain stands near `place`, before or behind it, each at a place of its own."""
    taken = {place}
    for name in sign.chain[1:]:
        here = places[name]
        near = here[bisect_left(here, place - sign.gap) : bisect_right(here, place + sign.gap)]
        free = next((other for other in near if other not in taken), None)
        if free is None:
            return False
        taken.add(free)
    return True


def _is_command(sentence: Words, place: int) -> bool:
    return place == 0 or sentence.words[place - 1] in _BEFORE_COMMAND


def _is_negated(sentence: Words, place: int) -> bool:
    negations = sentence.places.get("NEGATION", [])
    for index in reversed(range(max(0, place - 7), place)):
        if sentence.words[index] in _BREAKS:
            return False
        if index in negations[bisect_left(negations, index) :][:1]:
            return True
    return False


def _is_quoted(sentence: Words, place: int) -> bool:
    """Tell whether a sentence about attacks quotes what it warns of."""
    before = sentence.words[:place]
    return "PROTECTIVE" in sentence.places and any(before.count(quote) % 2 for quote in ('"', "'", "`"))


_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\s*\n))+")
_IN_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def swaps(reading: str, codes: frozenset[str]) -> Iterator[tuple[float, str]]:
    """Yield weight and paragraph where one thing is answered for another: X was renamed Y; when X is asked, put Y."""
    if len(codes) < 2:
        return
    for paragraph in _PARAGRAPH.finditer(_IN_CODE.sub(" ", reading)):
        words = words_of(paragraph[0], codes)
        if not words.places.keys() >= {"CODE", "WHEN", "USE"}:
            continue
        named = Counter(words.words[place] for place in words.places["CODE"])
        both = sum(n > 1 for n in named.values()) > 1
        crossed = any(stands(sign, words) for sign in _CROSSINGS)
        claimed = "RENAMED" in words.places
        if both or crossed:
            yield 0.5 + 0.5 * claimed + 0.3 * (both and crossed), paragraph[0]


_CROSSINGS = (
    Sign("redirect.swap", 1.0, ("WHEN", "CODE", "USE", "CODE"), 8),
    Sign("redirect.swap", 1.0, ("USE", "CODE", "WHEN", "CODE"), 8),
)
