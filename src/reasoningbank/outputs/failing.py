"""Whether an output says that the act it came from failed, and the line that says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reasoningbank.outputs.counted import exit_status, failed_tests, http_status
from reasoningbank.outputs.flags import load, stated, text_of
from reasoningbank.outputs.signs import compilers, words_of_failure

LINE = 300  # characters of a line that are looked at
LINES = 20  # lines at either end that are looked at
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
TAG = re.compile(r"^\s*</?[\w-]+>\s*$")
# Python's, and that of shells which leave the rest of the line out.
TRACEBACK = re.compile(r"Traceback \(most recent call last\)|Execution failed\. Traceback:")
EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:: |\s*$)")
# What shows or lists text: errors in it are what it is about. Numbered lines, a diff, hits of a search.
QUOTING = re.compile(r"^(?:\s*\d+[\t|:→]\s?|diff --git |--- a/|\+\+\+ b/|@@ |[\w./-]+:\d+[:-]|commit [0-9a-f]{7,40})")
HITS = re.compile(r"^[\w./-]+\.\w+:(?:\d+:|\s{2,}|(?=\S))")


class Failure(NamedTuple):
    """That an act failed.

    Attributes:
        line: the words that say what went wrong, at most 300 characters.
        sign: what told it: "exit status", "flag", "status", "error", "HTTP status", "tests", or the tool that says such
            words.
    """

    line: str
    sign: str


def failure_of(output: str, *, status: int | None = None, flagged: bool | None = None) -> Failure | None:
    """Return how an output says that its act failed, None if it does not.

    What is stated comes first, words last: the exit status, structured flags, the HTTP status, the summary of a test
    run; then the table of what tools print (`signs`). A summary with failed tests outweighs an exit status of 0, which
    a pipe may have given. Only the first and last 20 lines are looked at: a page that was read may speak of errors
    without being one.

    Args:
        output: what the tool or the command gave back.
        status: its exit status, where the caller has it.
        flagged: what the caller's format says: True a failure, False a success, None nothing (also where False is
            only the default of the format).
    """
    text = ESCAPES.sub("", output)
    value = load(text.strip())
    said = stated(value)
    if value is not None and said is None:
        text = text_of(value)
    lines = looked_at(text)
    code = exit_status(lines) if status is None else (status, "")
    if flagged or (code and code[0] != 0):
        message = first_line(said.message if said else "")
        line = message or _telling(lines, code[1] if code else "", first=bool(flagged))
        return Failure(line, "flag" if flagged else "exit status")
    if said is not None:
        return Failure(first_line(said.message) or first_line(text), said.by) if said.failed else None
    tests = failed_tests(lines)
    if tests and tests[0]:
        found = _words(lines)
        return Failure(found[0] if found else tests[1], "tests")
    if not lines or tests or code or flagged is False:
        return None
    return _by_status_or_words(lines)


def _by_status_or_words(lines: Sequence[str]) -> Failure | None:
    http = http_status(lines)
    if http:
        return Failure(http[1], "HTTP status") if http[0] >= 400 else None
    found = _words(lines)
    return Failure(*found) if found else None


def _words(lines: Sequence[str]) -> tuple[str, str] | None:
    if any(map(TRACEBACK.search, lines)):
        raised = [line for line in lines if EXCEPTION.match(line) and not TRACEBACK.search(line)]
        return (raised[-1] if raised else lines[-1]).strip(), "python"
    if 2 * sum(map(_is_quoted, lines)) > len(lines):
        return None
    return words_of_failure(lines)


def _is_quoted(line: str) -> bool:
    """Tell whether a line shows a place of a text. A compiler's message begins with such a place too."""
    return bool(QUOTING.match(line) or HITS.match(line)) and not compilers().match(line)


def _telling(lines: Sequence[str], counted: str, *, first: bool = False) -> str:
    """Return the line that says most of a failure that is told by a flag or a figure: its words, else the last one."""
    others = [line for line in lines if line.strip() != counted and not TAG.match(line)]
    if not others:
        return counted
    found = _words(others)
    return found[0] if found else others[0 if first else -1].strip()


def error_line(output: str, *, status: int | None = None, flagged: bool | None = None) -> str:
    """Return the line of an output that says what went wrong, or "" if it does not say that anything did."""
    failure = failure_of(output, status=status, flagged=flagged)
    return failure.line if failure else ""


def looked_at(text: str) -> list[str]:
    """Return the first and last 20 lines that are not blank, without their line ends, each cut to 300 characters."""
    lines = [line.rstrip()[:LINE] for line in text.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * LINES else lines[:LINES] + lines[-LINES:]


def first_line(text: str) -> str:
    """Return the first line that is not blank, cut to 300 characters."""
    return next((line.strip()[:LINE] for line in text.splitlines() if line.strip()), "")
