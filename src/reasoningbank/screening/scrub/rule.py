"""What a scrubbing rule is.

How a pattern stays linear: it begins with literal text (which the engine finds at memory speed), every repetition is
possessive or bounded, and what must not stand before the literal is said right after it, by a lookbehind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Span = tuple[int, int]
Finder = Callable[["re.Match[str]", str], Span | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        name: what it is counted under.
        keywords: in lower case; the pattern is tried on a text that holds one of them, in any case. Empty: always.
        pattern: a regular expression. What its group `secret` matched is dropped; without such a group, all of it.
        folded: the pattern is written in lower case and matched against the text in lower case.
        find: a last look at a match and the original text: the span to drop, or None to keep everything.
    """

    name: str
    keywords: tuple[str, ...]
    pattern: str
    folded: bool = False
    find: Finder | None = None


def secret_span(match: re.Match[str], _text: str = "") -> Span:
    """Return the span of the group `secret`, or of the whole match where there is no such group."""
    return match.span("secret") if "secret" in match.re.groupindex else match.span()
