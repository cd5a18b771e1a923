"""A text as an attacker may have meant it: without what hides it, and decoded. For inspection only."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from reasoningbank.screening.guard.hidden_text import HIDDEN

_PUNCTUATION = str.maketrans("‐‑‒–—’‘“”", "-----''\"\"")  # noqa: RUF001
_RUN = re.compile(r"[A-Za-z0-9+/_\-]{16,}+={0,2}")
_HEX = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}){12,})")


def plain_reading(text: str) -> str:
    """Return a text without hidden characters, its compatibility forms and punctuation as in ASCII."""
    plain = HIDDEN.sub("", text)
    return plain if plain.isascii() else unicodedata.normalize("NFKC", plain).translate(_PUNCTUATION)


def decoded(plain: str) -> Iterator[tuple[str, str]]:
    """Yield (hex or base64, the message) for each long run of characters that encodes one."""
    for run in _RUN.findall(plain):
        if digits := _HEX.fullmatch(run):
            code, message = "hex", bytes.fromhex(digits[1])
        else:
            code, message = "base64", _from_base64(run)
        if (text := _as_text(message)) is not None:
            yield code, text


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
