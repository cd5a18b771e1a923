# ruff: noqa: RUF001 - look-alike letters are what this is about
"""Text that a person does not see as a machine does: hidden characters, look-alike letters, encoded payloads.

`normalise_hidden` is for what is stored: it takes out characters that show nothing and mean nothing where they stand,
and leaves what scripts and emoji need. `readings` is for inspection only: the text as an attacker may have meant it.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

_JOINERS = "\u200c\u200d"
# Zero-width spaces and joiners, marks of direction, invisible operators, fillers, annotation and language tags.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# England, Scotland, Wales: a black flag, tag letters, the cancel tag. Nothing else uses tag characters.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{4,6}\U000e007f")
_HIDDEN = re.compile(f"[{_INVISIBLE}{_CONTROL}{_JOINERS}\ufe00-\ufe0f]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_OVERRIDES = re.compile("[\u202a\u202b\u202d\u202e]")
_STRAY = re.compile("(?<=[\x21-\x7e])[\u200b\u200c\u2060\u2061-\u2064\u00ad\ufeff](?=[\x20-\x7e])")
_SPLIT_WORD = re.compile(rf"[A-Za-z][{_INVISIBLE}{_JOINERS}]+[A-Za-z]")

# Scripts whose spelling needs joiners; emoji join with U+200D; Hebrew and Arabic text carries marks of direction.
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
_EMOJI = re.compile("[\u00a9\u00ae\u200d\u203c-\u3299\ufe0f\U0001f000-\U0001faff]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_THAI_AND_OTHERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def normalise_hidden(text: str) -> str:
    """Return `text` without characters that show nothing and mean nothing where they stand.

    Joiners stay between emoji and in scripts that are spelled with them, marks of direction in text with letters of a
    script that runs from right to left, variation selectors behind the one character they vary.
    """
    if text.isascii():
        return re.sub(f"[{_CONTROL}]", "", text)
    flags = {index for flag in _FLAG.finditer(text) for index in range(*flag.span())}
    kept = [
        character
        for index, character in enumerate(text)
        if not _HIDDEN.match(character) or index in flags or _has_meaning(text, index)
    ]
    return "".join(kept)


def _has_meaning(text: str, index: int) -> bool:
    character, before, after = text[index], text[max(0, index - 1) : index], text[index + 1 : index + 2]
    if character in _JOINERS:
        return bool((_EMOJI.match(before) and _EMOJI.match(after)) or _JOINING.match(before) or _JOINING.match(after))
    if "\ufe00" <= character <= "\ufe0f":
        return before in tuple("0123456789#*") or (bool(before) and not _HIDDEN.match(before) and not before.isascii())
    if character in "\u200e\u200f\u061c\u2066\u2067\u2068\u2069":
        return bool(_RIGHT_TO_LEFT.search(text))
    return character == "\u200b" and bool(_THAI_AND_OTHERS.match(before) or _THAI_AND_OTHERS.match(after))


def hidden_signs(text: str) -> list[tuple[str, float]]:
    """Name what is hidden in `text` on purpose, and how much it says (1: enough by itself).

    A word split by invisible characters, a message in tags or variation selectors, a turned direction, letters of
    two scripts in one word, long runs of single letters.
    """
    signs = [("spaced-letters", 1.0)] if any(_letters(m[0]) >= 16 for m in _SPACED.finditer(text)) else []
    if text.isascii():
        return signs
    visible = _FLAG.sub("", text)
    checks = (
        ("hidden-message", 1.0, _TAGS.search(visible) or _VARIANTS.search(visible)),
        ("split-word", 1.0, _SPLIT_WORD.search(visible)),
        ("invisible-characters", 0.5, len(_STRAY.findall(visible)) > 1),
        ("turned-direction", 1.0, _OVERRIDES.search(visible)),
        ("look-alike-letters", 0.6, _mixed_scripts(visible)),
    )
    return signs + [(name, weight) for name, weight, found in checks if found]


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)


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
_WORD = re.compile(r"[^\W\d_]{3,}")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")


def _mixed_scripts(text: str) -> bool:
    return any(_LATIN.search(word) and _OTHER.search(word) for word in _WORD.findall(text))


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_\-])[A-Za-z0-9+/_\-]{16,}={0,2}(?![A-Za-z0-9+/=_\-])")
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:0x)?((?:[0-9a-fA-F]{2}){12,})(?![0-9a-fA-F])")
_HEX_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|(?<![0-9A-Za-z])[0-9a-fA-F]{2}[ ,]){8,}")
_ESCAPED = re.compile(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})")
_SPACED = re.compile(r"(?<!\w)\w(?:[ .\-_*|]{1,3}\w(?!\w)){7,}")
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_LEET_WORD = re.compile(r"(?<!\w)(?=\w*[a-zA-Z])(?=\w*[0134578@$])[\w@$!|]{4,}")


# Pieces of words that instructions need. Most readings of harmless text are gibberish: only those with one are of use.
PIECES = (
    "instruc", "prompt", "ignor", "disregard", "secret", "passw", "credential", "token", "upload", "delete", "execut",
    "approv", "confirm", "memor", "lesson", "assistant", ".ssh", ".env", "http", "policy", "curl ", "rm -",
)  # fmt: skip
_TURNED_BY_13 = tuple(codecs.encode(piece, "rot13") for piece in PIECES)
_TURNED_BACK = tuple(piece[::-1] for piece in PIECES)


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (what was undone, the text that comes out), first the plain text without hidden characters."""
    plain = _HIDDEN.sub("", text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).translate(_PUNCTUATION)
    yield "plain", plain
    if not plain.isascii() and _OTHER.search(plain):
        yield "look-alikes", plain.translate(_LOOK_ALIKES)
    if not text.isascii() and (message := "".join(_TAGS.findall(_FLAG.sub("", text)))):
        yield "tags", "".join(chr(ord(c) - 0xE0000) for c in message)
    for mark, name, undo in (("&", "html", html.unescape), ("%", "percent", unquote), ("\\", "escapes", _unescape)):
        if mark in plain and (other := undo(plain)) != plain:
            yield name, other
    yield from _decoded(plain)
    yield from _turned(plain)
    if _LEET_WORD.search(plain):
        yield "leet", _LEET_WORD.sub(lambda match: match[0].translate(_LEET), plain)
    if _SPACED.search(plain):
        yield "spaced", _SPACED.sub(_joined, re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", "", plain))


def _turned(plain: str) -> Iterator[tuple[str, str]]:
    lower = plain.lower()
    if any(piece in lower for piece in _TURNED_BY_13):
        yield "rot13", codecs.decode(plain, "rot13")
    if any(piece in lower for piece in _TURNED_BACK):
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
    yield from _decoded_bytes(text)
    if max(map(len, text.split()), default=0) < 16:
        return
    for match in _BASE64.finditer(text):
        blob = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(blob + "=" * (-len(blob) % 4))
        except binascii.Error:
            continue
        if (message := _as_text(decoded)) is not None:
            yield "base64", message
    for match in _HEX.finditer(text):
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
