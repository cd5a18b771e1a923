"""A diagnostic, and its keys: equal for the same error wherever, whenever and on whichever line it happened."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from reasoningbank.diagnostics.rules import Weight

LONGEST = 400  # characters of a message

_SPACE = re.compile(r"\s+")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")

_QUOTES = str.maketrans(dict.fromkeys("‘’`´", "'") | dict.fromkeys("“”«»", '"'))  # noqa: RUF001

# What is another each time: it is no part of either key.
_UNITS = "ms|msec|milliseconds?|s|secs?|seconds?|min|minutes?"
_PLACES = "line|lines|column|col|char|character|offset|position|byte|pid|thread|line:|PID:"
_VOLATILE = tuple(
    (re.compile(form, re.IGNORECASE), with_)
    for form, with_ in (
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?", ""),
        (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", ""),
        (rf"(?:\b(?:after|in|within|took|elapsed)\s+)?\b\d+(?:\.\d+)?\s?(?:{_UNITS})\b", ""),
        (r"\(?\b0x[0-9a-f]{4,}\b\)?", ""),
        (rf"\b({_PLACES}|expression #\d+, char)[ :#]+\d+\b", r"\1"),
        (r"(?<=\w):\d+(?::\d+)?(?=[\s:,)'\"]|$)", ""),
        (r"\(\d+:\d+\)", ""),
        (r"\s*\(\d+(?:\.\d+)?%\)", ""),
    )
)

FOLDERS = "…/"

# A path with folders: they differ from machine to machine, the name at its end says what is meant.
_PATH = re.compile(
    r"(?<![\w/@:.])(?:file://|[A-Za-z]:(?=[\\/]))?(?:~|\.{1,2})?(?:[\\/]?[\w.+@%~-]+)?(?:[\\/][\w.+@%~-]+)+[\\/]?"
)
_TEMPORARY = re.compile(r"^(?:[A-Za-z]:)?[\\/](?:private[\\/])?(?:tmp|var[\\/]folders|temp)[\\/]", re.IGNORECASE)

_SLOTS = tuple(
    (re.compile(form, re.IGNORECASE), slot)
    for form, slot in (
        (r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+", "<url>"),
        (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<id>"),
        (r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b", "<id>"),
        (r"…/[\w.+@%~-]+", "<path>"),
        (r"(?<![\w.])[\w+@%~-][\w.+@%~-]*\.[a-z][a-z0-9]{0,9}\b(?!\()", "<path>"),
        (r"(?<![a-z_])\d+(?:[.,]\d+)*", "<n>"),
    )
)  # fmt: skip
_QUOTED = re.compile(r"'[^']{1,200}'|\"[^\"]{1,200}\"")


def visible(text: str) -> str:
    """Return a text without the codes that colour a terminal."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def steady(message: str) -> str:
    """Return a message without what is another each time: folders, lines, times, durations, addresses."""
    text = _SPACE.sub(" ", visible(message).translate(_QUOTES)).strip()[:LONGEST]
    for form, with_ in _VOLATILE:
        text = form.sub(with_, text)
    text = _PATH.sub(_last, text)
    return _SPACE.sub(" ", text).strip(" \t:;,")


def _last(path: re.Match[str]) -> str:
    text = path.group()
    if not re.search(r"[A-Za-z]", text) or text.startswith("HTTP/"):
        return text
    if _TEMPORARY.match(text):
        return "<tmp>"
    return FOLDERS + (re.split(r"[\\/]", text.rstrip("\\/"))[-1] or text)


def template(message: str) -> str:
    """Return a steady message with slots in place of numbers, ids, paths and addresses."""
    for form, slot in _SLOTS:
        message = form.sub(slot, message)
    return message.casefold()


def shape(templated: str) -> str:
    """Return a template with slots in place of what is quoted: what kind of error it is, whatever it is about."""
    return _QUOTED.sub("<q>", templated)


@dataclass(frozen=True)
class Diagnostic:
    """One thing that an output says went wrong.

    Attributes:
        message: without what is another each time; what it is about stays in it.
        tool: the tool that says so, where the line names it.
        code: its number or name for the error.
        weight: how much it says.
    """

    message: str
    tool: str = ""
    code: str = ""
    weight: Weight = Weight.SPECIFIC

    @classmethod
    def of(cls, message: str, *, tool: str = "", code: str = "", weight: Weight = Weight.SPECIFIC) -> Self:
        """Return the diagnostic that a line's parts make."""
        return cls(steady(message), tool.casefold(), code, weight)

    @property
    def said(self) -> str:
        """Its code and message as one line."""
        return ": ".join(part for part in (self.code, self.message) if part)

    @cached_property
    def exact(self) -> str:
        """The key of this error: tool, code and message."""
        return _hash(self.tool, self.code, self.message)

    @cached_property
    def templated(self) -> str:
        """The key of this error with other numbers, ids and files."""
        return _hash(self.tool, self.code, template(self.message))

    @cached_property
    def words(self) -> frozenset[str]:
        """What kind of error it is, as words: of its code and message, without what they are about."""
        return frozenset(_WORD.findall(f"{self.code.rpartition('.')[2].casefold()} {shape(template(self.message))}"))

    def __hash__(self) -> int:
        return hash(self.exact)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Diagnostic) and self.exact == other.exact


_WORD = re.compile(r"<\w+>|[^\W\d_]{2,}|\w\+\+")


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
