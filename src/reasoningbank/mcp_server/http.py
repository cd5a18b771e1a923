"""The server over streamable HTTP: on this machine only, or with a bearer token; host, origin and size are checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from reasoningbank import __version__
from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.sdk import NAME, load
from reasoningbank.mcp_server.wire import UnreadableError, readable
from reasoningbank.serving import (
    LOOPBACK,
    PATIENCE,
    Asgi,
    Receive,
    Scope,
    Send,
    body_of,
    headers_of,
    host_of,
    is_served,
    replayed,
    same_secret,
    serve,
)

PATH, HEALTH = "/mcp", "/health"

# A lesson has 20,000 characters at the most; with its escapes and the rest of a request it stays far below.
LARGEST_BODY = 1_000_000

NOT_MINE = 421, "this host name is not served here: start the server with --allow-host NAME"
_WELL = json.dumps({"status": "ok", "server": NAME, "version": __version__})


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Who may come in to a server that listens on `host`. Pure decisions about one request's headers.

    Attributes:
        token: without one, no bearer token is asked for.
        names: host names that requests may ask for beside `host`, in lower case.
    """

    host: str
    token: str | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        reached = [name for name in (self.host, *self.names) if name not in LOOPBACK]
        if reached and not self.token:
            where = ", ".join(reached)
            raise InvalidInputError(
                f"serving on {where}, where others can reach it, needs a token: set REASONINGBANK_MCP_TOKEN"
            )

    def refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the status and the reason to refuse a request with these headers, by lower-case name; or None."""
        asked = host_of(f"//{headers.get('host', '')}")
        if not self.is_host(asked):
            return NOT_MINE
        origin = headers.get("origin")
        # A page of another site, in the browser of somebody who may reach this server.
        if origin is not None and host_of(origin) not in {asked, *(LOOPBACK if asked in LOOPBACK else ())}:
            return 403, "requests from this origin are refused"
        if not self._knows_the_token(headers.get("authorization", "")):
            return 401, "the bearer token is missing or wrong"
        return None

    def is_host(self, asked: str | None) -> bool:
        """Tell whether a request that asks for this host is meant for the server."""
        return is_served(asked, self.host, self.names)

    def _knows_the_token(self, authorization: str) -> bool:
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        return same_secret(given.strip(), self.token) and scheme.lower() == "bearer"


def http_app(server: Any, doorkeeper: Doorkeeper, *, patience: float = PATIENCE) -> Asgi:
    """Return the ASGI application of a server; `patience` is how many seconds a request's body may take."""
    manager = load("mcp.server.streamable_http_manager").StreamableHTTPSessionManager(
        app=server, stateless=True, json_response=True
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(manager, receive, send)
        elif scope["type"] == "http":
            await _request(manager, doorkeeper, patience, scope, receive, send)

    return app


async def _lifespan(manager: Any, receive: Receive, send: Send) -> None:
    await receive()
    async with manager.run():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _request(
    manager: Any, doorkeeper: Doorkeeper, patience: float, scope: Scope, receive: Receive, send: Send
) -> None:
    headers, path = headers_of(scope), scope["path"].rstrip("/")
    if path == HEALTH and scope["method"] in ("GET", "HEAD"):
        # Whoever looks after the server needs no token for that, and learns nothing else.
        well = doorkeeper.is_host(host_of(f"//{headers.get('host', '')}"))
        await _reply(send, *((200, _WELL, "application/json") if well else NOT_MINE))
    elif (refused := doorkeeper.refusal(headers)) is not None:
        await _reply(send, *refused)
    elif path != PATH:
        await _reply(send, 404, f"there is only {PATH} and {HEALTH} here")
    else:
        await _asked(manager, patience, scope, receive, send)


async def _asked(manager: Any, patience: float, scope: Scope, receive: Receive, send: Send) -> None:
    try:
        with anyio.fail_after(patience):
            body = await body_of(receive, LARGEST_BODY)
    except TimeoutError:
        await _reply(send, 408, f"the request did not come in whole within {patience:.0f} seconds")
        return
    if body is None:
        await _reply(send, 413, f"the request has more than {LARGEST_BODY:,} bytes")
        return
    try:
        asked = readable(body.decode("utf-8", "replace")).encode() if scope["method"] == "POST" else body
    except UnreadableError as error:
        await _reply(send, 400, error.answer, "application/json")
        return
    await manager.handle_request(scope, replayed(asked, receive), send)


async def _reply(send: Send, status: int, said: str, kind: str = "text/plain; charset=utf-8") -> None:
    body = said.encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve_http(
    server: Any, *, doorkeeper: Doorkeeper, port: int, ready: Callable[[str], None], log_level: str = "warning"
) -> None:
    """Serve over HTTP until interrupted.

    Args:
        port: 0 lets the system choose.
        ready: called with the server's address, once it accepts connections.

    Raises:
        InvalidInputError: the port is taken, or the host is none of this machine's.
    """
    serve(
        http_app(server, doorkeeper),
        host=doorkeeper.host,
        port=port,
        ready=lambda address: ready(f"{address}{PATH}"),
        needed_by=("the MCP server", "mcp"),
        log_level=log_level,
    )
