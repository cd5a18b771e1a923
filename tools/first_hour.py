"""The first hour with the command line: what a newcomer does, each step from what the step before said.

    python -m tools.first_hour reasoningbank      the program that is installed, as processes in an empty folder

Nothing here knows an id, a ref or a path that no output named. A step that would need one fails.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

LESSONS = (
    "Quote every path in a shell command, for names hold blanks",
    "Put paths in double quotes before passing them to rm",
    "Paths with blanks need quotes in Makefiles too",
)
WRONG_USAGE = 2
# What only the caller's own set-up says: a newcomer has none of it.
UNKNOWN = re.compile("^REASONINGBANK_|^COLUMNS$|^FORCE_COLOR$")


@dataclass(frozen=True)
class Said:
    """What a step said: its exit code and both streams."""

    code: int
    out: str
    err: str


Call = Callable[[Sequence[str]], Said]


class StuckError(Exception):
    """A step did not say how to go on."""


def walk(call: Call, server: Sequence[str], folder: Path) -> list[str]:
    """Go through the first hour in an empty folder; return the commands, as they were typed.

    Args:
        call: runs the program with arguments in `folder`.
        server: the program itself, to be started as a server.

    Raises:
        StuckError: a step failed, or did not say what the next one needs.
    """
    hour = _Hour(call, folder)
    first = hour.step([], "An experience memory", "COMMAND --help", "init", "mcp", "hooks")
    hour.step(["recall", "--help"], "Examples:", "reasoningbank recall")
    refused = call(["list"])
    if refused.code != WRONG_USAGE or "reasoningbank init" not in refused.err:
        raise StuckError(f"without a project, list does not name init: {refused.err}")
    record = _named(hour.step(["init"]), r"reasoningbank (record) ")
    hour.step([*record, "Read the log first", "The first error is the cause."], "Recorded")
    (folder / "lessons.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in LESSONS), "utf-8")
    imported = hour.step(["import", "lessons.jsonl"], "3 new", "untrusted")
    hour.step(_named(imported, r"reasoningbank (trust \S+)"), "trusted")
    hour.step(["search", "quote paths with blanks"], *LESSONS[:2])
    recalled = hour.step(["recall", "rename files whose paths hold blanks"])
    hour.step([*_named(recalled, r"reasoningbank (report success)\|failure"), "--last"], "Reported success")
    hour.step(["episodes"], "rename files")
    waiting = hour.step(["review"], "Not proven yet")
    hour.step(_named(waiting, r"reasoningbank (vote --helpful \S+)"), "confidence")
    hour.step(["status"], ".reasoningbank.toml", "4 active")
    hour.step(["doctor"], "All is as it should be")
    _serve([*server, *_named(first, r"\b(mcp)\b")], folder)
    connect = [*_named(first, r"\b(hooks)\b"), "install", "claude-code", "--folder", str(folder)]
    hour.step([*connect, *_named(hour.step(connect), r"(--yes) writes it")], "Written")
    return hour.typed


@dataclass
class _Hour:
    call: Call
    folder: Path
    typed: list[str]

    def __init__(self, call: Call, folder: Path) -> None:
        self.call, self.folder, self.typed = call, folder, []

    def step(self, arguments: Sequence[str], *expected: str) -> Said:
        said = self.call(arguments)
        self.typed.append(shlex.join(["reasoningbank", *arguments]))
        missing = [text for text in expected if text not in said.out]
        if said.code or missing:
            raise StuckError(f"{self.typed[-1]}: exit code {said.code}, without {missing}\n{said.out}{said.err}")
        return said


def _named(said: Said, pattern: str) -> list[str]:
    """Return the words of a command that an output names."""
    match = re.search(pattern, said.out)
    if match is None:
        raise StuckError(f"nothing names {pattern}:\n{said.out}")
    return shlex.split(match[1])


def _serve(command: Sequence[str], folder: Path) -> None:
    """Start the server as a client does, look for its tools, and use one."""
    asked: list[dict[str, object]] = [
        {"method": "initialize", "params": _CLIENT},
        {"method": "tools/list"},
        {"method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "quote paths"}}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, **each}) for number, each in enumerate(asked)]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment(), encoding="utf-8"
    ) as server:
        asking, answering = cast("IO[str]", server.stdin), cast("IO[str]", server.stdout)
        asking.write("".join(f"{line}\n" for line in lines))
        asking.flush()
        # A server ends when its client goes, whatever it was asked.
        said = [json.loads(line) for line in itertools.islice(answering, len(asked))]
        asking.close()
    answers = {answer["id"]: answer for answer in said}
    if len(answers) != len(asked):
        raise StuckError(f"the server answered {said}")
    tools = [tool["name"] for tool in answers[1]["result"]["tools"]]
    found = json.dumps(answers[2])
    if "memory_search" not in tools or "blanks" not in found:
        raise StuckError(f"the server offers {tools} and answered {found}")


_CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "newcomer", "version": "1"}}


def environment() -> dict[str, str]:
    """Return this process's environment without what a newcomer does not have."""
    return {name: value for name, value in os.environ.items() if not UNKNOWN.match(name)}


def main(program: str) -> int:
    """Walk with an installed program, in an empty folder with an empty home; say what was typed."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, XDG_DATA_HOME=f"{home}/data", LOCALAPPDATA=f"{home}/data")
        folder = Path(home) / "shop"
        folder.mkdir()

        def call(arguments: Sequence[str]) -> Said:
            ran = subprocess.run(
                [program, *arguments], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
            )  # fmt: skip
            return Said(ran.returncode, ran.stdout, ran.stderr)

        sys.stdout.write("".join(f"$ {line}\n" for line in walk(call, [program], folder)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
