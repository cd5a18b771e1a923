"""How acts are named, and what kind of act each is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank.distill.acts import (
    command_of,
    is_check,
    is_coding,
    is_edit,
    is_idle,
    is_look,
    kind,
    label,
    program_of,
    told_apart,
)
from reasoningbank.runs.trajectory import Step


def call(tool: str, **arguments: Any) -> Step:
    return Step(action=f"{tool}({json.dumps(arguments)})", tool=tool)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ("cd /repo && python -m pytest tests -q", "python -m pytest tests -q"),
        ("cd '/my repo' ; FOO=1 BAR='x y' make all", "make all"),
        ("sudo -E apt-get install jq", "apt-get install jq"),
        ("timeout 60 npm test 2>&1 | tail -20", "npm test"),
        ("source .venv/bin/activate && pytest", "pytest"),
        ("cat > app.py <<'EOF'\nprint(1)\nEOF", "write app.py"),
        ("tee -a conf <<EOF\nx\nEOF", "write conf"),
        ("python3 - <<'EOF'\nprint(1)\nEOF", "python3 -"),
        ("make  build\n", "make build"),
    ],
)
def test_a_command_is_named_without_what_is_only_around_it(given: str, command: str) -> None:
    assert command_of(Step(action=given)) == command


def test_a_shell_tool_holds_its_command_in_one_of_its_arguments() -> None:
    assert command_of(call("bash", command="ls -a", timeout=3)) == "ls -a"
    assert command_of(call("shell", command=["bash", "-lc", "ls -a"])) == "ls -a"
    assert command_of(call("shell", command=["ls", "-a"])) == "ls -a"
    assert command_of(call("execute", what="ls")) == "ls"
    assert command_of(call("bash")) == ""
    assert command_of(call("read_file", path="ls")) == ""


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("git -C x commit -m y", "git x"),
        ("git commit -m y", "git commit"),
        ("python -m pytest tests", "python -m pytest"),
        ("npm run test -- -q", "npm run test"),
        ("pip install -e . && pytest -q", "pytest"),
        ("python", "python"),
        ("ls | wc -l", "wc"),
        ("", ""),
    ],
)
def test_what_a_command_runs_is_the_program_with_the_word_that_says_what_it_does(command: str, program: str) -> None:
    assert program_of(command) == program


def test_a_step_is_labelled_by_its_command_or_by_its_tool_and_file() -> None:
    assert label(call("bash", command="cd /a && pytest -q")) == "pytest -q"
    assert label(call("edit_file", path="/a/b.py", new="x")) == "edit_file /a/b.py"
    assert label(call("str_replace_editor", command="view", path="/a")) == "view /a"
    assert label(call("pay", amount=3)) == "pay"
    assert label(Step(action="cd /a &&")) == "a command"
    assert kind(Step(action="cd /a &&")) == "a command"
    assert kind(Step(action="apt-get update")) == "apt-get update"
    assert kind(call("pay")) == "pay"


@pytest.mark.parametrize(
    "command",
    [
        *("pytest -q", "cd /a && python -m pytest", "npm test", "go build ./...", "make", "cargo test"),
        *("npx tsc --noEmit", "python tests/runtests.py queries", "mvn -q test", "./gradlew check"),
        *("pip install x && pytest", "make -j2 test"),
    ],
)
def test_tests_builds_and_linters_are_checks(command: str) -> None:
    assert is_check(Step(action=command))


@pytest.mark.parametrize("command", ["ls tests", "cat pytest.ini", "makepkg", "git commit -m 'make test pass'", ""])
def test_other_commands_are_none(command: str) -> None:
    assert not is_check(Step(action=command))


@pytest.mark.parametrize(
    "step",
    [
        Step(action="sed -i s/a/b/ x.py"),
        Step(action="echo x > y"),
        Step(action="pip install jq"),
        Step(action="npm ci"),
        Step(action="mkdir -p out"),
        call("Edit", file_path="/a"),
        call("str_replace_editor", command="str_replace", path="/a"),
        call("apply_patch", input="*** Begin"),
    ],
)
def test_what_changes_files_or_packages_is_an_edit_and_no_look(step: Step) -> None:
    assert is_edit(step)
    assert not is_look(step)


@pytest.mark.parametrize(
    "step",
    [
        Step(action="ls"),
        Step(action="git log -3"),
        Step(action="sed -n 1,5p x"),
        call("get_user", id=1),
        call("search"),
    ],
)
def test_what_only_looks_is_a_look_and_no_edit(step: Step) -> None:
    assert is_look(step)
    assert not is_edit(step)


def test_tools_of_coding_agents_are_told_from_those_of_a_domain() -> None:
    assert all(
        is_coding(call(tool)) for tool in ("read_file", "str_replace_editor", "Edit", "bash", "grep", "MultiEdit")
    )
    assert is_coding(Step(action="ls"))
    assert not any(is_coding(call(tool)) for tool in ("book_flight", "search_flights", "edit_order", "list_users"))


@pytest.mark.parametrize(
    ("tool", "action", "command"),
    [
        ("bash", "cd /testbed && ls /nope", "ls /nope"),
        ("python", "python main.py", "python main.py"),
        ("edit", "edit 15:15\n    return 1\nend_of_edit", "edit 15:15"),
        ("find_file", "find_file x.py", "find_file x.py"),
        ("Search", "Search[files]", ""),
    ],
)
def test_an_act_may_be_a_command_as_it_was_typed(tool: str, action: str, command: str) -> None:
    assert command_of(Step(tool=tool, action=action)) == command


def test_what_the_shell_of_swe_agent_changes_and_looks_at_is_known() -> None:
    assert is_edit(Step(tool="edit", action="edit 15:15\n    return 1\nend_of_edit"))
    assert is_edit(Step(tool="str_replace_editor", action="str_replace_editor create a.py --file_text x"))
    assert is_look(Step(tool="find_file", action="find_file x.py"))
    assert is_look(Step(tool="goto", action="goto 583"))


def test_what_only_hands_in_the_work_is_no_act() -> None:
    assert is_idle(Step(tool="bash", action="cd /w && echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt"))
    assert is_idle(Step(tool="submit", action="submit"))
    assert not is_idle(Step(tool="bash", action="git diff"))


def test_two_commands_are_told_apart_where_they_differ() -> None:
    long = "python -m tool --with-a-very-long-option=that-fills-the-whole-label --mode "

    assert told_apart("ls a", "ls b") == "ls b"
    assert told_apart("ls a", "ls a") == ""
    assert told_apart(f"{long}slow", f"{long}fast").endswith("--mode fast")
    assert told_apart(long, f"{long}fast").startswith("… ")
