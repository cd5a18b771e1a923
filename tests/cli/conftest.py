"""The command line, in this process and as a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.cli.entry import run
from tools.domain import ROOT


@dataclass
class Ran:
    """What one command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Cli = Callable[..., Ran]


def named_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Name a bank in the environment, for this process and those it starts."""
    variables = {
        "REASONINGBANK_ROOT": str(tmp_path / "root"),
        "REASONINGBANK_TENANT": "acme",
        "REASONINGBANK_PROJECT": "billing",
        "REASONINGBANK_EMBEDDER": "hash",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    # Nobody's terminal decides what the tests see.
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return variables


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment that names the bank."""
    return named_scope(tmp_path, monkeypatch)


@pytest.fixture
def cli(scope: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in this process."""

    def call(*arguments: str, stdin: str | bytes = b"") -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        streams = {
            "stdin": io.TextIOWrapper(io.BytesIO(given), "utf-8"),
            "stdout": io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True),
            "stderr": io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True),
        }
        with monkeypatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            code = run(arguments)
        out, err = (streams[name].buffer for name in ("stdout", "stderr"))
        assert isinstance(out, io.BytesIO)
        assert isinstance(err, io.BytesIO)
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())

    return call


@pytest.fixture
def process(scope: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command as a process of its own."""

    def call(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "reasoningbank", *arguments],
            input=stdin,
            capture_output=True,
            env=child_environment() | environment,
            timeout=100,
            check=False,
        )

    return call


def in_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str, columns: int = 80, keys: str = "") -> str:
    """Run a command in a terminal of so many columns, in which somebody types `keys`; return all that it showed."""
    leader, follower = pty.openpty()
    said = bytearray()

    def look_on() -> None:
        with contextlib.suppress(OSError):  # Linux says so when the other end closed.
            while chunk := os.read(leader, 65536):
                said.extend(chunk)

    onlooker = threading.Thread(target=look_on)
    onlooker.start()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    os.write(leader, keys.encode())
    with (
        os.fdopen(follower, "w", encoding="utf-8") as screen,
        os.fdopen(os.dup(follower), encoding="utf-8") as keyboard,
        monkeypatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", keyboard)
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", screen)
        assert run(arguments) == 0
    onlooker.join()
    os.close(leader)
    return said.decode()


def child_environment() -> dict[str, str]:
    """Return this process's environment with the sources first, for processes of the tests."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    return dict(os.environ) | {"PYTHONPATH": path}


@pytest.fixture
def bank(scope: dict[str, str]) -> Iterator[ReasoningBank]:
    """The bank that the commands work on."""
    with ReasoningBank(scope["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder="hash") as opened:
        yield opened
