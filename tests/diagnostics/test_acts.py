"""What a later success is known by as that of what failed, and which errors are of one kind."""

from __future__ import annotations

import pytest

from reasoningbank.diagnostics import Diagnostic
from reasoningbank.diagnostics.acts import act_of
from reasoningbank.diagnostics.likeness import answers, likeness


@pytest.mark.parametrize(
    ("command", "act"),
    [
        ("git push -u origin main", "git push"),
        ("cd app && sudo /usr/bin/git push", "git push"),
        ("make", "make"),
        ("FOO=1 python3.11 scripts/train.py --fast", "python train.py"),
        ("python -m pytest -q tests", "pytest"),
        ("uv run ruff check .", "ruff check"),
        ("timeout 60 npm run build 2>&1 | tail -5", "npm run"),
        ("# first\n'unclosed", "'unclosed"),
        ("pytest -q", "pytest"),
        ("cargo.exe build", "cargo build"),
        ("", "bash"),
        ("sudo", "bash"),
    ],
)
def test_an_act_is_a_program_with_its_first_word_or_else_a_tool(command: str, act: str) -> None:
    assert act_of("Bash", command) == act


def test_nothing_known_is_no_act() -> None:
    assert act_of(None, None) == ""


def test_errors_of_one_kind_about_different_things_are_alike() -> None:
    one, other = Diagnostic.of("No module named 'yaml'"), Diagnostic.of("No module named 'toml'")

    assert likeness(one, other) == 1.0
    assert likeness(one, Diagnostic.of("disk is full")) == 0.0
    assert likeness(one, Diagnostic.of("No space left on device")) < 0.5


def test_a_lesson_answers_errors_of_the_kinds_that_it_names() -> None:
    error = [Diagnostic.of("No module named 'yaml'", code="ModuleNotFoundError")]

    assert answers(error, ["ModuleNotFoundError: No module named 'toml'"], "")
    assert not answers(error, ["disk is full"], "No module named yaml, ModuleNotFoundError")


def test_a_lesson_that_names_no_error_answers_those_whose_words_it_says() -> None:
    error = [Diagnostic.of("the broker refused this connection")]

    assert answers(error, [], "When the broker refused this connection, wait and connect again.")
    assert not answers(error, [], "Wait for the broker.")
    assert not answers([Diagnostic.of("broker")], [], "the broker")
