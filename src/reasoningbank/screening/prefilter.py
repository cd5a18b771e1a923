"""Where the keywords of scrubber and guard stand in a text: one pass finds them all, however many they are.

A rule is tried on a text that holds one of its keywords, and a sign where its words stand; nearly all are ruled out so.
The automaton (Aho & Corasick 1975) is built from both tables at the first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ahocorasick import Automaton

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen:
    """What one pass over a text saw: the text as `folded` returns it, and where keywords stand in it.

    A hit is (where its last character stands, keyword), one for each place; of a keyword of one character, one in all.
    """

    lower: str
    hits: tuple[tuple[int, str], ...]

    @property
    def keywords(self) -> set[str]:
        """The keywords that the text holds."""
        return {keyword for _, keyword in self.hits}


def by_keyword(tables: Iterable[tuple[Iterable[str], T]]) -> dict[str, list[T]]:
    """Return what each keyword stands for, from (keywords, what they stand for)."""
    found: dict[str, list[T]] = {}
    for keywords, meant in tables:
        for keyword in keywords:
            found.setdefault(keyword, []).append(meant)
    return found


def look(text: str, before: Seen | None = None) -> Seen:
    """Find the keywords in a text, in any case; an earlier look is returned if it was at the same text."""
    lower = folded(text)
    if before is not None and before.lower == lower:
        return before
    return Seen(lower, (*_automaton().iter(lower), *((lower.find(c), c) for c in _characters() if c in lower)))


def keywords_in(lower: str, before: Seen | None = None) -> set[str]:
    """Return the keywords that a folded text holds; `look` without the places, which fill memory where it is long."""
    if before is not None and before.lower == lower:
        return before.keywords
    return {keyword for _, keyword in _automaton().iter(lower)}.union(c for c in _characters() if c in lower)


def joined(texts: Iterable[str]) -> str:
    """Return the texts of a lesson as one, which can be looked at once: no keyword spans two of them."""
    return "\n\n".join(filter(None, texts))


_ASCII_LOWER = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def folded(text: str) -> str:
    """Return a text in lower case, in which every character stands where it stood."""
    lower = text.lower()
    # A letter such as U+0130 becomes two: then only ASCII is folded.
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


@cache
def all_keywords() -> frozenset[str]:
    """Return the keywords of all rules and signs."""
    from reasoningbank.screening.guard import chains, forms
    from reasoningbank.screening.scrub import rule_set

    return frozenset((*chains.KEYWORDS, *forms.KEYWORDS, *rule_set.KEYWORDS))


@cache
def _characters() -> frozenset[str]:
    """Return the keywords of one character: a text holds too many of them to collect each."""
    return frozenset(keyword for keyword in all_keywords() if len(keyword) == 1)


@cache
def _automaton() -> Automaton | _Plain:
    keywords = all_keywords() - _characters()
    try:
        import ahocorasick
    except ImportError:
        return _Plain(keywords)
    automaton = ahocorasick.Automaton()
    for keyword in keywords:
        automaton.add_word(keyword, keyword)
    automaton.make_automaton()
    return automaton


class _Plain:
    """What the automaton answers, many times slower: where its library cannot be loaded, nothing goes unscreened."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._any = re.compile(f"(?=({'|'.join(map(re.escape, sorted(keywords, key=len, reverse=True)))}))")
        self._within = {one: [other for other in keywords if one.startswith(other)] for one in keywords}

    def iter(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield (where its last character stands, keyword) for each keyword at each place."""
        for match in self._any.finditer(text):
            yield from ((match.start() + len(keyword) - 1, keyword) for keyword in self._within[match[1]])
