"""The server over streamable HTTP: on this machine only, or with a bearer token; host, origin and size are checked."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.sdk import load

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")

# A lesson has 20,000 characters at the most; with its escapes and the rest of a request it stays far below.
LARGEST_BODY = 1_000_000

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Who may come in to a server that listens on `host`. Pure decisions about one request's headers.

    Without a `token`, no bearer token is asked for.
    """

    host: str
    token: str | None = None

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            raise InvalidInputError(
                f"serving on {self.host}, where others can reach it, needs a token: set REASONINGBANK_MCP_TOKEN"
            )

    def refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the status and the reason to refuse a request with these headers, by lower-case name; or None."""
        asked = _host_of(f"//{headers.get('host', '')}")
        if not self._is_mine(asked):
            return 421, "this host name is not served here"
        origin = headers.get("origin")
        # A page of another site, in the browser of somebody who may reach this server.
        if origin is not None and _host_of(origin) not in {asked, *(LOOPBACK if asked in LOOPBACK else ())}:
            return 403, "requests from this origin are refused"
        if not self._knows_the_token(headers.get("authorization", "")):
            return 401, "the bearer token is missing or wrong"
        return None

    def _is_mine(self, asked: str | None) -> bool:
        if asked is None:
            return False
        if asked in LOOPBACK or asked == self.host:
            return True
        # A name could be one that somebody else made point here; a number cannot.
        return self.host in {"0.0.0.0", "::"} and _is_address(asked)  # noqa: S104 - compared, not bound

    def _knows_the_token(self, authorization: str) -> bool:
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        # Digests have one length, so the time tells nothing about the token's.
        same = hmac.compare_digest(_digest(given.strip()), _digest(self.token))
        return same and scheme.lower() == "bearer"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def http_app(server: Any, doorkeeper: Doorkeeper) -> Asgi:
    """Return the ASGI application of a server."""
    manager = load("mcp.server.streamable_http_manager").StreamableHTTPSessionManager(
        app=server, stateless=True, json_response=True
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(manager, receive, send)
        elif scope["type"] == "http":
            await _request(manager, doorkeeper, scope, receive, send)

    return app


async def _lifespan(manager: Any, receive: Receive, send: Send) -> None:
    await receive()
    async with manager.run():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _request(manager: Any, doorkeeper: Doorkeeper, scope: Scope, receive: Receive, send: Send) -> None:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    refused = doorkeeper.refusal(headers)
    if refused is None and scope["path"].rstrip("/") != PATH:
        refused = 404, f"there is only {PATH} here"
    if refused is not None:
        await _refuse(send, *refused)
        return
    body = await _body(receive)
    if body is None:
        await _refuse(send, 413, f"the request has more than {LARGEST_BODY:,} bytes")
        return
    await manager.handle_request(scope, _replayed(body, receive), send)


async def _body(receive: Receive) -> bytes | None:
    """Return a request's body; None when it is too large, whatever its headers say."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        return next(messages, None) or await receive()

    return next_message


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve_http(
    server: Any, *, host: str, port: int, token: str | None, ready: Callable[[str], None], log_level: str = "warning"
) -> None:
    """Serve over HTTP until interrupted.

    Args:
        port: 0 lets the system choose.
        token: the bearer token that every request must carry; needed on any host but this machine's own.
        ready: called with the server's address, once it accepts connections.

    Raises:
        InvalidInputError: another host than this machine's own, and no token; or the port is taken, or the host is
            none of this machine's.
    """
    import socket

    uvicorn = load("uvicorn")
    app = http_app(server, Doorkeeper(host, token))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen()
        except OSError as error:
            raise InvalidInputError(
                f"{host} port {port} cannot be listened on ({error.strerror or error}): give another --port or --host"
            ) from None
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        config = uvicorn.Config(app, log_config=None, access_log=False, log_level=log_level, lifespan="on")
        uvicorn.Server(config).run(sockets=[listening])
