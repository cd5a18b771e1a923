"""The server on standard streams, byte by byte: they carry the protocol and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from reasoningbank import ReasoningBank
from tests.cli.conftest import child_environment
from tests.mcp_server.conftest import RECORD, Spawn


async def test_the_sdk_s_client_drives_the_command(scope: dict[str, str], bank: ReasoningBank) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "reasoningbank", "mcp", "--by", "claude"], env=child_environment()
    )

    async with Client(server) as client:
        await client.call_tool("memory_record", RECORD)
        found = await client.call_tool("memory_search", {"query": "quote paths"})

    assert found.structured_content is not None
    assert [memory["title"] for memory in found.structured_content["memories"]] == ["Quote paths"]
    assert bank.list().memories[0].source.by == "claude"


def test_with_a_cold_model_and_at_debug_only_the_protocol_is_on_standard_output(spawn: Spawn) -> None:
    client = spawn("--log-level", "debug", "--embedder", "minilm")
    assert client.initialize()["result"]["serverInfo"]["name"] == "reasoningbank"

    client.call(1, "memory_record", **RECORD)
    assert client.wait_for(1)["result"]["isError"] is False
    client.call(2, "memory_search", query="quote paths")
    assert len(client.wait_for(2)["result"]["structuredContent"]["memories"]) == 1
    code, err = client.close()

    assert code == 0
    assert "DEBUG" in err
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.lines)


def test_what_a_dependency_prints_goes_to_standard_error(spawn: Spawn, slow_server: Path) -> None:
    client = spawn(script=slow_server)
    client.initialize()

    client.call(1, "memory_record", **RECORD)
    client.wait_for(1)
    code, err = client.close()

    assert code == 0
    for said in ("printed", "written", "echoed"):
        assert said in err
        assert all(said.encode() not in line for line in client.lines)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_text_is_utf_8_whatever_the_locale(spawn: Spawn, encoding: str) -> None:
    text = "Prüfstand 試験 😀\xa0!"
    client = spawn(PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C", PYTHONCOERCECLOCALE="0")
    client.initialize()

    client.call(1, "memory_record", **RECORD | {"content": text})
    client.wait_for(1)
    client.call(2, "memory_search", query="Prüfstand 試験")

    answer = client.wait_for(2)["result"]
    assert answer["structuredContent"]["memories"][0]["content"] == text
    assert text in answer["content"][0]["text"]
    assert client.close()[0] == 0


def test_a_cancelled_call_leaves_no_lock_and_is_whole_or_absent(
    spawn: Spawn, slow_server: Path, bank: ReasoningBank
) -> None:
    client = spawn(script=slow_server)
    client.initialize()

    client.call(1, "memory_record", **RECORD | {"content": "slow lesson"})
    client.send({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "Esc"}})
    client.call(2, "memory_search", query="quote paths")
    assert client.wait_for(2)["result"]["isError"] is False
    client.call(3, "memory_record", **RECORD)
    assert client.wait_for(3)["result"]["isError"] is False
    client.close()

    answered = [json.loads(line).get("id") for line in client.lines]
    assert answered.count(1) <= 1
    assert {memory.content for memory in bank.list().memories} >= {"Put paths in quotes"}
    assert bank.upkeep.doctor() == []


def test_what_was_asked_before_the_client_hung_up_is_answered(spawn: Spawn, slow_server: Path) -> None:
    client = spawn(script=slow_server)
    client.initialize()

    client.call(1, "memory_record", **RECORD | {"content": "slow lesson"})
    client.call(2, "memory_search", query="quote paths")
    client.hang_up()

    assert client.wait_for(1)["result"]["isError"] is False
    assert client.close()[0] == 0


def test_a_line_that_is_no_message_stops_nothing(spawn: Spawn) -> None:
    client = spawn()
    client.initialize()

    stdin = client._process.stdin
    assert stdin is not None
    stdin.write(b"\xff\xfe not json\n")
    client.call(1, "memory_search", query="quote paths")

    assert client.wait_for(1)["result"]["isError"] is False


@pytest.mark.parametrize(("name", "option"), [("TENANT", "--tenant"), ("PROJECT", "--project")])
def test_started_again_without_its_scope_it_refuses_and_names_what_is_missing(
    scope: dict[str, str], bank: ReasoningBank, monkeypatch: pytest.MonkeyPatch, name: str, option: str
) -> None:
    # Of several nobody can tell which is meant; the only one there is would be served.
    for tenant, project in (("acme", "billing"), ("acme", "sales"), ("globex", "billing")):
        with ReasoningBank(bank.root, tenant=tenant, project=project, embedder="hash") as other:
            other.record(**RECORD)
    monkeypatch.delenv(f"REASONINGBANK_{name}")

    ran = subprocess.run(
        [sys.executable, "-m", "reasoningbank", "mcp"],
        input=b"",
        capture_output=True,
        env=child_environment(),
        timeout=100,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert option in ran.stderr.decode()
    assert f"REASONINGBANK_{name}" in ran.stderr.decode()
