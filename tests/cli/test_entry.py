# long: exit codes, errors and streams of every command, read as one page
"""Exit codes, errors, streams: what a shell and a program see of the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank, __version__
from reasoningbank.cli import entry, streams
from reasoningbank.cli.entry import app
from reasoningbank.cli.serving import mcp_app
from tests.cli.conftest import Cli, child_environment, in_a_terminal

Process = Callable[..., subprocess.CompletedProcess[bytes]]

# -- errors --------------------------------------------------------------------------------------------------------


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["show", "nope"],
            1,
            "Error: no memory 'nope' in this project: use an id that search, recall or list returned\n",
        ),
        (["search", ""], 1, "query"),
        (["import", "nowhere.jsonl"], 1, "nowhere.jsonl cannot be read"),
        (["rebuild", "--project", "none"], 1, "has no project 'none'"),
        (["record", "a", "b", "--embedder", "openai:"], 1, "names no model"),
        (["serch", "x"], 2, "Did you mean 'search'?"),
        (["search", "x", "--tenent", "a"], 2, "--tenant"),
        (["report", "done", "--ref", "r"], 2, "Error: Invalid value for 'verdict': 'done' is not one of 'success'"),
        (["trust", "nobody"], 1, "Error: nothing came from a source 'nobody': `sources` names those that there are"),
        (["retry", "job"], 1, "use an id that `jobs` shows"),
        (["report", "success"], 2, "one of --ref and --thread"),
        (["vote", "m"], 2, "--helpful or --not-helpful"),
        (["vote", "m", "--helpful", "--kind", "usage"], 2, "'explicit', 'outcome', 'stability'"),
        (["record"], 2, "the title is missing"),
        (["record", "a", "b", "--title", "c"], 2, "the title was given twice"),
        (["record", "a"], 2, "the content is missing"),
        (["list", "--where", "x"], 2, "'x' is not KEY=VALUE"),
        (["update", "m"], 2, "nothing to change"),
        (["show"], 2, "see reasoningbank show --help"),
        (["record", "a", "b", "--confidence", "2"], 2, "--confidence"),
        (["export", "--json"], 2, "name a FILE"),
        (["delete-project", "billing", "--json"], 2, "confirm with --yes"),
    ],
)
def test_an_error_is_one_sentence_with_the_next_step(
    cli: Cli, memory_id: str, arguments: list[str], code: int, message: str
) -> None:
    ran = cli(*arguments)

    assert ran.code == code
    assert message in ran.err
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert ran.out == "" or "--json" in arguments


@pytest.mark.parametrize(
    ("name", "variable"), [("tenant", "REASONINGBANK_TENANT"), ("project", "REASONINGBANK_PROJECT")]
)
def test_a_missing_scope_names_the_option_and_the_variable(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "")

    ran = cli("list")

    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(f"Error: no {name}: run `reasoningbank init`")
    assert f"give --{name}, or set {variable}" in ran.err


def test_with_json_an_error_is_one_object(cli: Cli, memory_id: str) -> None:
    assert cli("show", "nope", "--json").json["error"]["type"] == "MemoryNotFoundError"
    assert cli("list", "--where", "x", "--json").json["error"]["message"] == "'x' is not KEY=VALUE"


def test_options_win_over_the_environment(cli: Cli, tmp_path: Path) -> None:
    ran = cli("status", "--json", "-t", "globex", "-p", "sales", "--root", str(tmp_path / "else"), "--embedder", "hash")

    assert (ran.json["tenant"], ran.json["project"], ran.json["root"]) == ("globex", "sales", str(tmp_path / "else"))


def test_a_bug_shows_its_traceback(cli: Cli, memory_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: ReasoningBank, memory_id: str) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(ReasoningBank, "get", broken)

    with pytest.raises(RuntimeError, match="a bug"):
        cli("show", "m")


# -- streams -------------------------------------------------------------------------------------------------------


def test_json_is_all_that_stands_on_standard_output(process: Process) -> None:
    recorded = process("record", "Quote paths", "Put paths in quotes", "--json", "--embedder", "minilm")

    assert recorded.returncode == 0
    assert recorded.stdout.count(b"\n") == 1
    assert json.loads(recorded.stdout)["created"] is True


def test_what_a_dependency_prints_is_no_part_of_the_answer(
    cli: Cli, memory_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_list = ReasoningBank.list

    def chatty(self: ReasoningBank, **options: Any) -> object:
        sys.stdout.write("hello from below\n")
        return true_list(self, **options)

    monkeypatch.setattr(ReasoningBank, "list", chatty)

    ran = cli("list", "--json")

    assert [memory["id"] for memory in ran.json["memories"]] == [memory_id]
    assert ran.err == "hello from below\n"


def test_arguments_and_input_are_utf_8_whatever_the_locale_and_what_is_none_is_replaced(
    process: Process, bank: ReasoningBank
) -> None:
    ran = process(
        "record", "Prüfstand 試験 😀".encode(), "-", "--description", b"odd \x9d argument",
        stdin=b"odd \x9d byte", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0",
    )  # fmt: skip

    (memory,) = bank.list().memories
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (memory.title, memory.content) == ("Prüfstand 試験 😀", "odd \ufffd byte")
    assert memory.description == "odd \ufffd argument"


def test_output_is_utf_8_whatever_the_locale(process: Process, bank: ReasoningBank) -> None:
    bank.record("Prüfstand 試験 😀", "x", outcome="success")

    ran = process("list", PYTHONIOENCODING="cp1252")

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "Prüfstand 試験 😀" in ran.stdout.decode()


def test_a_reader_that_has_seen_enough_is_no_error(bank: ReasoningBank) -> None:
    bank.exchange.import_from({"text": f"Lesson {n} " + "long " * 2000} for n in range(12))
    line = f"{sys.executable} -m reasoningbank export | head -c 1"

    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, env=child_environment(), timeout=100, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["export"]])
def test_a_reader_that_has_gone_is_no_error(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert entry.run(command) == 0


def test_there_is_no_ansi_in_a_pipe(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory

    for command in (["list"], ["show", memory.id], ["search", "quote"], ["status"], ["nope"], ["--help"]):
        ran = cli(*command)
        assert "\x1b" not in ran.out + ran.err


def test_a_terminal_gets_colours_unless_no_color_says_otherwise(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")

    assert "\x1b[31m" in in_a_terminal(monkeypatch, "list")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in in_a_terminal(monkeypatch, "list")


def test_a_terminal_sees_a_progress_bar_with_the_time_left(
    scope: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text("".join(json.dumps({"text": f"Lesson {n}"}) + "\n" for n in range(300)), "utf-8")

    said = in_a_terminal(monkeypatch, "import", str(file))

    assert "Importing" in said
    assert "/300" in said
    assert "0:00:0" in said
    assert "Imported: 300 new" in said


def test_a_memory_cannot_steer_the_terminal(cli: Cli, bank: ReasoningBank) -> None:
    bank.record(
        "Evil \x1b]0;pwned\x07 title \x9b31m", "\x1b[2J gone [bold]kept[/bold]", outcome="success", tags=["\x1b[1m"]
    )
    memory_id = bank.list().memories[0].id

    for command in (["list"], ["show", memory_id], ["search", "evil title"], ["recall", "evil title"]):
        out = cli(*command).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\x9b" not in out
    assert "[bold]kept[/bold]" in cli("show", memory_id).out


def test_in_a_pipe_nothing_is_wrapped_cut_or_padded(cli: Cli, bank: ReasoningBank) -> None:
    title, content, tags = f"Lesson {'word ' * 30}end", f"{'content ' * 40}end", ["a" * 60, "b" * 60]
    memory_id = bank.record(title, content, outcome="success", tags=tags).memory.id
    ref = bank.recall(f"task {'word ' * 60}end", ref="r" * 150).ref
    put = bank.queue.put([{"role": "user", "content": f"run {'word ' * 30}end"}], verdict="success")

    for command, whole in {
        ("list",): [title, f"#{tags[0]} #{tags[1]}"],
        ("search", "lesson"): [content],
        ("show", memory_id): [content, ", ".join(tags)],
        ("episodes",): [f"task {'word ' * 60}end", ref],
        ("episode", ref): [f"task {'word ' * 60}end"],
        ("jobs",): [put.id],
        ("status",): [bank.upkeep.status().folder],
    }.items():
        lines = cli(*command).out.splitlines()
        assert all(any(text in line for line in lines) for text in whole), command
        assert [line for line in lines if line != line.rstrip()] == []
        assert not any("…" in line for line in lines)


@pytest.mark.parametrize("columns", [60, 80])
def test_in_a_terminal_everything_fits_and_says_what_it_is_for(
    bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    memory_id = bank.record(f"Lesson {'word ' * 30}", "content " * 40, outcome="success", tags=["a" * 30]).memory.id
    bank.report("failure", ref=bank.recall(f"a task {'word ' * 30}").ref)
    bank.queue.put([{"role": "user", "content": f"a run {'word ' * 30}"}], verdict="success")
    monkeypatch.setenv("NO_COLOR", "1")

    for command, told in {
        ("list",): ["Lesson word", memory_id],
        ("search", "lesson"): ["Lesson word", "content"],
        ("show", memory_id): ["Lesson word", "content", "tags"],
        ("episodes",): ["a task word", "failure"],
        ("jobs",): ["a run word", "queued"],
        ("metrics",): ["Success"],
        ("--help",): ["recall"],
        ("record", "--help"): ["Examples:"],
    }.items():
        said = re.sub("\x1b\\[[0-9;]*m", "", in_a_terminal(monkeypatch, *command, columns=columns))
        # But for examples, which can be copied as they stand.
        lines = [line for line in said.splitlines() if not line.startswith("  reasoningbank ")]
        assert max(map(len, lines)) <= columns, command
        assert all(text in said for text in told), (command, said)


def test_plain_in_a_terminal_is_what_a_pipe_gets(
    cli: Cli, bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.record(f"Lesson {'word ' * 30}end", "content " * 40, outcome="success")

    assert in_a_terminal(monkeypatch, "list", "--plain").replace("\r\n", "\n") == cli("list").out


# -- the process ---------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_it_with_one_line_and_a_whole_bank(scope: dict[str, str], bank: ReasoningBank) -> None:
    importing = subprocess.Popen(
        [sys.executable, "-m", "reasoningbank", "import", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(),
    )
    assert importing.stdin
    importing.stdin.write(b"".join(b'{"text": "Lesson %d"}\n' % n for n in range(100)))
    importing.stdin.flush()
    deadline = time.monotonic() + 60
    while bank.count() < 64 and time.monotonic() < deadline:
        time.sleep(0.05)

    importing.send_signal(signal.SIGINT)
    code = importing.wait(60)
    _, err = importing.communicate()

    assert code == 130
    assert err.decode().strip() == "Interrupted. What was stored until now is whole."
    assert bank.count() == 64
    assert bank.upkeep.doctor() == []


def test_the_version_is_the_package_s(cli: Cli) -> None:
    assert cli("--version").out == f"reasoningbank {__version__}\n"


def test_main_ends_the_process_with_the_exit_code(
    scope: dict[str, str], monkeypatch: pytest.MonkeyPatch, memory_id: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["reasoningbank", "show", "nope"])

    with pytest.raises(SystemExit) as ended:
        entry.main()

    assert ended.value.code == 1


def test_help_loads_no_index_and_no_model() -> None:
    code = (
        "import sys; from reasoningbank.cli.entry import run; run(['--help']);"
        "print(sorted({'numpy', 'faiss', 'onnxruntime', 'fastembed', 'tokenizers', 'mcp'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, check=True
    )

    assert ran.stdout.splitlines()[-1] == "[]"


def test_every_command_answers_with_json_on_request() -> None:
    commands = {command.name: command.callback for command in [*app.registered_commands, *mcp_app.registered_commands]}

    assert len(commands) >= 20
    # Servers answer their clients.
    silent = [name for name, run in commands.items() if run and "as_json" not in run.__annotations__]
    assert silent == ["dashboard", "serve"]


def test_a_stream_that_is_not_the_process_s_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Captured:
        encoding = "ascii"

    monkeypatch.setattr(sys, "stdout", Captured())

    streams.use_utf8()

    assert sys.stdout.encoding == "ascii"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("reasoningbank mai", ["maintain"]),
        ("reasoningbank search x --po", ["--policy"]),
        ("reasoningbank list --project b", ["billing", "books"]),
        ("reasoningbank list --tenant globex --project b", []),
    ],
)
def test_the_shell_completes_commands_options_and_projects(
    scope: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    offered: list[str],
) -> None:
    for project in ("billing", "books", "sales"):
        with ReasoningBank(scope["REASONINGBANK_ROOT"], tenant="acme", project=project, embedder="hash") as bank:
            bank.recall("anything")
    monkeypatch.setenv("_REASONINGBANK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))

    with pytest.raises(SystemExit):
        entry.run([])

    assert capsys.readouterr().out.split() == offered
