"""Takes the secrets out of texts, and of JSON values with the key that each string stands under in mind."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reasoningbank.errors import LimitExceededError
from reasoningbank.screening.prefilter import Seen, joined
from reasoningbank.screening.scrub.context import is_assigned_to
from reasoningbank.screening.scrub.rule_set import DEFAULT_RULES, RuleSet

REDACTED = "[REDACTED]"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets.

    Attributes:
        counts: how many were dropped, by rule; the values themselves are not kept.
    """

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
    """Scrub several short texts; where none holds a secret, which is the rule, one look at all of them says so.

    Args:
        seen: an earlier look at the texts, joined.
    """
    if not rules.find(joined(texts), seen):
        return [Scrubbed(text, {}) for text in texts]
    return [scrub(text, rules) for text in texts]


_DEPTH_LIMIT = 100
_HELD_BY_PARENT = frozenset(("value", "val", "default", "content", "text", "raw"))


def scrub_value(value: Any, rules: RuleSet = DEFAULT_RULES) -> tuple[Any, dict[str, int]]:
    """Scrub every string of a JSON value, with the key it stands under in mind: {"password": "x9"} loses its x9.

    Keys are scrubbed too. Tuples come back as lists.

    Raises:
        LimitExceededError: the value is nested deeper than 100 levels.
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
            held = named if str(key).lower() in _HELD_BY_PARENT else str(key)
            scrubbed[self._free_key(key, scrubbed)] = self.scrub(item, held, depth + 1)
        return scrubbed

    def _free_key(self, key: Any, taken: dict[Any, Any]) -> Any:
        """Return the scrubbed key; two secret keys of one mapping must not become one."""
        if not isinstance(key, str) or (clean := self._string(key, "")) == key:
            return key
        names = (clean if n == 1 else f"{clean} {n}" for n in itertools.count(1))
        return next(name for name in names if name not in taken)

    def _string(self, text: str, name: str) -> str:
        if is_assigned_to(name, text) and not self.rules.allows(text):
            return self._dropped()
        # A header or cookie is told by its name: scrubbed together with it.
        before = f"{name}: " if name else ""
        scrubbed = scrub(before + text, self.rules)
        if not scrubbed.text.startswith(before):
            before, scrubbed = "", scrub(text, self.rules)
        self.counts.update(scrubbed.counts)
        return scrubbed.text[len(before) :]

    def _dropped(self) -> str:
        self.counts["named-value"] += 1
        return REDACTED
