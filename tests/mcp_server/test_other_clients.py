"""Clients and servers of both of the SDK's majors, langchain-mcp-adapters and the npm inspector.

They need environments of their own: `make clients` makes them and runs these tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import child_environment
from tests.mcp_server.conftest import RECORD, Serve, Spawn
from tools.other_clients import INSPECTOR, MAJOR_1

CLIENT = Path(__file__).with_name("client_of_major_1.py")
TOOLS = ["memory_search", "memory_record", "memory_feedback", "memory_outcome"]

pytestmark = pytest.mark.clients


def of_major_1(*arguments: str, server: str = sys.executable) -> dict[str, Any]:
    ran = subprocess.run(
        [str(MAJOR_1), str(CLIENT), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=child_environment() | {"SERVER_PYTHON": server, "PYTHONUTF8": "1"},
        timeout=110,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen


def assert_all_was_seen(seen: dict[str, Any]) -> None:
    assert seen["tools"] == TOOLS
    assert (seen["created"], seen["found"]) == (True, ["Prüfstand 試験"])
    assert seen["bad"][0] is True
    assert "no memory 'nope'" in seen["bad"][1]
    assert seen["status"] == {"active": 1}


def test_a_client_of_the_first_major_drives_our_server(scope: dict[str, str]) -> None:
    assert_all_was_seen(of_major_1("stdio"))


def test_a_client_of_the_first_major_drives_our_server_over_http(serve: Serve) -> None:
    assert_all_was_seen(of_major_1("http", f"http://127.0.0.1:{serve()}/mcp"))


def test_a_server_with_the_first_major_serves_its_own_client(scope: dict[str, str]) -> None:
    assert_all_was_seen(of_major_1("stdio", server=str(MAJOR_1)))


def test_a_server_with_the_first_major_serves_over_http(serve: Serve) -> None:
    assert_all_was_seen(of_major_1("http", f"http://127.0.0.1:{serve(python=str(MAJOR_1))}/mcp"))


async def test_a_server_with_the_first_major_serves_our_client(scope: dict[str, str]) -> None:
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=str(MAJOR_1), args=["-m", "reasoningbank", "mcp"], env=child_environment())
    async with Client(server) as client:
        await client.call_tool("memory_record", RECORD)
        found = await client.call_tool("memory_search", {"query": "quote paths"})

    assert found.structured_content is not None
    assert len(found.structured_content["memories"]) == 1


def test_a_call_that_is_cancelled_leaves_a_server_with_the_first_major_alive(
    spawn: Spawn, slow_server: Path, bank: ReasoningBank
) -> None:
    client = spawn(script=slow_server, python=str(MAJOR_1))
    client.initialize()

    client.call(1, "memory_record", **RECORD | {"content": "slow lesson"})
    client.send({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "Esc"}})
    client.call(2, "memory_search", query="quote paths")
    assert client.wait_for(2)["result"]["isError"] is False
    client.call(3, "memory_record", **RECORD)
    assert client.wait_for(3)["result"]["isError"] is False
    _, err = client.close()

    assert "printed" in err
    assert all(b"printed" not in line for line in client.lines)
    assert bank.upkeep.doctor() == []


def test_langchain_mcp_adapters_makes_tools_of_ours(scope: dict[str, str]) -> None:
    seen = of_major_1("langchain")

    assert seen["tools"] == TOOLS
    assert "Prüfstand 試験" in seen["text"]
    assert "Quote paths" in json.dumps(seen["artifact"])


@pytest.mark.parametrize(
    ("method", "arguments", "seen"),
    [
        ("tools/list", [], "memory_outcome"),
        ("resources/list", [], "memory://status"),
        (
            "tools/call",
            ["--tool-name", "memory_record", *(f"--tool-arg={k}={v}" for k, v in RECORD.items())],
            "created",
        ),
    ],
)
def test_the_inspector_understands_it(scope: dict[str, str], method: str, arguments: list[str], seen: str) -> None:
    ran = subprocess.run(
        [str(INSPECTOR), "--cli", sys.executable, "-m", "reasoningbank", "mcp", "--method", method, *arguments],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=110,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert seen in ran.stdout
