"""What a text shows beside itself: what changed in it, and where signs of planted instructions stand. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_FINDING: Final = re.compile(r"(?P<sign>\S+) in (?P<field>\w+): (?P<excerpt>.*)", re.DOTALL)
# A comparison word by word of longer texts would keep the reader waiting: they are compared line by line.
_LONGEST: Final = 4_000


class Part(NamedTuple):
    """A part of a text: as it was ("same"), gone ("gone"), or new ("new"); or a place that was marked ("mark")."""

    kind: Literal["same", "gone", "new", "mark"]
    text: str


def changed(before: str, after: str) -> list[Part]:
    """Return both texts as one: what stayed, what went and what came, word by word."""
    if before == after:
        return [Part("same", after)] if after else []
    long = len(before) + len(after) > _LONGEST
    old, new = (text.splitlines(keepends=True) if long else _WORDS.findall(text) for text in (before, after))
    parts: list[Part] = []
    for op, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if op == "equal":
            parts.append(Part("same", "".join(old[i1:i2])))
            continue
        if i2 > i1:
            parts.append(Part("gone", "".join(old[i1:i2])))
        if j2 > j1:
            parts.append(Part("new", "".join(new[j1:j2])))
    return parts


class Found(NamedTuple):
    """A sign of a planted instruction: what kind, in which field, and the words."""

    sign: str
    field: str
    excerpt: str


def read_findings(findings: Sequence[str]) -> list[Found]:
    """Return what findings of a memory say, as `Memory.findings` holds them."""
    read = (_FINDING.fullmatch(finding) for finding in findings)
    return [
        Found(found["sign"], found["field"], found["excerpt"]) if found else Found(finding, "", "")
        for found, finding in zip(read, findings, strict=True)
    ]


def marked(field: str, text: str, findings: Sequence[Found]) -> list[Part]:
    """Return a field's text with the places that findings name marked.

    What was encoded or hidden reads otherwise than it stands there: such a place is not found, and not marked.
    """
    spans = sorted(span for each in findings if each.field == field for span in _places(text, each.excerpt))
    parts, end = [], 0
    for start, stop in spans:
        if start < end:
            continue
        parts += [Part("same", text[end:start]), Part("mark", text[start:stop])]
        end = stop
    return [part for part in [*parts, Part("same", text[end:])] if part.text]


def _places(text: str, excerpt: str) -> list[tuple[int, int]]:
    words = excerpt.split()
    if not words:
        return []
    place = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE)
    return [place.span()] if place else []
