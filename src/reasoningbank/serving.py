"""What the servers share: whose requests they take, and how they listen."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from reasoningbank.errors import InvalidInputError, MissingExtraError

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


# -- whose requests ------------------------------------------------------------------------------------------------


def host_of(address: str) -> str | None:
    """Return the host that an address names; None when it names none."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def is_served(asked: str | None, listens_on: str) -> bool:
    """Tell whether a request that asks for this host is meant for the server that listens there."""
    if asked is None:
        return False
    if asked in LOOPBACK or asked == listens_on:
        return True
    # A name could be one that somebody else made point here; a number cannot.
    return listens_on in {"0.0.0.0", "::"} and _is_address(asked)  # noqa: S104 - compared, not bound


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def same_secret(given: str, secret: str) -> bool:
    """Tell whether two texts are the same, in a time that says nothing of either."""
    return hmac.compare_digest(_digest(given), _digest(secret))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def headers_of(scope: Scope) -> dict[str, str]:
    """Return a request's headers by lower-case name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


async def body_of(receive: Receive, largest: int) -> bytes | None:
    """Return a request's body; None when it has more than `largest` bytes, whatever its headers say."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > largest:
            return None
        if not message.get("more_body"):
            return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, and then what comes."""
    messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        return next(messages, None) or await receive()

    return next_message


# -- how they listen -----------------------------------------------------------------------------------------------


def serve(
    app: Asgi,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
    needed_by: tuple[str, str],
    log_level: str = "warning",
) -> None:
    """Serve an application over HTTP until interrupted.

    Args:
        port: 0 lets the system choose.
        ready: called with the server's address, such as http://127.0.0.1:8765, once it accepts connections.
        needed_by: what needs the web server, in words, and the extra that brings it.

    Raises:
        MissingExtraError: there is no web server.
        InvalidInputError: the port is taken, or the host is none of this machine's.
    """
    try:
        uvicorn = importlib.import_module("uvicorn")
    except ModuleNotFoundError as error:
        raise MissingExtraError(*needed_by) from error
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
        ready(f"http://{shown}:{listening.getsockname()[1]}")
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            log_level=log_level,
            lifespan="on",
            server_header=False,
            # A page that listens to what happens must not keep the server from ending.
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run(sockets=[listening])
