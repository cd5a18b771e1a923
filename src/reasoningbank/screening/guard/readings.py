# ruff: noqa: RUF001 - look-alike letters are what this is about
"""A text as an attacker may have meant it: without what hides it, and decoded. For inspection only."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from reasoningbank.screening.guard.glance import (
    BASE64,
    EVERYTHING,
    HEX,
    LEET,
    LEET_WORD,
    LONG_RUN,
    TURNED_AROUND,
    TURNED_BACK,
    TURNED_BY_13,
    may_be_hex_bytes,
    may_be_spaced,
)
from reasoningbank.screening.guard.hidden_text import FLAG, HIDDEN, OTHER_SCRIPTS, SPACED, TAGS

# Letters of other scripts that look like Latin ones.
_LOOK_ALIKES = str.maketrans(
    {
        other: latin
        for latin, others in {
            "a": "аαɑ",
            "b": "Ьь",
            "c": "сϲⅽ",
            "d": "ԁⅾ",
            "e": "еεҽ",
            "g": "ɡց",
            "h": "һհ",
            "i": "іιıɩⅰ",
            "j": "јϳ",
            "k": "кκ",
            "l": "ӏⅼ",
            "m": "мⅿ",
            "n": "пηո",
            "o": "оοօσ",
            "p": "рρ",
            "q": "ԛգ",
            "r": "гɾ",
            "s": "ѕꜱ",
            "t": "тτ",
            "u": "υսц",
            "v": "νѵⅴ",
            "w": "ԝωա",
            "x": "хχⅹ",
            "y": "уγү",
            "z": "ᴢ",
            "A": "АΑ",
            "B": "ВΒ",
            "C": "СϹ",
            "E": "ЕΕ",
            "H": "НΗ",
            "I": "ІΙӀ",
            "J": "Ј",
            "K": "КΚ",
            "M": "МΜ",
            "N": "Ν",
            "O": "ОΟ",
            "P": "РΡ",
            "S": "Ѕ",
            "T": "ТΤ",
            "X": "ХΧ",
            "Y": "ҮΥ",
            "Z": "Ζ",
        }.items()
        for other in others
    }
)
_PUNCTUATION = str.maketrans("‐‑‒–—’‘“”", "-----''\"\"")
_HEX_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|(?<![0-9A-Za-z])[0-9a-fA-F]{2}[ ,]){8,}")
_ESCAPED = re.compile(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})")
_LEET = str.maketrans("0134578@$!|", "oieastbasil")


def plain_reading(text: str) -> str:
    """Return a text without hidden characters, its compatibility forms and punctuation as in ASCII."""
    plain = HIDDEN.sub("", text)
    return plain if plain.isascii() else unicodedata.normalize("NFKC", plain).translate(_PUNCTUATION)


def other_readings(text: str, plain: str, seen: int = EVERYTHING) -> Iterator[tuple[str, str]]:
    """Yield (what was undone, the text that comes out).

    Args:
        plain: the plain reading of `text`.
        seen: what a glance at `plain` showed.
    """
    yield from _undisguised(text, plain)
    if may_be_hex_bytes(seen, plain):
        yield from _decoded_bytes(plain)
    if seen & LONG_RUN:
        yield from _decoded(plain)
    if seen & TURNED_AROUND:
        yield from _turned(plain)
    if seen & LEET and LEET_WORD.search(plain):
        yield "leet", LEET_WORD.sub(lambda match: match[0].translate(_LEET), plain)
    if may_be_spaced(seen, plain) and SPACED.search(plain):
        yield "spaced", SPACED.sub(_joined, re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", "", plain))


def _undisguised(text: str, plain: str) -> Iterator[tuple[str, str]]:
    if not plain.isascii() and OTHER_SCRIPTS.search(plain):
        yield "look-alikes", plain.translate(_LOOK_ALIKES)
    if not text.isascii() and (message := "".join(TAGS.findall(FLAG.sub("", text)))):
        yield "tags", "".join(chr(ord(c) - 0xE0000) for c in message)
    for mark, name, undo in (("&", "html", html.unescape), ("%", "percent", unquote), ("\\", "escapes", _unescape)):
        if mark in plain and (other := undo(plain)) != plain:
            yield name, other


def _turned(plain: str) -> Iterator[tuple[str, str]]:
    lower = plain.lower()
    if any(piece in lower for piece in TURNED_BY_13):
        yield "rot13", codecs.decode(plain, "rot13")
    if any(piece in lower for piece in TURNED_BACK):
        yield "reversed", plain[::-1]


def _joined(match: re.Match[str]) -> str:
    words = re.split(r"[ ]{2,}", match[0])
    return " ".join(re.sub(r"\W|_", "", word) for word in words)


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match[1] or match[2], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _ESCAPED.sub(character, text)


def _decoded(text: str) -> Iterator[tuple[str, str]]:
    for match in BASE64.finditer(text):
        blob = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(blob + "=" * (-len(blob) % 4))
        except binascii.Error:
            continue
        if (message := _as_text(decoded)) is not None:
            yield "base64", message
    for match in HEX.finditer(text):
        if (message := _as_text(bytes.fromhex(match[1]))) is not None:
            yield "hex", message


def _decoded_bytes(text: str) -> Iterator[tuple[str, str]]:
    for match in _HEX_BYTES.finditer(text):
        digits = re.sub(r"[^0-9a-fA-F]", "", match[0].replace("\\x", ""))
        if (message := _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))) is not None:
            yield "hex", message


def _as_text(decoded: bytes) -> str | None:
    """Return bytes as text when nearly all of them are printable."""
    try:
        message = decoded.decode("utf-8")
    except UnicodeDecodeError:
        return None
    printable = sum(character.isprintable() or character in "\n\t" for character in message)
    return message if len(message) >= 6 and printable >= 0.95 * len(message) else None
