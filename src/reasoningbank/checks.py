"""What tests and commands say of a run: JUnit XML, the last line of pytest, exit codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

from reasoningbank.errors import InvalidInputError
from reasoningbank.verdict import Verdict

# A check that was stopped (Ctrl-C, as a shell and as Python give it), or that could not be started, says nothing.
STOPPED = frozenset({-2, 130})
NOT_STARTED = frozenset({126, 127})
# pytest: 1 is failing tests; 2 to 5 are an interruption, an error of its own, wrong usage, no tests.
OF_PYTEST = {0: Verdict.SUCCESS, 1: Verdict.FAILURE}

# "3 failed, 120 passed, 2 skipped in 4.21s", with or without the line's equals signs and colours.
_COUNT = r"\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)"
NONE_RUN = "no tests ran"
_SUMMARY = re.compile(rf"^=*\s*({NONE_RUN}|{_COUNT}(?:, {_COUNT})*) in [\d.:]+ ?s.*?=*\s*$", re.MULTILINE)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Suite:
    """How tests ended; errors count as failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def verdict(self) -> Verdict:
        """Failure when any failed, success when some passed and none failed, unknown when none was run."""
        if self.failed:
            return Verdict.FAILURE
        return Verdict.SUCCESS if self.passed else Verdict.UNKNOWN

    def __str__(self) -> str:
        """Say it in words."""
        named = ((self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped"))
        return ", ".join(f"{many:,} {what}" for many, what in named if many) or "no tests"


def is_junit(text: str) -> bool:
    """Tell whether a text is a test report in JUnit's XML."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and "<testsuite" in text


def read_junit(text: str) -> Suite:
    """Read a test report in JUnit's XML by its test cases, whatever its attributes say.

    Raises:
        InvalidInputError: it is no such report, is cut off, or declares entities.
    """
    found = _Cases()
    try:
        found.parser.Parse(text.lstrip("\ufeff \t\r\n").encode(), True)
    except ExpatError as error:
        raise InvalidInputError(f"this is no whole JUnit report: {error}") from None
    return found.suite


class _Cases:
    """Counts test cases while a report is read. expat gives events and builds nothing."""

    def __init__(self) -> None:
        self.suite, self._depth, self._ends = Suite(), 0, set[str]()
        self.parser = ParserCreate("utf-8")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._begin, self._end
        self.parser.EntityDeclHandler = _refused

    def _begin(self, name: str, _: Any) -> None:
        self._depth += 1
        if self._depth == 1 and name not in {"testsuite", "testsuites"}:
            raise InvalidInputError(f"this is no JUnit report: it begins with <{name}>, not with <testsuites>")
        self._ends = set() if name == "testcase" else self._ends | {name}

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "testcase":
            failed = bool(self._ends & {"failure", "error"})
            skipped = not failed and "skipped" in self._ends
            one = self.suite
            self.suite = Suite(one.passed + (not failed and not skipped), one.failed + failed, one.skipped + skipped)


def _refused(*_: Any) -> None:
    raise InvalidInputError("the report declares entities, which no test runner does: it is not read")


def read_pytest(text: str) -> Suite | None:
    """Read the last line that pytest prints, the last of several; None when there is none."""
    lines = _SUMMARY.findall(_COLOUR.sub("", text))
    if not lines:
        return None
    counts: dict[str, int] = {}
    for part in lines[-1].split(", ") if lines[-1] != NONE_RUN else ():
        many, what = part.split(" ", 1)
        counts[what.rstrip("s")] = counts.get(what.rstrip("s"), 0) + int(many)
    return Suite(
        passed=counts.get("passed", 0) + counts.get("xpassed", 0),
        failed=counts.get("failed", 0) + counts.get("error", 0),
        # Tests that are expected to fail say nothing when they do; JUnit reports count them so, too.
        skipped=counts.get("skipped", 0) + counts.get("xfailed", 0),
    )


def of_exit_code(code: int, check: str = "") -> Verdict:
    """Return what an exit code says: 0 is success, anything else failure, but for a check that was not carried out."""
    if check == "pytest":
        return OF_PYTEST.get(code, Verdict.UNKNOWN)
    if code in STOPPED or code in NOT_STARTED:
        return Verdict.UNKNOWN
    return Verdict.FAILURE if code else Verdict.SUCCESS
