"""The server over HTTP: who may come in, and that who may is served."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from reasoningbank import InvalidInputError, ReasoningBank
from reasoningbank.mcp_server.http import LARGEST_BODY, Doorkeeper
from reasoningbank.serving import asked_for, host_names
from tests.cli.conftest import child_environment
from tests.mcp_server.conftest import Serve

TOKEN = "correct horse battery staple"
LIST_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


# -- who may come in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "memory.example", "::"])
def test_another_host_needs_a_token(host: str) -> None:
    with pytest.raises(InvalidInputError, match="set REASONINGBANK_MCP_TOKEN"):
        Doorkeeper(host)
    assert Doorkeeper(host, TOKEN).token == TOKEN


@pytest.mark.parametrize(
    ("listens_on", "headers", "status"),
    [
        ("127.0.0.1", {"host": "127.0.0.1:8765"}, None),
        ("127.0.0.1", {"host": "localhost:8765"}, None),
        ("::1", {"host": "[::1]:8765"}, None),
        ("127.0.0.1", {"host": "LOCALHOST"}, None),
        # A name that somebody made point here (DNS rebinding).
        ("127.0.0.1", {"host": "evil.example:8765"}, 421),
        ("127.0.0.1", {"host": "127.0.0.1.evil.example"}, 421),
        ("127.0.0.1", {"host": "192.168.1.5"}, 421),
        ("127.0.0.1", {"host": ""}, 421),
        ("127.0.0.1", {}, 421),
        ("127.0.0.1", {"host": "[::1"}, 421),
        # A page of another site, in a browser on this machine.
        ("127.0.0.1", {"host": "127.0.0.1:8765", "origin": "https://evil.example"}, 403),
        ("127.0.0.1", {"host": "127.0.0.1:8765", "origin": "null"}, 403),
        ("127.0.0.1", {"host": "127.0.0.1:8765", "origin": "http://[::1"}, 403),
        ("127.0.0.1", {"host": "127.0.0.1:8765", "origin": "http://localhost:3000"}, None),
    ],
)
def test_host_and_origin_are_checked(listens_on: str, headers: dict[str, str], status: int | None) -> None:
    refusal = Doorkeeper(listens_on).refusal(headers)

    assert (refusal[0] if refusal else None) == status


@pytest.mark.parametrize(
    ("listens_on", "headers", "status"),
    [
        ("0.0.0.0", {"host": "192.168.1.5:8765"}, None),
        ("0.0.0.0", {"host": "localhost"}, None),
        ("0.0.0.0", {"host": "evil.example"}, 421),
        ("memory.example", {"host": "memory.example"}, None),
        ("memory.example", {"host": "memory.example", "origin": "https://memory.example"}, None),
        ("memory.example", {"host": "memory.example", "origin": "http://localhost"}, 403),
        ("192.168.1.5", {"host": "192.168.1.5"}, None),
    ],
)
def test_other_hosts_are_served_under_their_own_name_or_number(
    listens_on: str, headers: dict[str, str], status: int | None
) -> None:
    refusal = Doorkeeper(listens_on, TOKEN).refusal(headers | {"authorization": f"Bearer {TOKEN}"})

    assert (refusal[0] if refusal else None) == status


@pytest.mark.parametrize("listens_on", ["127.0.0.1", "0.0.0.0"])
def test_a_server_goes_by_the_names_that_it_was_given_and_by_no_other(listens_on: str) -> None:
    doorkeeper = Doorkeeper(listens_on, TOKEN, ("memory.example",))
    bearer = {"authorization": f"Bearer {TOKEN}"}

    assert doorkeeper.refusal({"host": "Memory.example:443", "origin": "https://memory.example", **bearer}) is None
    assert doorkeeper.refusal({"host": "evil.example", **bearer}) == (
        421,
        "this host name is not served here: start the server with --allow-host NAME",
    )
    with pytest.raises(InvalidInputError, match=r"memory\.example, where others can reach it, needs a token"):
        Doorkeeper(listens_on, names=("memory.example",))


@pytest.mark.parametrize(
    "name", ["", "https://memory.example", "memory.example:443", "memory.example/mcp", "a b", "*", "a..b"]
)
def test_what_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="is no host name"):
        host_names([name])


def test_host_names_are_taken_as_requests_ask_for_them() -> None:
    assert host_names([" Memory.Example ", "[fd00::1]", "10.0.0.7"]) == ("memory.example", "fd00::1", "10.0.0.7")


@pytest.mark.parametrize(
    ("listens_on", "names", "said"),
    [
        ("127.0.0.1", (), ""),
        ("127.0.0.1", ("memory.example",), "Requests may ask for 127.0.0.1, memory.example; "),
        ("0.0.0.0", (), "Requests may ask for any address of this machine; "),
        ("192.168.1.5", ("bank",), "Requests may ask for 192.168.1.5, bank; "),
    ],
)
def test_a_server_says_at_the_start_what_it_is_called(listens_on: str, names: tuple[str, ...], said: str) -> None:
    assert asked_for(listens_on, names) == (said and f"{said}for a name that others use: --allow-host NAME.")


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer \udcff"]
)
def test_without_the_token_nobody_comes_in(authorization: str) -> None:
    refusal = Doorkeeper("127.0.0.1", TOKEN).refusal({"host": "localhost", "authorization": authorization})

    assert refusal == (401, "the bearer token is missing or wrong")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_s_case_does_not_matter(scheme: str) -> None:
    assert Doorkeeper("127.0.0.1", TOKEN).refusal({"host": "localhost", "authorization": f"{scheme} {TOKEN}"}) is None


# -- a real server -------------------------------------------------------------------------------------------------


def post(
    port: int, body: str | bytes | Iterator[bytes] = LIST_TOOLS, path: str = "/mcp", **headers: str
) -> tuple[int, str, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body, HEADERS | headers)
        response = connection.getresponse()
        return response.status, response.read().decode(), dict(response.getheaders())
    finally:
        connection.close()


async def test_the_sdk_s_client_drives_it(serve: Serve, bank: ReasoningBank) -> None:
    port = serve()

    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        recorded = await client.call_tool(
            "memory_record", {"title": "Quote paths", "content": "Prüfstand 試験", "outcome": "failure"}
        )
        found = await client.call_tool("memory_search", {"query": "Prüfstand 試験"})

    assert recorded.structured_content is not None
    assert bank.get(recorded.structured_content["memory_id"]).content == "Prüfstand 試験"
    assert found.structured_content is not None
    assert len(found.structured_content["memories"]) == 1


def test_strangers_are_refused(serve: Serve, bank: ReasoningBank) -> None:
    port = serve(REASONINGBANK_MCP_TOKEN=TOKEN)
    bearer = {"authorization": f"Bearer {TOKEN}"}

    assert post(port, **bearer)[0] == 200
    status, said, headers = post(port)
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert TOKEN not in said
    assert post(port, **bearer, host="evil.example")[0] == 421
    assert post(port, **bearer, origin="https://evil.example")[0] == 403
    assert not any(name.lower().startswith("access-control") for name in post(port, **bearer)[2])
    assert post(port, path="/other", **bearer)[0] == 404


def test_behind_a_proxy_it_is_reached_by_the_proxy_s_name(serve: Serve) -> None:
    port = serve("--allow-host", "memory.example", REASONINGBANK_MCP_TOKEN=TOKEN)

    assert post(port, authorization=f"Bearer {TOKEN}", host="memory.example")[0] == 200


def test_a_large_request_is_refused_whatever_its_headers_say(serve: Serve) -> None:
    port = serve()

    assert post(port, b"x" * (LARGEST_BODY + 1))[0] == 413
    chunks = iter([b"x" * 600_000, b"x" * 600_000])
    assert post(port, chunks)[0] == 413
    assert post(port)[0] == 200


def test_another_host_without_a_token_is_one_sentence(scope: dict[str, str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "reasoningbank", "mcp", "--transport", "streamable-http", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=100,
        check=False,
    )

    assert ran.returncode == 1
    assert ran.stderr == (
        "Error: serving on 0.0.0.0, where others can reach it, needs a token: set REASONINGBANK_MCP_TOKEN\n"
    )
