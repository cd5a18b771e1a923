"""JSON as language models write it: read leniently, with a note of everything that had to be guessed.

Strict JSON goes through the standard library. This reader is for the rest, and differs from a general repair tool in
two ways that matter here: an object that was cut off says so (half a lesson must not be stored), and a backslash that
was meant literally (a Windows path, a regular expression) does not become a line break.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 40
CUT = "cut off"
BACKSLASHES = "backslashes were not escaped"
LOOSE = "not strict JSON"

WORDS: dict[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "None", "NULL", "nil", "undefined", "NaN", "nan", "Infinity", "-Infinity"), None),
}
CLOSING = {'"': '"', "'": "'", "\N{LEFT DOUBLE QUOTATION MARK}": "\N{RIGHT DOUBLE QUOTATION MARK}"}
SPACE = re.compile(r"\s+|//[^\n]*|/\*.{0,2000}?\*/", re.DOTALL)
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*[,}\]]|\s*$)")
BARE_KEY = re.compile(r"[\w.$-]+(?=\s*[:=])")
BARE_ENDS = frozenset({"", ",", "{", "}", "[", "]", "\n"})
# A drive, then two or more segments after single backslashes: a path, whatever escapes it seems to hold.
PATH = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:(?:\\(?![\\\"'])[\w.$~+-]+){2,}")
DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\(?![\\\"'/])")
PATH_PART = re.compile(r"(?:[\w.]|(?<![A-Za-z0-9])[A-Za-z]:)$")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "/": "/", "\\": "\\", "\n": "\n"}
# Never meant in a lesson: a backspace or a form feed is a regular expression's \b or a path's \f.
DOUBTFUL = re.compile(r"(?<!\\)(?:\\\\)*\\[bf]")


class LooseObject(dict[str, Any]):
    """An object as it was read, with notes on what had to be guessed."""

    def __init__(self, pairs: Any = (), notes: tuple[str, ...] = ()) -> None:
        super().__init__(pairs)
        self.notes = notes


class CutList(list[Any]):
    """A list whose end is missing."""

    notes = (CUT,)


def notes_of(value: Any) -> set[str]:
    """Return what had to be guessed of a value itself, or that it was cut off."""
    return set(getattr(value, "notes", ()))


def load_strict(text: str, start: int = 0) -> tuple[Any, int] | None:
    """Return the JSON value at `start` and where it ends, or None if there is no strict JSON there.

    Line breaks inside strings are let pass; NaN and infinities are read as null. Text in which a backslash may have
    been meant literally is not strict.
    """
    try:
        value, end = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    raw = text[start:end]
    if "\\" in raw and (DRIVE.search(raw) or DOUBTFUL.search(raw)):
        return None
    return value, end


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=LooseObject, parse_constant=lambda _: None)


def load_lenient(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the JSON-like value at `start` and where it ends; objects and lists that were cut off say so."""
    reader = _Reader(text, start)
    value = reader.value(0)
    return value, reader.at


def unescape(raw: str) -> tuple[str, bool]:
    """Return what stands between two quotation marks, unescaped, and whether backslashes had to be guessed.

    One invalid escape shows that the writer did not escape backslashes here; then, and in a Windows path, a `\\n` or
    `\\t` between letters is a backslash and a letter. Elsewhere it stays the line break that JSON says it is.
    """
    if "\\" not in raw:
        return raw, False
    paths = [match.span() for match in PATH.finditer(raw)]
    escapes = list(ESCAPE.finditer(raw))
    invalid = any(_is_invalid(match) for match in escapes)
    guessed = invalid or bool(paths) or bool(DRIVE.search(raw))

    def plain(match: re.Match[str]) -> str:
        code = match.group(1)
        inside_path = any(begin <= match.start() < end for begin, end in paths)
        if code in ('"', "\\"):
            return code
        if _is_invalid(match) or inside_path:
            return match.group(0)
        if code in "ntr" and invalid and _is_between_letters(raw, match):
            return match.group(0)
        return chr(int(code[1:], 16)) if len(code) == 5 else SIMPLE[code]

    return ESCAPE.sub(plain, raw), guessed


def _is_invalid(match: re.Match[str]) -> bool:
    return len(match.group(1)) == 1 and match.group(1) not in SIMPLE


def _is_between_letters(raw: str, match: re.Match[str]) -> bool:
    after = raw[match.end() :][:1]
    return after.isalpha() and not after.isupper() and bool(PATH_PART.search(raw[: match.start()][-3:]))


def _after_space(text: str, at: int) -> int:
    """Return where spaces and comments that begin at `at` end."""
    while match := SPACE.match(text, at):
        at = match.end()
    return at


class _Reader:
    """A recursive descent over text that is nearly JSON."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start

    def _skip(self) -> str:
        """Skip spaces and comments; return the next character, "" at the end."""
        self.at = _after_space(self.text, self.at)
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        first = self._skip()
        if first == "{" and depth < MAX_DEPTH:
            return self._object(depth)
        if first == "[" and depth < MAX_DEPTH:
            return self._list(depth)
        if first in CLOSING:
            return self._string()[0]
        number = NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return json.loads(number.group())
        begin = self.at
        while self.text[self.at : self.at + 1] not in BARE_ENDS:
            self.at += 1
        word = self.text[begin : self.at].strip()
        return WORDS.get(word, word)

    def _object(self, depth: int) -> LooseObject:
        self.at += 1
        pairs: dict[str, Any] = {}
        notes = {LOOSE}
        while True:
            while self._skip() in (",", ";"):
                self.at += 1
            if self._skip() == "}":
                self.at += 1
                break
            key, closed = self._key()
            if key is None or not closed or self._skip() not in (":", "="):
                # Not a key with a value: the text ended here, or this was no object at all.
                notes.add(CUT)
                break
            self.at += 1
            if not self._skip():
                notes.add(CUT)
                break
            value, value_notes = self._value_with_notes(depth)
            notes |= value_notes
            if CUT not in value_notes or isinstance(value, (LooseObject, list)):
                pairs[key] = value  # half a text is no value
            if CUT in value_notes:
                break
        return LooseObject(pairs, tuple(sorted(notes)))

    def _value_with_notes(self, depth: int) -> tuple[Any, set[str]]:
        if self._skip() in CLOSING:
            text, closed, guessed = self._string()
            return text, ({BACKSLASHES} if guessed else set()) | (set() if closed else {CUT})
        before = self.at
        value = self.value(depth + 1)
        if isinstance(value, (LooseObject, list)):
            return value, notes_of(value) & {CUT}
        # A bare word that runs to the end of the text may be half a word.
        return value, {CUT} if not self._skip() or self.at == before else set()

    def _key(self) -> tuple[str | None, bool]:
        if self._skip() in CLOSING:
            text, closed, _ = self._string(is_key=True)
            return text, closed
        bare = BARE_KEY.match(self.text, self.at)
        if bare is None:
            return None, False
        self.at = bare.end()
        return bare.group(), True

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        items: list[Any] = []
        while True:
            while self._skip() in (",", ";"):
                self.at += 1
            first = self._skip()
            if first == "]":
                self.at += 1
                return items
            if not first or first in "}:":
                return CutList(items)
            value, notes = self._value_with_notes(depth)
            if CUT not in notes or isinstance(value, (LooseObject, list)):
                items.append(value)
            if CUT in notes:
                return CutList(items)

    def _string(self, *, is_key: bool = False) -> tuple[str, bool, bool]:
        """Read a quoted text: (the text, whether it was closed, whether backslashes were guessed)."""
        quote = CLOSING[self.text[self.at]]
        begin = self.at = self.at + 1
        while True:
            end = self.text.find(quote, self.at)
            if end < 0:
                self.at = len(self.text)
                text, guessed = unescape(self.text[begin:])
                return text, False, guessed
            self.at = end + 1
            if not _is_escaped(self.text, begin, end) and self._closes(end + 1, is_key=is_key):
                text, guessed = unescape(self.text[begin:end])
                return text, True, guessed

    def _closes(self, after: int, *, is_key: bool) -> bool:
        """Tell whether a quotation mark before `after` ends a text, or is one of the marks inside it."""
        begin = _after_space(self.text, after)
        rest = self.text[begin : begin + 200]
        if is_key:
            return rest[:1] in (":", "=", "")
        if not rest or rest[0] in "}]":
            return True
        if rest[0] == ",":
            return bool(NEXT_MEMBER.match(rest))
        # A forgotten comma: the next key stands on a line of its own.
        return "\n" in self.text[after:begin] and bool(NEXT_KEY.match(rest))


NEXT_KEY = re.compile(r"""["'“]?[\w$.-]+["'”]?\s*[:=]""")
NEXT_MEMBER = re.compile(
    r""",\s*(?:$|["'“\[{}\]\d-]|//|/\*|true|false|null|None|True|False|[\w$.-]+\s*:\s*["'“\[{\d])"""
)


def _is_escaped(text: str, begin: int, at: int) -> bool:
    """Tell whether the character at `at` stands after an odd number of backslashes."""
    count = 0
    while at - count > begin and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1
