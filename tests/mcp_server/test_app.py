"""The ASGI application by itself, without a socket."""

from __future__ import annotations

import asyncio
import functools
import json
import socket
from typing import Any

import anyio
import pytest
import uvicorn

from reasoningbank.mcp_server import Offer, build_server
from reasoningbank.mcp_server.http import LARGEST_BODY, PATH, Doorkeeper, http_app
from reasoningbank.serving import configuration

TOKEN = "correct horse battery staple"
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
HEADERS = {"host": "127.0.0.1", "content-type": "application/json", "accept": "application/json, text/event-stream"}


class Exchange:
    """What an ASGI server gives an application, and what it gets back."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.sent: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        return self.messages.pop(0) if self.messages else {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])


async def asked(
    offer: Offer,
    *chunks: bytes,
    path: str = PATH,
    method: str = "POST",
    token: str | None = None,
    patience: float = 20.0,
    unfinished: type[Exchange] | None = None,
    headers: dict[str, str] | None = None,
) -> Exchange:
    """Send one request in chunks, which `unfinished` ends without an end, and return what came of it."""
    app = http_app(build_server(offer, announce=False), Doorkeeper("127.0.0.1", token), patience=patience)
    lifespan = Exchange({"type": "lifespan.startup"})
    last = len(chunks) if unfinished else len(chunks) - 1
    exchange = (unfinished or Exchange)(
        *({"type": "http.request", "body": chunk, "more_body": n < last} for n, chunk in enumerate(chunks))
    )
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in (HEADERS | (headers or {})).items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }

    async def in_its_time() -> dict[str, Any]:
        if lifespan.messages:
            return lifespan.messages.pop(0)
        await app(scope, exchange.receive, exchange.send)
        return {"type": "lifespan.shutdown"}

    await app({"type": "lifespan"}, in_its_time, lifespan.send)
    assert [message["type"] for message in lifespan.sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    return exchange


async def test_a_request_is_answered(offer: Offer) -> None:
    exchange = await asked(offer, BODY[:10], BODY[10:])

    assert exchange.status == 200
    assert b"memory_search" in exchange.body


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (PATH, {"host": "evil.example"}, 421),
        (PATH, {"origin": "https://evil.example"}, 403),
        ("/", {}, 404),
        (PATH, {"authorization": "Bearer wrong"}, 401),
    ],
)
async def test_a_stranger_is_refused(offer: Offer, path: str, headers: dict[str, str], status: int) -> None:
    token = TOKEN if status == 401 else None

    exchange = await asked(offer, BODY, path=path, token=token, headers=headers)

    assert exchange.status == status
    assert b"memory_search" not in exchange.body
    assert (b"www-authenticate", b"Bearer") in exchange.sent[0]["headers"] or status != 401


async def test_whoever_looks_after_the_server_needs_no_token(offer: Offer) -> None:
    well = await asked(offer, b"", path="/health", method="GET", token=TOKEN)
    rebound = await asked(offer, b"", path="/health", method="GET", headers={"host": "evil.example"})
    posted = await asked(offer, BODY, path="/health", token=TOKEN)

    assert (well.status, json.loads(well.body)["status"]) == (200, "ok")
    assert (rebound.status, posted.status) == (421, 401)


async def test_what_is_no_request_is_answered(offer: Offer) -> None:
    exchange = await asked(offer, b"not json")

    assert (exchange.status, json.loads(exchange.body)["error"]["code"]) == (400, -32700)


async def test_half_a_surrogate_is_no_reason_to_refuse(offer: Offer) -> None:
    call = {"name": "memory_search", "arguments": {"query": "half \ud800"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()

    exchange = await asked(offer, body)

    assert exchange.status == 200
    assert json.loads(exchange.body)["result"]["isError"] is False


async def test_a_body_that_never_ends_is_given_up(offer: Offer) -> None:
    class Stuck(Exchange):
        async def receive(self) -> dict[str, Any]:
            if not self.messages:
                await anyio.sleep_forever()
            return self.messages.pop(0)

    exchange = await asked(offer, BODY[:10], unfinished=Stuck, patience=0.05)

    assert exchange.status == 408


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET /he"])
async def test_a_connection_on_which_no_whole_request_comes_is_closed(offer: Offer, sent: bytes) -> None:
    server = uvicorn.Server(configuration(http_app(build_server(offer), Doorkeeper("127.0.0.1")), patience=0.3))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        async with anyio.create_task_group() as group:
            group.start_soon(functools.partial(server.serve, sockets=[listening]))
            with anyio.fail_after(20):
                reading, writing = await asyncio.open_connection(*listening.getsockname())
                writing.write(sent)
                answered = await reading.read()
            writing.close()
            server.should_exit = True

    assert answered.startswith(b"HTTP/1.1 200") if b"health" in sent else answered == b""


async def test_a_body_is_counted_as_it_comes(offer: Offer) -> None:
    exchange = await asked(offer, *[b"x" * (LARGEST_BODY // 2)] * 3)

    assert exchange.status == 413
