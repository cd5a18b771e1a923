"""Characters that a person does not see as a machine does: hidden ones, and letters that look like others."""

from __future__ import annotations

import re

_JOINERS = "\u200c\u200d"
# Zero-width spaces and joiners, marks of direction, invisible operators, fillers, annotation and language tags.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# England, Scotland, Wales: a black flag, tag letters, the cancel tag. Nothing else uses tag characters.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{4,6}\U000e007f")
HIDDEN = re.compile(f"[{_INVISIBLE}{_CONTROL}{_JOINERS}\ufe00-\ufe0f]")
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
    if not HIDDEN.search(text):
        return text
    if text.isascii():
        return HIDDEN.sub("", text)
    # Asked once: a text of such marks alone would be read through for each of them.
    directed = bool(_RIGHT_TO_LEFT.search(text))
    flags = {index for flag in _FLAG.finditer(text) for index in range(*flag.span())}
    kept = [
        character
        for index, character in enumerate(text)
        if not HIDDEN.match(character) or index in flags or _has_meaning(text, index, directed)
    ]
    return "".join(kept)


def _has_meaning(text: str, index: int, directed: bool) -> bool:
    character, before, after = text[index], text[max(0, index - 1) : index], text[index + 1 : index + 2]
    if character in _JOINERS:
        return bool((_EMOJI.match(before) and _EMOJI.match(after)) or _JOINING.match(before) or _JOINING.match(after))
    if "\ufe00" <= character <= "\ufe0f":
        return before in tuple("0123456789#*") or (bool(before) and not HIDDEN.match(before) and not before.isascii())
    if character in "\u200e\u200f\u061c\u2066\u2067\u2068\u2069":
        return directed
    return character == "\u200b" and bool(_THAI_AND_OTHERS.match(before) or _THAI_AND_OTHERS.match(after))


_WORD = re.compile(r"[^\W\d_]{3,}")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER_SCRIPTS = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
# Twelve letters, one by one. It begins with a space alone, so that the search for it is one for spaces.
_SPACED = re.compile(r" [ ]{0,2}[^\W\d_](?!\w)(?: {1,3}[^\W\d_](?!\w)){11}")


def hidden_signs(text: str) -> list[tuple[str, float]]:
    """Name what is hidden in `text` on purpose, and how much it says (1: enough by itself).

    Letters one by one, a word split by invisible characters, a message in tags or variation selectors, a turned
    direction, letters of two scripts in one word.
    """
    signs = [("spaced-letters", 1.0)] if _SPACED.search(text) else []
    if text.isascii() or not (HIDDEN.search(text) or _OTHER_SCRIPTS.search(text)):
        return signs
    visible = _FLAG.sub("", text)
    mixed = any(_LATIN.search(word) and _OTHER_SCRIPTS.search(word) for word in _WORD.findall(visible))
    checks = (
        ("hidden-message", 1.0, _TAGS.search(visible) or _VARIANTS.search(visible)),
        ("split-word", 1.0, _SPLIT_WORD.search(visible)),
        ("invisible-characters", 0.5, len(_STRAY.findall(visible)) > 1),
        ("turned-direction", 1.0, _OVERRIDES.search(visible)),
        ("look-alike-letters", 0.6, mixed),
    )
    return signs + [(name, weight) for name, weight, found in checks if found]
