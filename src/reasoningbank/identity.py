"""Which lesson a lesson is: its exact text, up to Unicode form and the white space outside code and quotes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from reasoningbank.memory import clean_text

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_TICKS: Final = re.compile("`+")
# What is quoted, or white space. A mark that opens ends the search for the one that closes: time in proportion.
_QUOTED_OR_SPACES: Final = re.compile(
    r"""(?P<quoted>"[^"]*"|(?<!\w)'[^']*'(?!\w)|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»)|\s+"""
)
_MORE_THAN_A_BLANK: Final = re.compile(r"\s\s+|[^\S ]")
_BESIDE: Final = 8
_INDENTED: Final = ("  ", "\t")
_DEEPLY: Final = ("    ", "\t")
# What a line ends with that goes on, indented, in the lines below it: code that nobody put into a fence.
_OPEN: Final = (":", "{", "(", "[", "=", " do", " then", " else")
# A cleaned text holds none, so that code and prose are never taken for each other.
_EDGE: Final = "\0"


@lru_cache(maxsize=256)
def identity(title: str, content: str, description: str, applies_when: str, outcome: str) -> bytes:
    """Return 16 bytes that two lessons share when they are the same, so that one of them would be one too many.

    They say the same in all four texts, as `same_text` has it, and are of the same outcome.
    """
    said = [*map(same_text, (title, content, description, applies_when)), outcome]
    return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).digest()


def same_text(text: str) -> str:
    """Return what two texts share that nothing but Unicode form and white space outside code and quotes tells apart.

    Code is what Markdown takes for it: fenced, between backticks, or indented by four blanks or a tab below an empty
    line; and what is indented below a line that leaves something open (`if x:`). In quotes blanks count too, as in
    `grep "a  b"`, but where a line breaks is nothing but a blank. Case, punctuation and symbols always count. It takes
    time in proportion to the text's length.
    """
    lines = clean_text(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    parts = []
    for is_code, group in groupby(zip(_code_lines(lines), lines, strict=True), key=lambda marked: marked[0]):
        block = "\n".join(line for _, line in group)
        parts.append(f"{_EDGE}{block}{_EDGE}" if is_code else _prose(block).strip(" "))
    return " ".join(filter(None, parts))


def counted_blanks(text: str) -> list[str]:
    """Return the white space of a text that counts and is more than a blank, each with what is beside it."""
    same = same_text(text)
    return [same[max(0, run.start() - _BESIDE) : run.end() + _BESIDE] for run in _MORE_THAN_A_BLANK.finditer(same)]


def _code_lines(lines: Sequence[str]) -> Iterator[bool]:
    """Tell of each line whether it is code, or the fence of some."""
    fence, in_code, before = "", False, "-"
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            yield True
        elif mark:
            fence, in_code = mark[1], False
            yield True
        else:
            is_below = in_code or before.rstrip().endswith(_OPEN)
            in_code = bool(line.strip()) and line.startswith(_INDENTED if is_below else _DEEPLY if not before else ())
            yield in_code
        before = line.strip() and line


def _prose(text: str) -> str:
    """Return a text with its white space made one, but for what stands between backticks or is quoted."""
    ticks = list(_TICKS.finditer(text))
    closing: dict[int, int] = {}
    last: dict[int, int] = {}
    for place in range(len(ticks) - 1, -1, -1):
        length = len(ticks[place][0])
        if length in last:
            closing[place] = last[length]
        last[length] = place
    parts, at, place = [], 0, 0
    while place < len(ticks):
        if place not in closing:
            place += 1
            continue
        start, end = ticks[place].start(), ticks[closing[place]].end()
        parts += [_QUOTED_OR_SPACES.sub(_spaced, text[at:start]), _EDGE, text[start:end], _EDGE]
        at, place = end, closing[place] + 1
    return "".join([*parts, _QUOTED_OR_SPACES.sub(_spaced, text[at:])])


def _spaced(found: re.Match[str]) -> str:
    """Return one blank for white space, and what is quoted on one line."""
    quoted = found["quoted"]
    return " ".join(filter(None, map(str.strip, quoted.split("\n")))) if quoted else " "
