"""The rules as one table, and how it is applied: each rule in one pass over the text, and most of them in none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from operator import or_

from reasoningbank.errors import InvalidInputError
from reasoningbank.screening.prefilter import Keywords, places
from reasoningbank.screening.scrub.commands import COMMANDS
from reasoningbank.screening.scrub.context import CONTEXT
from reasoningbank.screening.scrub.forms import FORMS
from reasoningbank.screening.scrub.rule import Rule, Span, secret_span

RULES_VERSION = 1
"""Grows with every change of the built-in rules; what was scrubbed under an older one is scrubbed again on reading."""

# A rejected match is searched again, but only if it is short: so the time stays linear.
_SEARCHED_AGAIN = 400
# What the chunks of a text could be part of is remembered: a hundred rules then cost about as much as one.
_CHUNKS_KNOWN = 16_384
# A text that is longer holds too much that no other does.
_LONG = 4_000


class RuleSet:
    """The built-in rules, with those of the user and what the user allows.

    Args:
        extra: rules that come before the built-in ones.
        allow: patterns of values that are no secrets; each is compared with the whole of a value that a rule found.

    Raises:
        InvalidInputError: a pattern is not a regular expression.
    """

    def __init__(self, extra: Iterable[Rule] = (), allow: Iterable[str] = ()) -> None:
        own = tuple(extra)
        for rule in own:
            _pattern(rule.pattern, rule.name)
        self._rules = (*own, *FORMS, *CONTEXT, *COMMANDS)
        self._allow = tuple(_pattern(pattern, "allow") for pattern in allow)
        self._always = sum(1 << rank for rank, rule in enumerate(self._rules) if not rule.keywords)
        self._unworded = sum(1 << rank for rank, rule in enumerate(self._rules) if not rule.word)
        self._by_head: dict[bytes, int] = {}
        inside = []
        for rank, rule in enumerate(self._rules):
            for keyword in rule.keywords:
                if rule.word:
                    self._by_head[_head(keyword)] = self._by_head.get(_head(keyword), 0) | 1 << rank
                else:
                    inside.append((keyword, 1 << rank))
        self._inside = Keywords(inside)
        self._bits_of = lru_cache(maxsize=_CHUNKS_KNOWN)(self._look_at)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Return what is to be dropped as (start, end, rule), in order, without overlaps."""
        lower = _lower(text)
        found = [
            (*span, rank)
            for rank in self._candidates(lower)
            for span in self._spans(self._rules[rank], text=text, lower=lower)
        ]
        return [(start, end, self._rules[rank].name) for start, end, rank in _merged(found)]

    def _candidates(self, lower: str) -> Iterator[int]:
        """Yield the rules that have a keyword in the text."""
        if len(lower) > _LONG:
            seen = self._of_heads(lower) | self._unworded
        else:
            seen = reduce(or_, map(self._bits_of, set(lower.split())), self._always)
        for rank in places(seen):
            keywords = self._rules[rank].keywords
            if not keywords or any(keyword in lower for keyword in keywords):
                yield rank

    def _look_at(self, chunk: str) -> int:
        """Return the rules that a text with this chunk, in lower case, could hold a keyword of, as bits."""
        return self._inside.bits_of(chunk) | self._of_heads(chunk)

    def _of_heads(self, lower: str) -> int:
        return reduce(or_, (self._by_head[head] for head in self._by_head.keys() & _heads(lower)), 0)

    def _spans(self, rule: Rule, *, text: str, lower: str) -> Iterator[Span]:
        pattern, searched = _pattern(rule.pattern, rule.name), lower if rule.folded else text
        at = 0
        while at <= len(text) and (match := pattern.search(searched, at)):
            span = rule.find(match, text) if rule.find else secret_span(match)
            at = max(match.end(), match.start() + 1)
            if span and span[0] < span[1] and not self.allows(text[slice(*span)]):
                yield span
            elif match.end() - match.start() < _SEARCHED_AGAIN:
                at = match.start() + 1  # what was taken for a value may itself be `name, link, value`

    def allows(self, value: str) -> bool:
        """Tell whether the user said that `value` is no secret."""
        return any(pattern.fullmatch(value) for pattern in self._allow)


# The table is compiled as it is needed: all of it takes longer than a first search, which seldom needs a tenth.
@lru_cache(maxsize=1_024)
def _pattern(pattern: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidInputError(
            f"scrubbing rule {name!r}: {pattern!r:.200} is not a regular expression: {error}"
        ) from None


_ASCII_LOWER = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _lower(text: str) -> str:
    lower = text.lower()
    # A letter such as U+0130 becomes two: then only ASCII is folded, so that places in both texts stay the same.
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


# Over a hundred keywords begin a word. One whose first three letters begin no word needs no look at the text.
_NOT_IN_WORDS = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))


_ESCAPE = re.compile(r"\\(?:[nrt]|u00[0-9a-f]{2}|x[0-9a-f]{2})|%[0-9a-f]{2}|\[(?:\d{1,2};)*+\d{1,2}m")


def _heads(lower: str) -> set[bytes]:
    if "\\" in lower or "%" in lower or "\x1b" in lower:
        lower = _ESCAPE.sub(" ", lower)
    return {word[:3] for word in set(lower.encode("utf-8", "replace").translate(_NOT_IN_WORDS).split())}


def _head(keyword: str) -> bytes:
    return keyword.encode().translate(_NOT_IN_WORDS).split()[0][:3]


def _merged(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join spans that overlap or touch; the joined one counts for the rule that comes first in the table."""
    merged: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(found):
        if merged and start <= merged[-1][1]:
            first, last, before = merged[-1]
            merged[-1] = (first, max(last, end), min(before, rank))
        else:
            merged.append((start, end, rank))
    return merged


DEFAULT_RULES = RuleSet()
