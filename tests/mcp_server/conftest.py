"""Servers of the memory tools, in memory and as processes, and a raw client that sees every byte."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client

from reasoningbank import ReasoningBank
from reasoningbank.mcp_server import Offer, OneProject, build_server
from tests.cli.conftest import child_environment, named_scope

MODES = ("modern", "legacy")
RECORD: dict[str, Any] = {"title": "Quote paths", "content": "Put paths in quotes", "outcome": "failure"}


def call(offer: Offer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and return its structured result; it has to succeed."""
    result = offer.call(tool, arguments)
    assert result["isError"] is False, result
    structured: dict[str, Any] = result["structuredContent"]
    return structured


def refusal(offer: Offer, tool: str, **arguments: Any) -> str:
    """Call a tool that has to refuse, and return what it says."""
    result = offer.call(tool, arguments)
    assert result["isError"] is True, result
    assert "structuredContent" not in result
    text: str = result["content"][0]["text"]
    return text


@asynccontextmanager
async def connected(offer: Offer, mode: str = "modern") -> AsyncIterator[Client]:
    """Connect the SDK's own client to a server in memory, in the present protocol or the one before."""
    options: dict[str, Any] = {"mode": "legacy"} if mode == "legacy" else {}
    async with Client(build_server(offer), **options) as client:
        yield client


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment that names the bank."""
    return named_scope(tmp_path, monkeypatch)


@pytest.fixture
def bank(scope: dict[str, str]) -> Iterator[ReasoningBank]:
    """The bank that the servers serve."""
    with ReasoningBank(scope["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder="hash") as opened:
        yield opened


@pytest.fixture
def offer(bank: ReasoningBank) -> Offer:
    return Offer(OneProject(bank))


class RawClient:
    """A client of a server's standard streams that keeps every line as it came."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.lines: list[bytes] = []
        self._incoming: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in _stream(self._process.stdout):
            self._incoming.put(line)
        self._incoming.put(b"")

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n")

    def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        stdin = _stream(self._process.stdin)
        stdin.write(raw)
        stdin.flush()

    def wait_for(self, request: int) -> dict[str, Any]:
        """Return the answer to a request; every line until then has to be of the protocol."""
        while True:
            line = self._incoming.get(timeout=100)
            assert line, "the server ended"
            self.lines.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == request:
                return message

    def initialize(self) -> dict[str, Any]:
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "0"},
        }
        self.send({"id": 0, "method": "initialize", "params": params})
        answer = self.wait_for(0)
        self.send({"method": "notifications/initialized"})
        return answer

    def call(self, request: int, tool: str, **arguments: Any) -> None:
        self.send({"id": request, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def hang_up(self) -> None:
        """Close the server's input, as often as one likes."""
        _stream(self._process.stdin).close()

    def close(self) -> tuple[int, str]:
        """Hang up, and return the server's exit code and what it said on standard error."""
        self.hang_up()
        code = self._process.wait(60)
        err = _stream(self._process.stderr).read().decode("utf-8", "replace")
        _stream(self._process.stdout).close()
        _stream(self._process.stderr).close()
        return code, err


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


Spawn = Callable[..., RawClient]


@pytest.fixture
def spawn(scope: dict[str, str]) -> Iterator[Spawn]:
    """Starts a server as a process: `reasoningbank mcp` with these arguments, or a script in its place."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        *arguments: str, script: Path | None = None, python: str = sys.executable, **environment: str
    ) -> RawClient:
        program = [str(script)] if script else ["-m", "reasoningbank", "mcp"]
        process = subprocess.Popen(
            [python, *program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment() | environment,
        )
        started.append(process)
        return RawClient(process)

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()


Serve = Callable[..., int]


@pytest.fixture
def serve(scope: dict[str, str]) -> Iterator[Serve]:
    """Starts `reasoningbank mcp` over HTTP on a free port, and gives that port."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, python: str = sys.executable, **environment: str) -> int:
        process = subprocess.Popen(
            [python, "-m", "reasoningbank", "mcp", "--transport", "streamable-http", "--port", "0", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment() | environment,
        )
        started.append(process)
        assert process.stderr
        address = process.stderr.readline().split()[3]
        return int(address.rpartition(":")[2].partition("/")[0])

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        if process.stderr:
            process.stderr.close()


# A server whose embedder talks where it should not, and takes its time where it is told to.
SERVER = """
import os, subprocess, sys, time
from reasoningbank import ReasoningBank
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.mcp_server import Offer, OneProject, build_server
from reasoningbank.mcp_server.sdk import serve_stdio

class Chatty(HashEmbedder):
    def embed_documents(self, texts):
        print("printed")
        os.write(1, b"written\\n")
        subprocess.run(["echo", "echoed"])
        if any("slow" in text for text in texts):
            time.sleep(3)
        return super().embed_documents(texts)

bank = ReasoningBank(os.environ["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder=Chatty())
serve_stdio(build_server(Offer(OneProject(bank))))
"""


@pytest.fixture
def slow_server(tmp_path: Path) -> Path:
    """A script: a server whose embedder prints, and takes three seconds for a text with `slow` in it."""
    path = tmp_path / "server.py"
    path.write_text(SERVER, "utf-8")
    return path
