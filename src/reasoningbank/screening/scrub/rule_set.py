"""The rules as one table, and how it is applied: each rule in one pass over the text, and most of them in none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from reasoningbank.errors import InvalidInputError
from reasoningbank.screening.prefilter import Seen, by_keyword, folded, keywords_in
from reasoningbank.screening.scrub.commands import COMMANDS
from reasoningbank.screening.scrub.context import CONTEXT
from reasoningbank.screening.scrub.forms import FORMS
from reasoningbank.screening.scrub.rule import Rule, Span, secret_span

RULES_VERSION = 1
"""Grows with every change of the built-in rules; what was scrubbed under an older one is scrubbed again on reading."""

# A rejected match is searched again, but only if it is short: so the time stays linear.
_SEARCHED_AGAIN = 400

_RULES = (*FORMS, *CONTEXT, *COMMANDS)
_BY_KEYWORD = by_keyword((rule.keywords, number) for number, rule in enumerate(_RULES))
KEYWORDS = _BY_KEYWORD.keys()


class RuleSet:
    """The built-in rules, with those of the user and what the user allows.

    Args:
        extra: rules that come before the built-in ones.
        allow: patterns of values that are no secrets; each is compared with the whole of a value that a rule found.

    Raises:
        InvalidInputError: a pattern is not a regular expression.
    """

    def __init__(self, extra: Iterable[Rule] = (), allow: Iterable[str] = ()) -> None:
        self._own = tuple(extra)
        for rule in self._own:
            _pattern(rule.pattern, rule.name)
        self._allow = tuple(_pattern(pattern, "allow") for pattern in allow)

    def find(self, text: str, seen: Seen | None = None) -> list[tuple[int, int, str]]:
        """Return what is to be dropped as (start, end, rule), in order, without overlaps.

        Args:
            seen: an earlier look at the text.
        """
        lower = folded(text)
        numbers = {number for keyword in keywords_in(lower, seen) & KEYWORDS for number in _BY_KEYWORD[keyword]}
        own = (rule for rule in self._own if not rule.keywords or any(keyword in lower for keyword in rule.keywords))
        rules = [*own, *(_RULES[number] for number in sorted(numbers))]
        found = [(*span, rank) for rank, rule in enumerate(rules) for span in self._spans(rule, text=text, lower=lower)]
        return [(start, end, rules[rank].name) for start, end, rank in _merged(found)]

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
