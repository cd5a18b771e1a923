"""Looks for the signs of planted instructions in the fields of a lesson."""

from __future__ import annotations

import base64
import binascii
import html
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from reasoningbank.screening.guard.chains import standing
from reasoningbank.screening.guard.forms import standing_forms
from reasoningbank.screening.guard.hidden_text import HIDDEN, hidden_signs
from reasoningbank.screening.guard.unfounded import unfounded
from reasoningbank.screening.prefilter import Seen, joined, look

SUSPICIOUS = 1.0
"""From here on a lesson is quarantined."""
DOUBTFUL = 0.5
"""From here on it is served in doubt: behind others that fit as well, and shown for review."""
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

    An order that is split over fields is found where they meet, in the order in which a model is shown them: there only
    what stands in no honest text counts.

    Example: `inspect(title=draft.title, content=draft.content)`. `seen` is an earlier look at the fields, joined.
    """
    met = [finding for finding in findings(_MEETING, _meeting(texts)) if finding.sign.startswith(_PLAIN)]
    # Nearly all lessons show nothing: one look at all fields together says so, and costs less than one at each.
    fields = texts if any(True for _ in findings("", joined(texts.values()), seen)) else {}
    found: dict[str, Finding] = {}
    for finding in chain(chain.from_iterable(findings(field, text) for field, text in fields.items()), met):
        known = found.get(finding.sign)
        if known is None or known.weight < finding.weight:
            found[finding.sign] = finding
    return tuple(sorted(found.values(), key=lambda finding: (-finding.weight, finding.sign)))


_MEETING = "several fields"
_SHOWN = ("title", "description", "applies_when", "content", "tags", "metadata")
# Of a long field, what stands next to another one.
_NEAR = 120


def _meeting(texts: Mapping[str, str]) -> str:
    """Return the fields' ends as one text, in the order in which a model is shown them; of one field, nothing."""
    order = sorted(texts, key=lambda name: _SHOWN.index(name) if name in _SHOWN else 0)
    shown = [text for name in order if (text := " ".join(texts[name].split()))]
    ends = (text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]}\n\n{text[-_NEAR:]}" for text in shown)
    # A full stop that an attacker puts between them divides nothing for a model.
    return " ".join(end.rstrip(".!?:;, ") for end in ends) if len(shown) > 1 else ""


def suspicion(findings: Iterable[Finding], length: int, *, trusted: bool = True) -> float:
    """Return how suspicious findings make a lesson; from SUSPICIOUS on a person has to approve it.

    What no honest text says counts in full. What a policy says too (whom not to tell, what needs no approval, where
    payments go) counts the less, the more else there is: one such sentence is all of a planted lesson, and one of many
    on an honest page. In the words of somebody who is not trusted it counts in full.

    Args:
        length: of the lesson, in characters.
        trusted: whether who brought it is.
    """
    share = min(1.0, SHORT / max(length, 1)) if trusted else 1.0
    return math.fsum(finding.weight * (1.0 if finding.sign.startswith(_PLAIN) else share) for finding in findings)


# Characters up to which a lesson is one thing said.
SHORT = 300
# Signs that stand in no honest text, however long; whatever was hidden or encoded is one.
_PLAIN = (
    "hidden.",
    "role.",
    "override.instructions",
    "override.persona",
    "override.disclosure",
    "override.language",
    "exfiltration.command",
    "exfiltration.beacon",
    "exfiltration.pixel",
    "tools.destroy",
    "tools.shell",
    "tools.traces",
    "tools.pipe",
    "redirect.source",
    "unfounded.",
)


def unfounded_names(text: str, told: str) -> tuple[Finding, ...]:
    """Return what a lesson names that the run it was drawn from never had, as a finding; none when it names nothing."""
    names = ", ".join(unfounded(text, told))
    return (Finding("unfounded.name", "content", f"its run never named {names}"[:_EXCERPT], DOUBTFUL),) if names else ()


def findings(field: str, text: str, seen: Seen | None = None) -> Iterator[Finding]:
    """Yield the signs in one text as they are met; `seen` is an earlier look at it."""
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


# -- a text as an attacker may have meant it: without what hides it, and decoded --------------------------------------

_PUNCTUATION = str.maketrans("‐‑‒–—’‘“”", "-----''\"\"")  # noqa: RUF001
_RUN = re.compile(r"[A-Za-z0-9+/_\-]{16,}+={0,2}")
_HEX = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}){12,})")


def plain_reading(text: str) -> str:
    """Return a text without hidden characters, its compatibility forms and punctuation as in ASCII."""
    plain = HIDDEN.sub("", html.unescape(text) if "&#" in text else text)
    return plain if plain.isascii() else unicodedata.normalize("NFKC", plain).translate(_PUNCTUATION)


def decoded(plain: str) -> Iterator[tuple[str, str]]:
    """Yield (hex or base64, the message) for each long run of characters that encodes one."""
    for run in _RUN.findall(plain):
        digits = _HEX.fullmatch(run)
        text = _as_text(bytes.fromhex(digits[1]) if digits else _from_base64(run))
        if text is not None:
            yield ("hex" if digits else "base64"), text


def _from_base64(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def _as_text(message: bytes) -> str | None:
    """Return bytes as text when nearly all of them are printable."""
    try:
        text = message.decode("utf-8")
    except UnicodeDecodeError:
        return None
    printable = sum(character.isprintable() or character in "\n\t" for character in text)
    return text if len(text) >= 6 and printable >= 0.95 * len(text) else None
