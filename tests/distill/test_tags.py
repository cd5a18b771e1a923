from __future__ import annotations

import pytest

from reasoningbank.distill.tags import derive_tags
from reasoningbank.runs.trajectory import Step, Trajectory


@pytest.mark.parametrize(
    ("action", "tag"),
    [
        ("pytest -q tests/test_a.py", "python"),
        ("npm run build", "javascript"),
        ("edit src/app.tsx", "typescript"),
        ("mvn package", "java"),
        ("go test ./...", "go"),
        ("cargo build", "rust"),
        ("g++ main.cpp", "c++"),
        ("SELECT name FROM users", "sql"),
        ("grep -rn x . | xargs rm", "bash"),
    ],
)
def test_the_language_is_read_off_the_acts(action: str, tag: str) -> None:
    assert tag in derive_tags(Trajectory(steps=(Step(action=action),)))


@pytest.mark.parametrize(
    ("error", "tag"),
    [
        ("TimeoutError: timed out", "timeout"),
        ("Permission denied", "permission"),
        ("No such file or directory", "not-found"),
        ("ModuleNotFoundError: No module named 'x'", "dependency"),
        ("SyntaxError: invalid syntax", "syntax"),
        ("TypeError: unsupported", "type"),
        ("AssertionError: assert 1 == 2", "assertion"),
        ("ConnectionError: refused", "network"),
        ("HTTP 429 Too Many Requests", "rate-limit"),
        ("UnicodeDecodeError: 'utf-8' codec", "encoding"),
        ("MemoryError", "memory"),
        ("Error: payment amount does not add up", "validation"),
    ],
)
def test_the_kind_of_problem_is_read_off_the_errors(error: str, tag: str) -> None:
    assert tag in derive_tags(Trajectory(steps=(Step(action="x", error=error),)))


def test_the_three_tools_used_most_are_tags() -> None:
    steps = [Step(action=f"{name}()", tool=name) for name in ("Search", "book", "book", "pay", "look", "Search", "pay")]

    assert derive_tags(Trajectory(steps=tuple(steps))) == ("search", "book", "pay")


def test_a_run_that_shows_nothing_has_no_tags() -> None:
    assert derive_tags(Trajectory(task="python", steps=(Step(thought="use python"),))) == ()
