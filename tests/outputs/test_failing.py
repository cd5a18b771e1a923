"""Does an output say that its act failed, and with which line?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import detection
from reasoningbank.outputs import error_line, failure_of, first_line


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Error: payment amount does not add up", "Error: payment amount does not add up"),
        ('{"error": "no such user"}', "no such user"),
        ("running\n  File x\nKeyError: 'id'\n", "KeyError: 'id'"),
        ("Traceback (most recent call last):\n  File x\nValueError: a\n\nValueError: b", "ValueError: b"),
        ("Traceback (most recent call last):\n  odd end", "odd end"),
        ("Execution failed. Traceback:\n  File x\nException: status is 422:\n{}", "Exception: status is 422:"),
        ("Encountered error: no such table", "Encountered error: no such table"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("\x1b[31mbash: foo: command not found\x1b[0m", "bash: foo: command not found"),
        ("compiling\nerror[E0382]: borrow of moved value", "error[E0382]: borrow of moved value"),
        ("HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found"),
        ("HTTP/1.1 302 Found\n\nHTTP/1.1 500 Internal Server Error\noops", "HTTP/1.1 500 Internal Server Error"),
        ("<title>502 Bad Gateway</title>", "<title>502 Bad Gateway</title>"),
        ("Request failed with status code 404", "Request failed with status code 404"),
        ("FAILED tests/test_a.py::test_b", "FAILED tests/test_a.py::test_b"),
        ("E       assert 3 == 4\n1 failed, 13 passed in 0.42s", "E       assert 3 == 4"),
        ("  12 passing\n  2 failing", "2 failing"),
        ("ok 1 - a\nnot ok 2 - b", "not ok 2 - b"),
        ("3 packets transmitted, 0 received, 100% packet loss", "3 packets transmitted, 0 received, 100% packet loss"),
        ("src/a.c:7:5: error: 'x' undeclared", "src/a.c:7:5: error: 'x' undeclared"),
    ],
)
def test_the_line_that_says_what_went_wrong_is_found(output: str, line: str) -> None:
    assert error_line(output) == line


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("exit code: 1", "exit code: 1"),
        ("cc a.c\nno main\n[exit code: 2]", "no main"),
        ("Exit code 1\nbash: x: command not found\nbye", "bash: x: command not found"),
        ("<returncode>3</returncode>\n<output>\ngone\n</output>", "gone"),
        ("[The command completed with exit code 1.]", "[The command completed with exit code 1.]"),
        ("Process exited with code 127", "Process exited with code 127"),
        ("The process '/bin/git' failed with exit code 128", "The process '/bin/git' failed with exit code 128"),
        ("Exit code: 0\nmore\nexited with 3", "more"),
        ("Process terminated by signal 9", "Process terminated by signal 9"),
        ('{"exit_code": 2, "out": ""}', '{"exit_code": 2, "out": ""}'),
        ('{"returncode": 1, "stdout": "", "stderr": "boom\\nbang"}', "boom"),
    ],
)
def test_a_stated_exit_status_decides(output: str, line: str) -> None:
    assert error_line(output) == line


@pytest.mark.parametrize(
    "output",
    [
        '{"success": false, "message": "gone"}',
        '{"ok": false, "message": "gone"}',
        '{"isError": true, "content": [{"type": "text", "text": "gone"}]}',
        '{"is_error": true, "content": "gone"}',
        '{"error": true, "message": "gone"}',
        '{"status": "error", "message": "gone"}',
        '{"status": 404, "message": "gone"}',
        '{"code": "ENOENT", "message": "gone"}',
        '{"result": {"success": false}, "message": "gone"}',
        '{"result": {"result": {"result": {}, "ok": false}}, "message": "gone"}',
        '{"errors": [{"message": "gone"}]}',
        '{"error": {"code": 429, "message": "gone"}}',
        '{"error": [["gone"]]}',
        "{'error': 'gone'}",
        '{"passed": 3, "failed": 2, "message": "gone"}',
        '{"isError": false, "content": [{"type": "text", "text": "Error: gone"}]}',
    ],
)
def test_structured_outputs_state_it_by_their_fields(output: str) -> None:
    assert error_line(output).removeprefix("Error: ") == "gone"


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\n",
        "3 passed",
        '{"error": null, "rows": 3}',
        '{"error": "none", "errors": [], "failed": 0}',
        '{"id": 7, "status": "failed", "kind": "payment"}',
        '{"orders": [{"status": "failed"}]}',
        '{"status": "success", "message": "error handling explained"}',
        '{"returncode": 0, "stdout": "Error: quoted"}',
        '{"statusCode": 201}',
        '{"error_rate": 0.5, "timeout": 30}',
        '[{"name": "error", "value": 1}]',
        "[[[[[[1]]]]]]",
        '{"content": [{"type": "a", "content": [{"type": "b", "content": [{"type": "c", "text": "Error: deep"}]}]}]}',
        '{"content": {"content": {"content": {"content": {"content": "Error: deep"}}}}}',
        "{'odd': ]",
        "{odd",
        "[" * 5_000,
        "The chapter on errors:\nHow to raise an exception",
        "exit code: 0",
        "exit code: 0\nError: from a log",
        "set -e\nexit 1",
        "HTTP/2 200\n\n{}",
        "error: 0",
        "Failed: 0, Passed: 3",
        "timeout: 30",
        "Unable to reproduce; all tests pass",
        "Error rate: 0.4 %",
        "test_error_is_raised PASSED\n5 passed in 0.11s",
        "app.py:12:    raise ValueError('x')\napp.py:30: log.error('failed')",
        "     1\tdef f():\n     2\t    raise ValueError('error: x')",
    ],
)
def test_an_output_that_only_speaks_of_errors_is_none(output: str) -> None:
    assert error_line(output) == ""


def test_an_error_in_the_middle_of_a_long_page_is_not_looked_at() -> None:
    page = ["text"] * 30 + ["ValueError: quoted"] + ["text"] * 30

    assert error_line("\n".join(page)) == ""


def test_what_the_caller_knows_outweighs_the_words() -> None:
    assert failure_of("Error: quoted", status=0) is None
    assert failure_of("Error: quoted", flagged=False) is None
    assert failure_of("\nquota used up\nmore", flagged=True) == ("quota used up", "flag")
    assert failure_of("", status=1) == ("", "exit status")
    assert failure_of("gone", status=1) == ("gone", "exit status")


def test_failed_tests_outweigh_an_exit_status_of_0_which_a_pipe_may_have_given() -> None:
    assert failure_of("2 failed, 40 passed in 12.10s", status=0) == ("2 failed, 40 passed in 12.10s", "tests")


def test_deep_error_objects_have_no_message() -> None:
    output = '{"error": {"error": {"error": {"error": {"error": {"error": "x"}}}}}}'

    assert error_line(output) == output


@pytest.mark.parametrize("half", detection.HALVES)
def test_failures_are_told_in_both_halves_of_the_labelled_set(half: str) -> None:
    figures = detection.measure(detection.read(detection.HALVES[half]))

    assert figures["outputs"] >= 150
    assert figures["precision"] >= 0.95
    assert figures["recall"] >= 0.95


@given(st.text())
def test_any_text_is_read_and_the_line_is_of_it_and_short(text: str) -> None:
    line = error_line(text)

    assert len(line) <= 300
    assert line == first_line(line)
