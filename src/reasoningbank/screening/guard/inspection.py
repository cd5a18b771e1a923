"""Looks for the signs of planted instructions in a text, in each of its readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from reasoningbank.screening.guard.chains import standing, swaps
from reasoningbank.screening.guard.forms import SQUEEZED, standing_forms
from reasoningbank.screening.guard.glance import (
    PIECES,
    forms_in,
    glance,
    may_be_about_the_agent,
    may_be_spaced,
    may_be_swapped,
    may_hold_a_sign,
    may_hold_codes,
)
from reasoningbank.screening.guard.hidden_text import hidden_signs
from reasoningbank.screening.guard.readings import other_readings, plain_reading
from reasoningbank.screening.guard.sentences import SENTENCE, Words, codes_of, may_stand, words_of
from reasoningbank.screening.guard.wording import may_be_worded, weight_of_wording

SUSPICIOUS = 1.0
_EXCERPT = 80

Look = Callable[[str], int]
"""Says of a text what may be in it."""


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


def inspect(**texts: str) -> tuple[Finding, ...]:
    """Return the signs of planted instructions in the given fields, each sign once, the weightiest first.

    Example: `inspect(title=draft.title, content=draft.content)`.
    """
    # Nearly all lessons show nothing: one look at all fields together says so, and costs a third of four.
    if not any(True for _ in findings("", "\n".join(texts.values()))):
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


def findings(field: str, text: str, look: Look = glance) -> Iterator[Finding]:
    """Yield the signs in one text as they are met.

    Args:
        look: says of a text what need not be looked for in it.
    """
    plain = plain_reading(text)
    seen = look(plain)
    for sign, weight in hidden_signs(text, spaced=text != plain or may_be_spaced(seen, text)):
        yield Finding(f"hidden.{sign}", field, "", weight)
    known = set()
    for sign, weight, excerpt in _signs(plain, "plain", seen, look):
        known.add(sign)
        yield Finding(sign, field, excerpt, min(1.0, weight))
    for undone, reading in other_readings(text, plain, seen):
        if undone in ("base64", "hex") and _ACTED_ON.search(plain) and _SEVERAL_WORDS.search(reading):
            yield Finding(f"hidden.{undone}.payload", field, _excerpt(reading, 0), 1.0)
        if undone == "spaced" or any(word in reading.lower() for word in PIECES):
            for sign, weight, excerpt in _signs(reading, undone, look(reading), look):
                if sign not in known:
                    yield Finding(f"hidden.{undone}.{sign}", field, excerpt, min(1.0, weight + 0.5))


# What says that an encoded text is to be acted on.
_ACTED_ON = re.compile(r"\b(?:execut|eval|exec|run|obey|do what|do as|follow|apply)\w*", re.IGNORECASE)

_LETTERS = re.compile(r"[a-z]{3,}")
_SEVERAL_WORDS = re.compile(r"\w\W+\w")


def _signs(reading: str, undone: str, seen: int, look: Look) -> Iterator[tuple[str, float, str]]:
    lower, plain = reading.lower(), undone == "plain"
    for form, place in standing_forms(lower, forms_in(seen)):
        yield form.sign, form.weight, _excerpt(lower, place)
    if undone == "spaced" and SQUEEZED.search(re.sub(r"[^a-z]", "", lower)):
        yield "override.instructions", 1.0, _excerpt(reading, 0)
    if may_hold_a_sign(seen) or (plain and may_be_about_the_agent(seen)):
        yield from _signs_in_sentences(reading, lower, plain, seen, look)


def _signs_in_sentences(
    reading: str, lower: str, plain: bool, seen: int, look: Look
) -> Iterator[tuple[str, float, str]]:
    codes = codes_of(reading) if may_hold_codes(seen) else frozenset[str]()
    # It takes as long as all the rest: asked for only where something was found.
    signs_may_stand = cache(lambda: may_stand(lower, codes))
    for sentence in (match[0] for match in SENTENCE.finditer(reading)):
        shown = look(sentence)
        if not (may_hold_a_sign(shown) or (plain and may_be_about_the_agent(shown))):
            continue
        worded = plain and may_be_worded(_LETTERS.findall(sentence.lower()))
        if not (worded or may_hold_a_sign(seen)):
            continue
        found = _standing_in(words_of(sentence, codes), plain)
        if found and (worded or signs_may_stand()):
            yield from ((sign, weight, _excerpt(sentence, 0)) for sign, weight in found.items())
    if may_be_swapped(seen) and signs_may_stand():
        yield from (("redirect.swap", weight, _excerpt(paragraph, 0)) for weight, paragraph in swaps(reading, codes))


def _standing_in(words: Words, plain: bool) -> dict[str, float]:
    """Return the signs of a sentence, and its wording where that says enough."""
    found = standing(words)
    wording = weight_of_wording(words) if plain else 0.0
    if wording == 1.0 or (wording and found):
        found["wording"] = wording
    return found


def _excerpt(text: str, start: int) -> str:
    return " ".join(text[start : start + _EXCERPT].split())
