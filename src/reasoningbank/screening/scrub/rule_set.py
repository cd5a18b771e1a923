"""The rules as one table, and how it takes the secrets out of texts and JSON values.

Each rule is tried in one pass over a text, and most of them in none.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.screening.guard.hidden_text import normalise_hidden
from reasoningbank.screening.prefilter import Seen, by_keyword, folded, joined, keywords_in
from reasoningbank.screening.scrub.calls import CALLS
from reasoningbank.screening.scrub.commands import COMMANDS
from reasoningbank.screening.scrub.context import NAMED, is_assigned_to
from reasoningbank.screening.scrub.forms import FORMS
from reasoningbank.screening.scrub.prose import PROSE, TOLD
from reasoningbank.screening.scrub.rule import Rule, Span, secret_span

RULES_VERSION = 4
"""Grows with every change of the built-in rules; what was scrubbed under an older one is scrubbed again on reading."""

# A rejected match is searched again, but only if it is short: so the time stays linear.
_SEARCHED_AGAIN = 400

_RULES = (*FORMS, *NAMED, *PROSE, *TOLD, *CALLS, *COMMANDS)
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
        """Return what is to be dropped as (start, end, rule), in order, without overlaps; `seen` is an earlier look."""
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

REDACTED = "[REDACTED]"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets, and how many were dropped, by rule; the values themselves are not kept."""

    text: str
    counts: dict[str, int]


def scrub(text: str, rules: RuleSet = DEFAULT_RULES) -> Scrubbed:
    """Replace the secrets in `text` by [REDACTED], and count them by rule."""
    if not text:
        return Scrubbed(text, {})
    parts: list[str] = []
    counts: Counter[str] = Counter()
    kept = 0
    for start, end, name in rules.find(text):
        parts += (text[kept:start], REDACTED)
        counts[name] += 1
        kept = end
    return Scrubbed("".join((*parts, text[kept:])), dict(counts)) if parts else Scrubbed(text, {})


def scrub_each(texts: Sequence[str], rules: RuleSet = DEFAULT_RULES, seen: Seen | None = None) -> list[Scrubbed]:
    """Scrub several short texts; where none holds a secret, one look at all of them, or an earlier one, says so."""
    if not rules.find(joined(texts), seen):
        return [Scrubbed(text, {}) for text in texts]
    return [scrub(text, rules) for text in texts]


_DEPTH_LIMIT = 100
_HELD_BY_PARENT = frozenset(("value", "val", "default", "content", "text", "raw"))


def scrub_value(value: Any, rules: RuleSet = DEFAULT_RULES) -> tuple[Any, dict[str, int]]:
    """Scrub every string of a JSON value, with the key it stands under in mind: {"password": "x9"} loses its x9.

    Keys are scrubbed too, and characters that nobody sees hide no secret. Tuples come back as lists. Nested deeper than
    100 levels, it raises LimitExceededError.
    """
    counts: Counter[str] = Counter()
    return _Nested(rules, counts).scrub(value, "", 0), dict(counts)


@dataclass(frozen=True, slots=True)
class _Nested:
    rules: RuleSet
    counts: Counter[str]

    def scrub(self, value: Any, name: str, depth: int) -> Any:
        if depth > _DEPTH_LIMIT:
            raise LimitExceededError("nested value", limit=_DEPTH_LIMIT, actual=depth, unit="levels")
        if isinstance(value, dict):
            return self._mapping(value, name, depth)
        if isinstance(value, (list, tuple)):
            return [self.scrub(item, name, depth + 1) for item in value]
        if isinstance(value, str):
            return self._string(value, name)
        if isinstance(value, int) and not isinstance(value, bool) and is_assigned_to(name, str(value)):
            return self._dropped()
        return value

    def _mapping(self, value: dict[Any, Any], name: str, depth: int) -> dict[Any, Any]:
        named = next((value[key] for key in ("name", "key", "header") if isinstance(value.get(key), str)), name)
        scrubbed: dict[Any, Any] = {}
        for key, item in value.items():
            held = named if str(key).lower() in _HELD_BY_PARENT else normalise_hidden(str(key))
            scrubbed[self._free_key(key, scrubbed)] = self.scrub(item, held, depth + 1)
        return scrubbed

    def _free_key(self, key: Any, taken: dict[Any, Any]) -> Any:
        """Return the scrubbed key; two secret keys of one mapping must not become one."""
        if not isinstance(key, str) or (clean := self._string(key, "")) == key:
            return key
        names = (clean if n == 1 else f"{clean} {n}" for n in itertools.count(1))
        return next(name for name in names if name not in taken)

    def _string(self, text: str, name: str) -> str:
        visible = normalise_hidden(text)
        if is_assigned_to(name, visible) and not self.rules.allows(visible):
            return self._dropped()
        # A header or cookie is told by its name: scrubbed together with it.
        before = f"{name}: " if name else ""
        scrubbed = scrub(before + visible, self.rules)
        if not scrubbed.text.startswith(before):
            before, scrubbed = "", scrub(visible, self.rules)
        self.counts.update(scrubbed.counts)
        # What holds no secret stays as it is, to be found by just that.
        return scrubbed.text[len(before) :] if scrubbed.counts else text

    def _dropped(self) -> str:
        self.counts["named-value"] += 1
        return REDACTED
