"""Taking recalled blocks out of a text again, or lessons from the end of one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from reasoningbank.prompt.block import FAILURE, FRAME, SUCCESS, estimate_tokens

# A delimiter as it looks in a transcript: as it is, in HTML, or in JSON once or several times.
_OPEN = re.compile(r"(?:<|&lt;|\\{1,9}u003c)lessons-([0-9a-f]{2,64})(?:>|&gt;|\\{1,9}u003e)")
_CLOSE = re.compile(
    r"(?:<|&lt;|\\{1,9}u003c)(?:\\{0,9}/)lessons-([0-9a-f]{2,64})(?:>|&gt;|\\{1,9}u003e)(?:\\{1,9}n|\r?\n)?"
)
_FRAMED = re.compile(re.escape(FRAME[:40]).replace(r"\ ", r"[\s>|\\n]+"))


def strip_lessons(text: str) -> str:
    """Return `text` without the blocks that were recalled into it, so that lessons never breed copies of themselves.

    A block is known by its delimiters, whatever their nonce, also indented, quoted, or escaped for JSON or HTML. One
    whose end is cut off goes to the end of the text, if it has the frame of a block.
    """
    closings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for match in _CLOSE.finditer(text):
        closings[match[1]].append(match.span())
    kept: list[str] = []
    at = 0
    for opening in _OPEN.finditer(text):
        if opening.start() < at:
            continue
        ends = closings.get(opening[1], [])
        following = bisect_right(ends, (opening.end(), 0))
        if following == len(ends) and not _FRAMED.search(text, opening.end(), opening.end() + 200):
            continue
        kept.append(text[at : _line_start(text, at, opening.start())])
        at = len(text) if following == len(ends) else ends[following][1]
    return "".join((*kept, text[at:]))


def _line_start(text: str, at: int, place: int) -> int:
    """Return where the line of `place` begins, if only indentation or quote marks stand before it; else `place`."""
    before = text[max(at, place - 40) : place]
    rest = before.rstrip(" \t>|*#")
    return place - len(before) + len(rest) if not rest or rest.endswith(("\n", "\\n")) else place


_HEAD = re.compile(rf"\n\n(?=\[[^\n]*\((?:{SUCCESS}|{FAILURE}), confidence \d)")


def shorten(text: str, by_tokens: int) -> str:
    """Return a block with whole lessons dropped from its end until it is `by_tokens` shorter; "" when none is left."""
    opening, *lessons = _HEAD.split(text)
    if not lessons:
        return "" if by_tokens > 0 else text
    last, newline, closing = lessons[-1].rpartition("\n")
    lessons[-1] = last
    wanted = estimate_tokens(text) - by_tokens
    while lessons:
        shorter = "\n\n".join([opening, *lessons]) + newline + closing
        if estimate_tokens(shorter) <= wanted:
            return shorter
        lessons.pop()
    return ""
