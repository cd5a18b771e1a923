"""What an output states in figures: exit status, HTTP status, the counts of a test run."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A line that says nothing but how a process ended. Words around the number are those of shells, harnesses and tools.
EXIT = re.compile(
    r"(?i)^[\W_]{0,4}(?:error: )?(?:the )?(?:(?:command|process|program|script|job|"
    r"shell|task|child|bash|tool)\b[ :]*(?:'[^']*' |`[^`]*` )?)?(?:has |was )?"
    r"(?:completed|finished|ended|done|failed|terminated|exited|exit|returned)?"
    r"(?: (?:with|a|an|non-?zero|its))*(?: ?(?:exit|return)?[ _-]?(?:code|status)"
    r"(?: (?:is|was|of))?(?:: ?|=|>| \(| )|returncode(?:: ?|=|>)|(?<=exited) |"
    r"(?<=exited with) |(?<=[\[(]exit)[:= ] ?|(?<=exit)(?:: ?|=))(-?\d{1,10})"
    r"(?:</\w+>)?(?: (?:in|after) [\d.]+ ?\w+)?[\])>.!:\s*]{0,4}$"
)
NAMES_EXIT = re.compile(r"(?i)exit|return")
SIGNAL = re.compile(r"(?i)^[\W_]{0,4}(?:the )?(?:command|process|program)?\s*(?:was )?(?:killed|terminated) by signal")
STATUS_LINE = re.compile(r"^\s*(?:< )?HTTP(?:/[\d.]+)? ([1-5]\d\d)\b")
# At the head of a page or an answer; further in it may be what is written about.
HTTP = re.compile(
    r"(?i)^\W{0,3}(?:(?:<[^>]{1,80}>\s*){0,6}(?:HTTP )?(?:error )?([45]\d\d)\b[ :-]{1,3}"
    r"(?:bad|unauthori[sz]ed|payment|forbidden|(?:page )?not found|method not|"
    r"not acceptable|request timeout|conflict|gone|length|unprocessable|too many|"
    r"internal server|not implemented|service (?:temporarily )?unavailable|gateway|"
    r"client error|server error)|(?:request failed with |got |received |unexpected |"
    r"server returned )?(?:HTTP )?status(?: code)?[:= ]{1,3}([45]\d\d)\b|HTTP "
    r"(?:error )?(?:code |status )?([45]\d\d)\b)"
)

# Summaries of test runs: each counts, in its groups, what failed.
COUNTS = (
    r"=* ?(?:\d+ (?:passed|skipped|warnings?|deselected|xfailed|xpassed), )*(\d+) (?:failed|errors?)\b"
    r"(?=.* in [\d.]+m?s|, \d|\s*=*$| \|)",  # pytest
    r"FAILED \((?:failures|errors)=(\d+)|[Ff]ailures=(\d+) errors=(\d+)",  # unittest
    r"\s*Tests?(?: Files| Suites)?:?  ?\s*(\d+) failed\b",  # jest, vitest
    r"\s*(\d+) failing\b|# fail (\d+)",  # mocha, TAP
    r"✖ \d+ problems? \((\d+) errors?|Found (\d+) errors?\b",  # linters
    r"test result: \w+\. \d+ passed; (\d+) failed",  # cargo
    r".*?Tests run: \d+,  ?Failures: (\d+),  ?Errors: (\d+)",  # JUnit
    r"(?:Passed|Failed)!  - Failed:\s+(\d+)|\s*(\d+) Error\(s\)",  # .NET
    r"\d+ (?:examples?|runs?|tests?), (?:\d+ assertions, )?(\d+) failures?(?:, (\d+) errors?)?",  # RSpec, Minitest
    r"Tests: \d+, Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?",  # PHPUnit
    r"\d+% tests passed, (\d+) tests? failed|.*?Executed \d+ tests?, with (\d+) failures?",  # CTest, XCTest
    r".*: ok=\d+\s.*unreachable=(\d+)\s+failed=(\d+)",  # Ansible
    r"\s*(?:Failed|Failures|Errors) ?[:=]\s*(\d+)\b(?!\.)(?!\s*%)",
)
FAILED_COUNTS = re.compile("(?m)^(?:" + "|".join(COUNTS) + ")")
FAILED_MARKS = re.compile(
    r"(?m)^(?:--- FAIL: |FAIL$|FAIL\t|FAILURES!|not ok \d+(?!.*# (?:TODO|SKIP))|\s*✕ |FAILED \(|"
    r"\d+ packets transmitted, 0 received)"
)
PASSED_MARKS = re.compile(
    r"(?m)^(?:=* ?\d+ passed\b(?!.*\bfailed)|\s*Tests?(?: Files| Suites)?:?  ?\s*\d+ passed|OK(?: \(.*\))?$|PASS$|"
    r"ok  ?\t?\S+\t? *[\d.]+s|\s*\d+ passing\b|test result: ok\.|BUILD SUCCESSFUL|\[INFO\] BUILD SUCCESS|"
    r"Build succeeded|All checks passed|Success: no issues|Apply complete!|INFO: Build completed successfully)"
)


def exit_status(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the exit status that one of the first or last four lines states, and that line; None if none does.

    Of several the first that is not 0 counts.
    """
    found: list[tuple[int, str]] = []
    for line in [*lines[:4], *lines[4:][-4:]]:
        match = EXIT.match(line)
        if match and NAMES_EXIT.search(line):
            found.append((int(match[1]), line.strip()))
        elif SIGNAL.match(line):
            found.append((-1, line.strip()))
    return next((one for one in found if one[0] != 0), found[0] if found else None)


def http_status(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the HTTP status that an answer begins with, and that line: the last one where answers were redirected."""
    stated = [(int(match[1]), line.strip()) for line in lines if (match := STATUS_LINE.match(line))]
    if stated and STATUS_LINE.match(lines[0]):
        return stated[-1]
    for line in lines[:3]:
        match = HTTP.match(line)
        if match:
            return int(next(filter(None, match.groups()))), line.strip()
    return None


def failed_tests(lines: Sequence[str]) -> tuple[bool, str] | None:
    """Return whether a test run's summary counts anything that failed, and the line that says so; None without one."""
    text = "\n".join(lines)
    passed = bool(PASSED_MARKS.search(text))
    for match in FAILED_COUNTS.finditer(text):
        if any(int(count) for count in match.groups() if count is not None):
            return True, _line_at(text, match.start())
        passed = True
    mark = FAILED_MARKS.search(text)
    if mark:
        return True, _line_at(text, mark.start())
    return (False, "") if passed else None


def _line_at(text: str, at: int) -> str:
    at += len(text[at:]) - len(text[at:].lstrip("\n"))
    return text[at:].split("\n", 1)[0].strip()
