"""One cheap look at a text that tells which of the costly looks could find anything at all.

A text is taken apart at its spaces. What a chunk could be part of is a set of bits, remembered for each chunk: so a
text costs little more than looking its chunks up. A bit that is missing rules out. One that is there proves nothing:
the look that it stands for decides, as if nobody had glanced (a test compares both).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache, reduce
from operator import or_

from reasoningbank.screening.guard.forms import FORMS
from reasoningbank.screening.guard.sentences import CODE, NEEDED, TOKEN, classes_of
from reasoningbank.screening.guard.word_classes import CLASSES
from reasoningbank.screening.guard.wording import OWN_AFFAIRS
from reasoningbank.screening.prefilter import Keywords, places

EVERYTHING = -1
"""What a look at nothing rules out: nothing."""

_names = [*CLASSES, "ADDRESS", "NUMBER", "CODE"]
_CLASS_BITS = {name: 1 << place for place, name in enumerate(_names)}
_FIRST_FORM = len(_names)
_ANY_FORM = ((1 << len(FORMS)) - 1) << _FIRST_FORM
(
    LONG_RUN,  # sixteen characters or more that may be base64 or hexadecimal
    LEET,
    TURNED_AROUND,  # a piece of an instruction, backwards or by ROT13
    _LONE,  # a single letter or digit
    _LONE_RUN,  # several in one chunk: i.g.n.o.r.e
    _HEX_BYTE,
    _HEX_RUN,  # several in one chunk: 69,67,6e
) = (1 << _FIRST_FORM + len(FORMS) + place for place in range(7))

_LONG = 4_000
_ABOUT_THE_AGENT = reduce(or_, (_CLASS_BITS[name] for name in OWN_AFFAIRS))


# Pieces of words that instructions need. Most readings of harmless text are gibberish: only those with one are of use.
PIECES = (
    "instruc", "prompt", "ignor", "disregard", "secret", "passw", "credential", "token", "upload", "delete", "execut",
    "approv", "confirm", "memor", "lesson", "assistant", ".ssh", ".env", "http", "policy", "curl ", "rm -",
)  # fmt: skip
TURNED_BY_13 = tuple(codecs.encode(piece, "rot13") for piece in PIECES)
TURNED_BACK = tuple(piece[::-1] for piece in PIECES)
BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_\-])[A-Za-z0-9+/_\-]{16,}={0,2}(?![A-Za-z0-9+/=_\-])")
HEX = re.compile(r"(?<![0-9a-fA-F])(?:0x)?((?:[0-9a-fA-F]{2}){12,})(?![0-9a-fA-F])")
LEET_WORD = re.compile(r"(?<!\w)(?=\w*[a-zA-Z])(?=\w*[0134578@$])[\w@$!|]{4,}")


def glance(text: str) -> int:
    """Return what the chunks of a text could be part of, as bits."""
    # Much of a long text is in no other one: to remember its chunks would cost more than to look for everything.
    return EVERYTHING if len(text) > _LONG else reduce(or_, map(_bits_of, set(text.split())), 0)


def forms_in(seen: int) -> Iterator[int]:
    """Yield the numbers of the forms that may stand in a text, in their order."""
    return (place - _FIRST_FORM for place in places(seen & _ANY_FORM))


def may_hold_a_sign(seen: int) -> bool:
    """Tell whether all classes of some sign may stand in a text."""
    return any(seen & needed == needed for place in places(seen & _FIRSTS) for needed in _SIGNS[place])


def may_hold_codes(seen: int) -> bool:
    """Tell whether a text may name things by codes, as in AC-200."""
    return bool(seen & _CLASS_BITS["CODE"])


def may_be_swapped(seen: int) -> bool:
    """Tell whether a text may answer for one thing with another."""
    return seen & _SWAP == _SWAP


def may_be_about_the_agent(seen: int) -> bool:
    """Tell whether a text may speak of the agent's own rules or memory, where wording alone can count."""
    return bool(seen & _ABOUT_THE_AGENT)


def may_be_spaced(seen: int, text: str) -> bool:
    """Tell whether a text may hold a run of single letters."""
    return bool(seen & _LONE_RUN or (seen & _LONE and _SPACED_OUT.search(text)))


def may_be_hex_bytes(seen: int, text: str) -> bool:
    """Tell whether a text may hold bytes written one by one, as in `69 67 6e`."""
    return bool(seen & _HEX_RUN or (seen & _HEX_BYTE and _HEX_SPACED_OUT.search(text)))


# Both begin with a space, so that the search for them is one for spaces.
_SPACED_OUT = re.compile(r" [.\-_*|]{0,2}\w[ .\-_*|]{1,3}\w[ .\-_*|]{1,3}\w")
_HEX_SPACED_OUT = re.compile(r" [0-9a-fA-F]{2} [0-9a-fA-F]{2} [0-9a-fA-F]{2} ")

_SIGNS = {
    _names.index(first): [reduce(or_, (_CLASS_BITS[name] for name in needed)) for needed in group]
    for first, group in NEEDED.items()
}
_SWAP = reduce(or_, (_CLASS_BITS[name] for name in ("CODE", "WHEN", "USE")))
_FIRSTS = reduce(or_, (1 << place for place in _SIGNS))


def _bits_of_words() -> dict[str, int]:
    """Return the classes that a word may be of, by itself or with its neighbours; a phrase goes by its longest word."""
    bits: dict[str, int] = {}
    for name, members in CLASSES.items():
        for member in members:
            for word in (member, max(member.split("_"), key=len)):
                bits[word] = bits.get(word, 0) | _CLASS_BITS[name]
    return bits


_WORDS = _bits_of_words()


_KEYWORDS = Keywords(
    [
        *((keyword, 1 << _FIRST_FORM + number) for number, form in enumerate(FORMS) for keyword in form.keywords),
        *((piece, TURNED_AROUND) for piece in (*TURNED_BY_13, *TURNED_BACK)),
    ]
)

_LONE_CHARACTER = re.compile(r"(?<![^\W_])\w(?!\w)")
_LONE_CHARACTERS = re.compile(r"\w[.\-_*|]{1,3}\w(?!\w)")
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{2}(?:,|\Z)")
_HEXES = re.compile(r"[0-9a-fA-F]{2},[0-9a-fA-F]{2}|\\x")
_PHONE = re.compile(r"\+\d")
_SENTENCE_SIGNS = re.compile("[\u3002\uff01\uff1f]")


_LOOKS = (
    (_LONE, _LONE_CHARACTER),
    (_LONE_RUN, _LONE_CHARACTERS),
    (_HEX_BYTE, _HEX),
    (_HEX_RUN, _HEXES),
    (LONG_RUN, BASE64),
    (LONG_RUN, HEX),
    (LEET, LEET_WORD),
    (_CLASS_BITS["CODE"], CODE),
    (_CLASS_BITS["NUMBER"], _PHONE),
)


@lru_cache(maxsize=16_384)
def _bits_of(chunk: str) -> int:
    if _SENTENCE_SIGNS.search(chunk):  # it is of several sentences
        return EVERYTHING
    lower = chunk.lower()
    bits = _KEYWORDS.bits_of(lower)
    # The patterns say nothing about a word of small letters that is neither short nor long.
    if chunk.isascii() and chunk.islower() and chunk.isalpha() and 2 < len(chunk) < 16:
        return bits | _WORDS.get(lower, 0)
    bits |= reduce(or_, (bit for bit, pattern in _LOOKS if pattern.search(chunk)), 0)
    # Its words, however its sentence ends and its case is read.
    for text in {chunk, lower, chunk[:-1] if chunk[-1] in ".!?" else chunk}:
        for token in TOKEN.findall(text):
            word = token.lower()
            bits |= _WORDS.get(word, 0) | reduce(or_, (_CLASS_BITS[name] for name in classes_of(word)), 0)
    return bits
