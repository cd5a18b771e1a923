"""What every integration does when an agent's tool fails."""

from __future__ import annotations

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.adapters import ToolFailures, failing

SAID = "error: src refspec main does not match any"


@pytest.fixture
def failures(bank: ReasoningBank) -> ToolFailures:
    bank.record("Commit first", "There is no commit yet: commit, then push", outcome="failure", signatures=[SAID])
    return ToolFailures(bank, timeout=60.0)


def test_whether_it_failed_is_told_or_read_from_the_output(failures: ToolFailures) -> None:
    assert "no commit yet" in failures.look(SAID, tool="bash", failed=True, task="push it")
    assert "no commit yet" in failures.look(SAID, tool="bash")
    assert failures.look(SAID, tool="bash", failed=False) == ""
    assert failures.look("fine", tool="bash") == ""


def test_a_success_is_told_while_something_may_be_repaired(failures: ToolFailures, bank: ReasoningBank) -> None:
    push = {"command": ["git", "push"]}
    failures.look(SAID, tool="bash", arguments=push, failed=True, ref="run-1")
    before = bank.list().memories[0].confidence
    failures.look("done", tool="bash", arguments={"cmd": "git push -u origin main"}, ref="run-1")

    assert bank.list().memories[0].confidence > before


def test_so_many_runs_are_remembered(failures: ToolFailures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "MOST_PENDING", 1)
    for ref in ("run-1", "run-2"):
        failures.look(SAID, tool="bash", failed=True, ref=ref)

    assert [key[-1] for key in failures._pending] == ["run-2"]


def test_the_command_is_found_among_a_tools_arguments() -> None:
    assert failing.command_in({"code": "print(1)"}) == "print(1)"
    assert failing.command_in({"cmd": 3}) is None
    assert failing.command_in({}) is None
