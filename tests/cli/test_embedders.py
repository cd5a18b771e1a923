"""The bank remembers its embedder, errors name the option before what costs, and a dead endpoint is no end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli
from tests.embed.test_openai import Endpoint

Process = Callable[..., "CompletedProcess[bytes]"]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    """An endpoint with a model whose width nobody knows beforehand."""
    pytest.importorskip("openai")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("REASONINGBANK_EMBEDDER")
    yield server
    server.shutdown()
    server.server_close()


def test_a_dead_endpoint_degrades_to_keywords_in_a_new_process_too(
    cli: Cli, process: Process, endpoint: ThreadingHTTPServer
) -> None:
    assert cli("record", "Quote paths", "Put paths in quotes", "--embedder", "openai:small").code == 0
    assert cli("search", "quote paths", "--json").json["degraded"] == []
    endpoint.shutdown()
    endpoint.server_close()

    for options in ([], ["--embedder", "openai:small"]):
        found = process("search", "quote paths", *options)
        assert found.returncode == 0, found.stderr
        assert b"Put paths in quotes" in found.stdout
        assert b"does not answer" in found.stdout

    recalled = process("recall", "quote paths")
    assert (recalled.returncode, b"Put paths in quotes" in recalled.stdout) == (0, True)
    assert cli("status").code == 0
    doctor = cli("doctor")
    assert "All is as it should be" not in doctor.out
    assert "does not answer" in doctor.out


def test_a_bank_is_opened_with_the_embedder_it_holds_and_a_wrong_one_is_told_by_its_option(
    cli: Cli, bank: ReasoningBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    monkeypatch.delenv("REASONINGBANK_EMBEDDER")

    assert "Put paths in quotes" in cli("search", "quote paths").out
    wrong = cli("search", "quote paths", "--embedder", "minilm").err
    assert 0 < wrong.index("--embedder hash") < wrong.index("reembed")
    assert "--embedder hash" in cli("status", "--embedder", "minilm").out
    assert "All is as it should be" not in cli("doctor", "--embedder", "minilm").out
