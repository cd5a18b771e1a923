"""The ASGI application by itself, without a socket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasoningbank.mcp_server import Offer, build_server
from reasoningbank.mcp_server.http import LARGEST_BODY, PATH, Doorkeeper, http_app, serve_http

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


async def asked(offer: Offer, *chunks: bytes, path: str = PATH, token: str | None = None, **headers: str) -> Exchange:
    app = http_app(build_server(offer), Doorkeeper("127.0.0.1", token))
    lifespan = Exchange({"type": "lifespan.startup"})
    exchange = Exchange(
        *({"type": "http.request", "body": chunk, "more_body": n + 1 < len(chunks)} for n, chunk in enumerate(chunks))
    )
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in (HEADERS | headers).items()],
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

    exchange = await asked(offer, BODY, path=path, token=token, **headers)

    assert exchange.status == status
    assert b"memory_search" not in exchange.body
    assert (b"www-authenticate", b"Bearer") in exchange.sent[0]["headers"] or status != 401


async def test_a_body_is_counted_as_it_comes(offer: Offer) -> None:
    exchange = await asked(offer, *[b"x" * (LARGEST_BODY // 2)] * 3)

    assert exchange.status == 413


def test_another_host_without_a_token_is_refused_before_a_socket_is_opened(offer: Offer) -> None:
    with pytest.raises(ValueError, match="REASONINGBANK_MCP_TOKEN"):
        serve_http(build_server(offer), host="0.0.0.0", port=0, token=None, ready=lambda _address: None)
