"""Hooks of coding agents, tried with payloads of the shapes that the clients send, as processes of their own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank, Verdict
from reasoningbank.hooks import entry
from reasoningbank.hooks.clients import CLIENTS
from reasoningbank.hooks.install import MARK, doctor, file_of, install, uninstall
from reasoningbank.hooks.work import outcome

OUTPUT = "Exit code 1\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'\n"
BASH = {"tool_name": "Bash", "tool_input": {"command": "python load.py"}}
# What each client sends when a command failed, and at which event.
FAILED: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": (
        "PostToolUseFailure",
        {"session_id": "s", "cwd": "/home/ada/app", "hook_event_name": "PostToolUseFailure", **BASH, "error": OUTPUT},
    ),
    "codex": (
        "PostToolUse",
        {
            "session_id": "s",
            "turn_id": "1",
            "tool_name": "shell",
            "tool_input": {"command": ["python", "load.py"]},
            "tool_response": json.dumps({"output": OUTPUT[12:], "metadata": {"exit_code": 1}}),
        },
    ),
    "cursor": (
        "postToolUseFailure",
        {
            "conversation_id": "s",
            "tool_name": "Shell",
            "tool_input": {"command": "python load.py"},
            "error_message": OUTPUT,
        },
    ),
    "copilot": (
        "postToolUse",
        {
            "sessionId": "s",
            "toolName": "bash",
            "toolArgs": json.dumps({"command": "python load.py"}),
            "toolResult": {
                "resultType": "success",
                "textResultForLlm": OUTPUT[12:] + "<shellId: 0 completed with exit code 1>",
            },
        },
    ),
    "gemini": (
        "AfterTool",
        {
            "session_id": "s",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "python load.py"},
            "tool_response": {"llmContent": f"Output: {OUTPUT[12:]}Exit Code: 1", "returnDisplay": ""},
        },
    ),
}

Fire = Callable[..., str]


@pytest.fixture
def bank(tmp_path: Path) -> ReasoningBank:
    bank = ReasoningBank(tmp_path / "root", tenant="acme", project="app", embedder="hash")
    bank.record("Install PyYAML", "Seen as: ModuleNotFoundError: No module named 'yaml'", outcome="failure")
    return bank


@pytest.fixture
def fire(tmp_path: Path, bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch) -> Fire:
    """Tells one event to the hook, in this process."""

    def one(client: str, event: str, payload: dict[str, Any] | bytes) -> str:
        given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        out = io.StringIO()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
            patched.setattr(sys, "stdout", out)
            # A busy machine is no reason to end the tests.
            patched.setattr(entry, "DEADLINE", 300.0)
            patched.setattr(entry, "AT_THE_END", 300.0)
            patched.setattr("reasoningbank.hooks.work.EMBEDDER", {"embedder": "hash"})
            entry.main([client, event, "--state", str(tmp_path / "state"), *scope(tmp_path)])
        return out.getvalue()

    return one


def scope(tmp_path: Path) -> list[str]:
    return ["--tenant", "acme", "--project", "app", "--root", str(tmp_path / "root")]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_command_that_fails_is_answered_in_the_shape_that_the_client_reads(client: str, fire: Fire) -> None:
    event, payload = FAILED[client]
    said = json.loads(fire(client, event, payload))

    context = said.get("additional_context") or said.get("additionalContext")
    if "hookSpecificOutput" in said:
        assert said["hookSpecificOutput"]["hookEventName"] == event
        context = said["hookSpecificOutput"]["additionalContext"]
    assert "Install PyYAML" in context
    assert len(said) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_failure_again_is_answered_with_nothing(client: str, fire: Fire) -> None:
    prompt = next(event for event, moment in entry.MOMENTS[client].items() if moment == "prompt")
    fire(client, prompt, {"session_id": "s", "sessionId": "s", "conversation_id": "s", "prompt": "load the rows of it"})
    event, payload = FAILED[client]

    assert fire(client, event, payload)
    assert fire(client, event, payload) == ""


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("PostToolUse", {**BASH, "tool_response": {"stdout": "12 passed", "stderr": "", "interrupted": False}}),
        ("PostToolUse", {**BASH, "tool_response": {"stdout": OUTPUT, "stderr": "", "interrupted": True}}),
        ("PostToolUseFailure", {**BASH, "error": OUTPUT, "is_interrupt": True}),
        ("PostToolUseFailure", {**BASH, "error": "Exit code 1\nSegmentation fault (core dumped)"}),
        ("Stop", {"stop_hook_active": True}),
        ("UserPromptSubmit", {"prompt": "yes"}),
        ("UserPromptSubmit", {"prompt": "/compact everything there is"}),
        ("SessionStart", {"source": "resume", "cwd": "/home/ada/app"}),
        ("SessionEnd", {}),
        ("SessionStart", b"no json"),
        ("SessionStart", b"[]"),
    ],
)
def test_there_is_silence_where_there_is_nothing_to_say(event: str, payload: Any, fire: Fire) -> None:
    whole = {"session_id": "s", **payload} if isinstance(payload, dict) else payload

    assert fire("claude-code", event, whole) == ""


def test_a_turn_is_credited_by_its_last_check_and_queued(fire: Fire, bank: ReasoningBank, tmp_path: Path) -> None:
    def claude(event: str, **payload: Any) -> str:
        return fire("claude-code", event, {"session_id": "s", **payload})

    claude("UserPromptSubmit", prompt="make the tests of the loader pass")
    claude("PostToolUseFailure", **BASH, error=OUTPUT)
    claude("PostToolUse", **BASH, tool_response={"stdout": "loaded 3 rows", "stderr": ""})
    tests = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    claude("PostToolUse", **tests, tool_response={"stdout": "3 passed in 0.1s", "stderr": ""})
    claude("SessionEnd", reason="exit")

    (run,) = bank.runs.list().episodes
    assert run.verdict is Verdict.SUCCESS
    assert [served.step for served in run.memories][-1] == 1
    (job,) = bank.queue.list()
    assert job.status.value == "queued"
    assert bank.list().memories[0].confidence > 0.8
    assert not list((tmp_path / "state").rglob("*.jsonl"))


def test_lessons_come_at_the_start_and_at_each_prompt(fire: Fire, bank: ReasoningBank) -> None:
    asked = {"session_id": "s", "prompt": "ModuleNotFoundError: No module named 'yaml', install PyYAML"}

    assert "Install PyYAML" in fire("claude-code", "UserPromptSubmit", asked)
    assert fire("cursor", "beforeSubmitPrompt", {**asked, "conversation_id": "c"}) == ""
    fire("claude-code", "SessionStart", {"session_id": "s", "source": "startup", "cwd": "/home/ada/yaml"})


@pytest.mark.parametrize(
    ("acts", "verdict"),
    [
        ([("pytest -q", "2 failed, 1 passed", None)], Verdict.FAILURE),
        ([("pytest", "1 failed", 1), ("npm test", "ok", 0)], Verdict.SUCCESS),
        ([("cat pytest.ini.txt", "x", 0)], Verdict.UNKNOWN),
        ([], Verdict.UNKNOWN),
    ],
)
def test_the_last_test_or_build_says_how_a_turn_ended(
    acts: list[tuple[str, str, int | None]], verdict: Verdict
) -> None:
    lines = [{"command": command, "output": output, "exit_code": code} for command, output, code in acts]

    assert outcome(lines)[0] is verdict


def test_whatever_goes_wrong_is_silent_and_kept_for_the_doctor(
    fire: Fire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("reasoningbank.hooks.work.work", broken)

    assert fire("claude-code", *FAILED["claude-code"]) == ""
    assert "claude-code PostToolUseFailure" in (tmp_path / "state/last-problem.txt").read_text()


def test_a_hook_starts_in_little_more_than_python_does_and_never_fails(tmp_path: Path) -> None:
    command = [sys.executable, entry.__file__, "claude-code", "PostToolUse", "--state", str(tmp_path), *scope(tmp_path)]
    payload = json.dumps({"session_id": "s", **BASH, "tool_response": {"stdout": "fine", "stderr": ""}}).encode()

    def seconds(arguments: list[str]) -> float:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            done = subprocess.run(arguments, input=payload, capture_output=True, check=False)
            times.append(time.perf_counter() - start)
            assert (done.returncode, done.stdout) == (0, b"")
        return min(times)

    assert seconds(command) - seconds([sys.executable, "-c", "pass"]) < 0.15


# -- configuration ---------------------------------------------------------------------------------------------------

OPTIONS = {"state": "/home/ada/.hooks", "tenant": "acme", "project": "app"}
OTHERS = {
    "claude-code": {
        "model": "x",
        "hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "fmt"}]}]},
    },
    "codex": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}},
    "cursor": {"version": 1, "hooks": {"stop": [{"command": "./done.sh"}]}},
    "copilot": {"version": 1, "hooks": {"sessionEnd": [{"type": "command", "bash": "x"}]}},
    "gemini": {"theme": "dark"},
}


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_installed_can_be_taken_out_exactly(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    path = file_of(client, tmp_path, Path.home())
    path.parent.mkdir(parents=True)
    before = json.dumps(OTHERS[name], indent=2) + "\n"
    path.write_text(before)

    install(client, path, OPTIONS).carry_out()
    install(client, path, OPTIONS).carry_out()
    hooks = json.loads(path.read_text())["hooks"]
    assert [event for event in client.events if json.dumps(hooks[event]).count(MARK) in (1, 2)] == list(client.events)
    assert not [line for line in doctor(client, path, tmp_path) if not line.startswith(("note", "never"))]

    uninstall(client, path).carry_out()
    assert path.read_text() == before
    assert not uninstall(client, path).changes


@pytest.mark.parametrize("name", CLIENTS)
def test_a_file_that_was_made_for_it_goes_with_it(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    path = file_of(client, None, tmp_path)

    assert "is not there" in doctor(client, path, tmp_path)[0]
    assert not uninstall(client, path).changes
    install(client, path, OPTIONS).carry_out()
    assert json.loads(path.read_text())["hooks"]
    uninstall(client, path).carry_out()
    assert not path.exists()


def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    client, path = CLIENTS["claude-code"], tmp_path / "settings.json"
    for text in ("{", "[]", '{"hooks": 3}'):
        path.write_text(text)
        with pytest.raises(InvalidInputError, match=r"settings\.json"):
            install(client, path, OPTIONS)
        assert doctor(client, path, tmp_path)
        assert path.read_text() == text


def test_the_doctor_says_what_is_not_hooked_what_is_gone_and_what_went_wrong(tmp_path: Path) -> None:
    client, path = CLIENTS["claude-code"], tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [{"command": f"/gone/python /gone/{MARK} x"}]}]}}))
    (tmp_path / "last-problem.txt").write_text("it broke")
    said = "\n".join(doctor(client, path, tmp_path))

    assert "nothing is hooked at UserPromptSubmit" in said
    assert "SessionStart starts /gone/python, which is not there" in said
    assert "it broke" in said


SECRETS = {
    "named": "password=velvet9river",
    "known by its form": "using AKIA" + "IOSFODNN7EXAMPLQ now",
    "in an address": "postgres://ada:velvet9river@db/x",
    "a long word": "got 9f86d081884c7d659a2feaa0c55ad015 back",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("where", ["went well", "failed", "command", "prompt"])
def test_no_secret_is_kept_even_until_the_turn_is_over(secret: str, where: str, fire: Fire, tmp_path: Path) -> None:
    ran = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "env"}}
    if where == "went well":
        fire("claude-code", "PostToolUse", ran | {"tool_response": {"stdout": f"two rows\n{secret}\n{secret}\ndone"}})
    elif where == "failed":
        fire("claude-code", "PostToolUseFailure", ran | {"error": f"Exit code 1\n{secret}\n{OUTPUT}"})
    elif where == "command":
        fire("claude-code", "PostToolUse", ran | {"tool_input": {"command": f"run --{secret}"}, "tool_response": "ok"})
    else:
        fire("claude-code", "UserPromptSubmit", {"session_id": "s", "prompt": f"load the rows of it, {secret}"})

    kept = "".join(file.read_text() for file in (tmp_path / "state").rglob("*.jsonl"))
    assert kept
    assert ("velvet9river" in kept, "IOSFODNN7" in kept) == (False, False)
    if where == "went well":
        assert json.loads(kept)["output"] == "two rows\n[left out]\ndone"
