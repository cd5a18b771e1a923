"""Looks for the signs of planted instructions in the fields of a lesson."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reasoningbank.screening.guard.chains import standing
from reasoningbank.screening.guard.forms import standing_forms
from reasoningbank.screening.guard.hidden_text import hidden_signs
from reasoningbank.screening.guard.readings import decoded, plain_reading
from reasoningbank.screening.prefilter import Seen, joined, look

SUSPICIOUS = 1.0
_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """One sign of a planted instruction.

    Attributes:
        sign: family and kind, such as `override.instructions`; `hidden.` before it: it was encoded or hidden.
        field: where it was found, such as `content`.
        excerpt: the place, as it reads once what was hidden is undone.
        weight: how much it says; the weights of different signs add up.
    """

    sign: str
    field: str
    excerpt: str
    weight: float

    def __str__(self) -> str:
        return f"{self.sign} in {self.field}: {self.excerpt}"


def inspect(seen: Seen | None = None, /, **texts: str) -> tuple[Finding, ...]:
    """Return the signs of planted instructions in the given fields, each sign once, the weightiest first.

    Example: `inspect(title=draft.title, content=draft.content)`.

    Args:
        seen: an earlier look at the fields, joined.
    """
    # Nearly all lessons show nothing: one look at all fields together says so, and costs less than one at each.
    if not any(True for _ in findings("", joined(texts.values()), seen)):
        return ()
    found: dict[str, Finding] = {}
    for field, text in texts.items():
        for finding in findings(field, text):
            known = found.get(finding.sign)
            if known is None or known.weight < finding.weight:
                found[finding.sign] = finding
    return tuple(sorted(found.values(), key=lambda finding: (-finding.weight, finding.sign)))


def is_suspicious(findings: Iterable[Finding]) -> bool:
    """Tell whether findings are enough to keep a memory from being served until a person approves it."""
    return sum(finding.weight for finding in findings) >= SUSPICIOUS


def findings(field: str, text: str, seen: Seen | None = None) -> Iterator[Finding]:
    """Yield the signs in one text as they are met.

    Args:
        seen: an earlier look at it.
    """
    for sign, weight in hidden_signs(text):
        yield Finding(f"hidden.{sign}", field, "", weight)
    plain = plain_reading(text)
    for sign, weight, excerpt in _signs(plain, seen):
        yield Finding(sign, field, excerpt, weight)
    messages = list(decoded(plain))
    acted_on = bool(messages) and _ACTED_ON.search(plain)
    for code, reading in messages:
        if acted_on and _SEVERAL_WORDS.search(reading):
            yield Finding(f"hidden.{code}.payload", field, _excerpt(reading, 0), 1.0)
        for sign, weight, excerpt in _signs(reading):
            yield Finding(f"hidden.{code}.{sign}", field, excerpt, min(1.0, weight + 0.5))


# What says that an encoded text is to be acted on.
_ACTED_ON = re.compile(r"\b(?:execut|eval|exec|run|obey|do what|do as|follow|apply)\w*", re.IGNORECASE)
_SEVERAL_WORDS = re.compile(r"\w\W+\w")


def _signs(reading: str, seen: Seen | None = None) -> Iterator[tuple[str, float, str]]:
    """Yield (sign, weight, excerpt)."""
    seen = look(reading, seen)
    for sign, weight, place in standing_forms(seen.lower, seen.keywords):
        yield sign, weight, _excerpt(seen.lower, place)
    for sign, weight, place in standing(reading, seen):
        yield sign, weight, _excerpt(reading, place)


def _excerpt(text: str, start: int) -> str:
    return " ".join(text[start : start + _EXCERPT].split())
