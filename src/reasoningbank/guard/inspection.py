"""Looks for the signs of planted instructions in a text, in each of its readings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reasoningbank.guard.chains import standing, swaps
from reasoningbank.guard.forms import LETTERS, SQUEEZED, standing_forms
from reasoningbank.guard.hidden_text import PIECES, hidden_signs, readings
from reasoningbank.guard.sentences import SENTENCE, codes_of, may_stand, words_of
from reasoningbank.guard.wording import may_be_worded, weight_of_wording

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


def inspect(**texts: str) -> tuple[Finding, ...]:
    """Return the signs of planted instructions in the given fields, each sign once, the weightiest first.

    Example: `inspect(title=draft.title, content=draft.content)`.
    """
    # Nearly all lessons show nothing: one look at all fields together says so, and costs a third of four.
    if not any(True for _ in _findings("", "\n".join(texts.values()))):
        return ()
    found: dict[str, Finding] = {}
    for field, text in texts.items():
        for finding in _findings(field, text):
            known = found.get(finding.sign)
            if known is None or known.weight < finding.weight:
                found[finding.sign] = finding
    return tuple(sorted(found.values(), key=lambda finding: (-finding.weight, finding.sign)))


def is_suspicious(findings: Iterable[Finding]) -> bool:
    """Tell whether findings are enough to keep a memory from being served until a person approves it."""
    return sum(finding.weight for finding in findings) >= SUSPICIOUS


def _findings(field: str, text: str) -> Iterator[Finding]:
    for sign, weight in hidden_signs(text):
        yield Finding(f"hidden.{sign}", field, "", weight)
    (_, plain), *others = readings(text)
    known = set()
    for sign, weight, excerpt in _signs(plain):
        known.add(sign)
        yield Finding(sign, field, excerpt, min(1.0, weight))
    for undone, reading in others:
        if undone in ("base64", "hex") and _ACTED_ON.search(plain) and _SEVERAL_WORDS.search(reading):
            yield Finding(f"hidden.{undone}.payload", field, _excerpt(reading, 0), 1.0)
        if undone == "spaced" or any(word in reading.lower() for word in PIECES):
            for sign, weight, excerpt in _signs(reading, undone):
                if sign not in known:
                    yield Finding(f"hidden.{undone}.{sign}", field, excerpt, min(1.0, weight + 0.5))


# What says that an encoded text is to be acted on.
_ACTED_ON = re.compile(r"\b(?:execut|eval|exec|run|obey|do what|do as|follow|apply)\w*", re.IGNORECASE)

_SEVERAL_WORDS = re.compile(r"\w\W+\w")


def _signs(reading: str, undone: str = "plain") -> Iterator[tuple[str, float, str]]:
    lower = reading.lower()
    yield from ((form.sign, form.weight, _excerpt(lower, place)) for form, place in standing_forms(lower))
    if undone == "spaced" and SQUEEZED.search(re.sub(r"[^a-z]", "", lower)):
        yield "override.instructions", 1.0, _excerpt(reading, 0)
    codes = codes_of(reading)
    signs_may_stand = may_stand(lower, codes)
    for sentence in SENTENCE.finditer(reading):
        if not signs_may_stand and not (undone == "plain" and may_be_worded(LETTERS.findall(sentence[0].lower()))):
            continue
        words = words_of(sentence[0], codes)
        found = standing(words)
        wording = weight_of_wording(words) if undone == "plain" else 0.0
        if wording == 1.0 or (wording and found):
            found["wording"] = wording
        yield from ((name, weight, _excerpt(sentence[0], 0)) for name, weight in found.items())
    if signs_may_stand:
        for weight, paragraph in swaps(reading, codes):
            yield "redirect.swap", weight, _excerpt(paragraph, 0)


def _excerpt(text: str, start: int) -> str:
    return " ".join(text[start : start + _EXCERPT].split())
