"""What tests and commands say of a run."""

from __future__ import annotations

import pytest

from reasoningbank import InvalidInputError, Verdict
from reasoningbank.checks import Suite, is_junit, of_exit_code, read_junit, read_pytest

YES, NO, UNKNOWN = Verdict.SUCCESS, Verdict.FAILURE, Verdict.UNKNOWN

PYTEST_XML = """\ufeff<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest"
errors="1" failures="1" skipped="1" tests="4" time="0.04"><testcase classname="a" name="b" time="0.1"/>
<testcase name="c"><failure message="assert 1 == 2">E  assert</failure></testcase>
<testcase name="d"><error message="fixture"/><failure message="twice"/></testcase>
<testcase name="e"><skipped type="pytest.xfail" message=""/></testcase></testsuite></testsuites>"""
JEST_XML = """<testsuites><testsuite name="one"><testcase name="x"/><testsuite name="nested"><testcase name="y"/>
</testsuite></testsuite></testsuites>"""


def test_a_junit_report_is_read_by_its_test_cases() -> None:
    assert read_junit(PYTEST_XML) == Suite(passed=1, failed=2, skipped=1)
    assert read_junit(JEST_XML) == Suite(passed=2)
    assert read_junit("<testsuite/>") == Suite()


@pytest.mark.parametrize("text", ["<testsuite><testcase", "<html/>", "", "<testsuite></testsuites>"])
def test_what_is_no_whole_report_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="JUnit report"):
        read_junit(text)


def test_a_report_that_declares_entities_is_not_read() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'

    with pytest.raises(InvalidInputError, match="entities"):
        read_junit(bomb)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("========= 3 failed, 120 passed, 2 skipped in 4.21s =========", Suite(120, 3, 2)),
        ("120 passed in 64.10s (0:01:04)", Suite(120)),
        ("\x1b[31m===== \x1b[1m1 failed\x1b[0m, 2 passed in 0.1s =====\x1b[0m", Suite(2, 1)),
        ("2 passed, 1 xpassed, 1 xfailed, 3 warnings in 1.00s", Suite(3, 0, 1)),
        ("1 error in 0.12s", Suite(0, 1)),
        ("no tests ran in 0.01s", Suite()),
        ("1 failed in 2s\nrerun\n3 passed in 3s\n", Suite(3)),
        ("I ran them: 3 passed in 3s, I think", None),
        ("all 3 passed", None),
        ("", None),
    ],
)
def test_the_last_line_of_pytest_is_read_and_nothing_that_only_looks_like_it(text: str, found: Suite | None) -> None:
    assert read_pytest(text) == found


@pytest.mark.parametrize(
    ("suite", "verdict", "words"),
    [
        (Suite(), UNKNOWN, "no tests"),
        (Suite(skipped=2), UNKNOWN, "2 skipped"),
        (Suite(passed=2, skipped=1), YES, "2 passed, 1 skipped"),
        (Suite(passed=1_200, failed=1), NO, "1 failed, 1,200 passed"),
    ],
)
def test_one_failed_test_is_a_failure_and_none_run_is_unknown(suite: Suite, verdict: Verdict, words: str) -> None:
    assert (suite.verdict, str(suite)) == (verdict, words)


@pytest.mark.parametrize(
    ("code", "check", "verdict"),
    [
        (0, "", YES), (1, "mypy", NO), (2, "make", NO), (-11, "", NO), (130, "", UNKNOWN), (-2, "", UNKNOWN),
        (127, "", UNKNOWN), (126, "", UNKNOWN), (0, "pytest", YES), (1, "pytest", NO), (2, "pytest", UNKNOWN),
        (5, "pytest", UNKNOWN),
    ],
)  # fmt: skip
def test_a_check_that_was_not_carried_out_says_nothing(code: int, check: str, verdict: Verdict) -> None:
    assert of_exit_code(code, check) is verdict


def test_a_report_is_told_from_a_label() -> None:
    assert is_junit(PYTEST_XML)
    assert not is_junit("success")
    assert not is_junit("see <testsuite>")
