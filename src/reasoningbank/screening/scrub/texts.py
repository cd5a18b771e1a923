"""Takes the secrets out of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reasoningbank.screening.prefilter import Seen, joined
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
