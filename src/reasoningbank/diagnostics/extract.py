"""Takes out of an output, of whatever length, the lines that say what went wrong. Most of an output never does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reasoningbank.diagnostics.fingerprint import Diagnostic, visible
from reasoningbank.diagnostics.rules import CONSEQUENCES, RULES, Rule, Weight, any_specific

# Of a long output the begin and the end are read: what a build did first, and what it stopped at.
HEAD, TAIL = 32_768, 98_304
LONGEST_LINE = 1_000
# Lines without a label of their own say something only among the last.
LAST_LINES = 25
MOST = 16

# What stands before a message in logs: times, levels, containers' and runners' prefixes.
_PREFIX = re.compile(
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s+|\[\d\d:\d\d:\d\d\S*\]\s*|\[\d{4}-\d\d-\d\d[^\]]{0,30}\]\s*|"
    r"#\d+ \d+\.\d+ |##\[error\]|::error[^:]{0,200}::|\[[\w.-]{1,40}\] (?=\[?error|error|fatal)|[|>]\s+(?=\S*error))",
    re.IGNORECASE,
)
_INTERRUPTS = ("KeyboardInterrupt", "SIGINT", "^C")
INTERRUPTED = (130, -2, 0xC000013A)
_NO_CODES = ("error", "exception", "failure", "err!", "fault", "errors")
_TOLD = re.compile(r"[^\W\d_]{2,}")
_ASIDE = re.compile(r"\s*(?:hint|help|note|warning|info|debug|usage|see|try|run)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"(?:Traceback \(most recent call last\)|\s+File \".+\", line \d+|\s+at .+|\s+\d+ \|.*|\s*\|.*|\s*[~^]+)"
)


def diagnostics(output: str, *, exit_code: int | None = None) -> tuple[Diagnostic, ...]:
    """Return what an output says went wrong: each once, what says most first, in its order among equals.

    Nothing comes back for an output without any, or of a run that somebody interrupted. The time is proportional to the
    length of the output up to HEAD + TAIL characters, and constant above.
    """
    if exit_code in INTERRUPTED:
        return ()
    lines = _lines(output)
    if any(line.startswith(_INTERRUPTS) for line in lines[-3:]):
        return ()
    found: dict[Diagnostic, None] = {}
    for place, line in enumerate(lines):
        near_end = len(lines) - place <= LAST_LINES
        if (one := _of_line(line, lines[place + 1 : place + 3], near_end=near_end)) is not None:
            # What is said again was said last there.
            found.pop(one, None)
            found[one] = None
    if not found and exit_code:
        return _outer(lines)
    if any(one.weight > Weight.CONSEQUENCE for one in found):
        found = {one: None for one in found if one.weight > Weight.CONSEQUENCE}
    ordered = sorted(found, key=lambda one: -one.weight)
    return tuple(ordered if len(ordered) <= MOST else [*ordered[: MOST // 2], *ordered[-MOST // 2 :]])


def _outer(lines: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return the first and the last sentence of an output that no rule knows, of what is known to have failed.

    They are good to know the same output again by, and say too little to search with.
    """
    told = [line.strip() for line in lines[-LAST_LINES:] if len(_TOLD.findall(line)) >= 2 and not _ASIDE.match(line)]
    ends = dict.fromkeys(Diagnostic.of(line, weight=Weight.CONSEQUENCE) for line in (*told[:1], *told[-1:]))
    return tuple(one for one in ends if one.message)


def _lines(output: str) -> list[str]:
    if len(output) > HEAD + TAIL:
        # The lines that are cut say nothing whole.
        head, tail = output[:HEAD].rpartition("\n")[0], output[-TAIL:].partition("\n")[2]
        output = f"{head}\n{tail}"
    lines = (visible(line[:LONGEST_LINE]).rstrip() for line in re.split(r"[\r\n]+", output))
    return [line for line in lines if line.strip()]


def _of_line(line: str, following: Sequence[str], *, near_end: bool) -> Diagnostic | None:
    line = _PREFIX.sub("", line, count=1)
    if not near_end and not any_specific().match(line):
        return None
    for rule in RULES:
        if (rule.weight is Weight.SPECIFIC or near_end) and (matched := rule.form.match(line)):
            return _matched(rule, matched, line, following)
    return None


def _matched(rule: Rule, matched: re.Match[str], line: str, following: Sequence[str]) -> Diagnostic | None:
    groups = matched.groupdict()
    tool, code, message = groups.get("tool") or rule.tool, groups.get("code") or "", groups.get("message") or ""
    if not message and not code:
        # The message is on the next line.
        message = next((line.strip() for line in following if not _CAUSE.match(line)), "")
    if not message and not code:
        return None
    if code.casefold() in _NO_CODES:
        code = ""
    if "." in tool:  # a script of the user's own, which says the same under any name
        tool = ""
    weight = Weight.CONSEQUENCE if any(each.form.match(line) for each in CONSEQUENCES) else rule.weight
    made = Diagnostic.of(message, tool=tool.rpartition("/")[2], code=code, weight=weight)
    return made if made.said else None


# -- as they are stored ---------------------------------------------------------------------------------------------

_WRITTEN = re.compile(r"\[(?P<tool>[^\]\s#]*)(?: ?#(?P<code>[^\]\s]+))?\] (?P<message>.*)")


def written(one: Diagnostic) -> str:
    """Return a diagnostic as a line that people can read and change: with tool and code in brackets where need be."""
    if "\n" not in one.said and read(one.said) == (one,):
        return one.said
    code = f"#{one.code}" if one.code else ""
    return f"[{' '.join(filter(None, (one.tool, code)))}] {one.message}"


def read(text: str) -> tuple[Diagnostic, ...]:
    """Return the errors that a text stands for: one as `written` writes it, a message, or a whole output."""
    if known := _WRITTEN.fullmatch(text.strip()):
        groups = known.groupdict()
        return (Diagnostic.of(groups["message"], tool=groups["tool"], code=groups["code"] or ""),)
    if found := diagnostics(text, exit_code=1 if "\n" in text.strip() else None):
        return found
    lines = [line for line in text.splitlines() if line.strip()]
    plain = Diagnostic.of(lines[0]) if len(lines) == 1 else None
    return (plain,) if plain and plain.message else ()


# -- in what people write -------------------------------------------------------------------------------------------

_QUOTED_CODE = re.compile(r"`([^`\n]{4,400})`|\"([^\"\n]{6,400})\"|“([^”\n]{6,400})”")
_AFTER = re.compile(
    r"(?:^\s*|(?:[:;—–,(]|\b(?:with|says|said|saying|shows|prints|gives|raises|reports|as|of|by|get|see|error))\s+)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;,](?=\s)|\s+(?=[—–])")
MOST_MENTIONED = 8


def mentioned(*texts: str) -> tuple[Diagnostic, ...]:
    """Return the errors that a lesson's texts name: lines of outputs, and messages in the middle of a sentence.

    Only what a rule knows for sure is one. Where a sentence goes on behind a message, it is read to the end of the line
    and to the end of the sentence.
    """
    found: dict[Diagnostic, None] = {}
    for text in texts:
        for piece in _pieces(text):
            one = _of_line(piece, (), near_end=False)
            if one is not None and one.weight is Weight.SPECIFIC:
                found[one] = None
            if len(found) >= MOST_MENTIONED:
                return tuple(found)
    return tuple(found)


def _pieces(text: str) -> Iterator[str]:
    for line in text.splitlines():
        shown = line.strip()[:LONGEST_LINE]
        for quoted in _QUOTED_CODE.finditer(shown):
            yield next(filter(None, quoted.groups()))
        for start in _AFTER.finditer(shown):
            piece = shown[start.end() :]
            yield piece
            if end := _SENTENCE_END.search(piece):
                yield piece[: end.start()]
