"""What the servers share: whose requests they take, and how they listen."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from reasoningbank.errors import InvalidInputError, MissingExtraError

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound

# Seconds for a request to come in whole, once something of it came or the connection was made.
PATIENCE: Final = 20.0

_NAME: Final = re.compile(r"[\w-]+(\.[\w-]+)*")

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


def is_served(asked: str | None, listens_on: str, names: Sequence[str] = ()) -> bool:
    """Tell whether a request that asks for this host is meant for the server that listens there.

    Args:
        names: further names of this server, in lower case: a proxy's in front of it, or the machine's own.
    """
    if asked is None:
        return False
    if asked in LOOPBACK or asked in (listens_on, *names):
        return True
    # A name could be one that somebody else made point here; a number cannot.
    return listens_on in EVERYWHERE and _is_address(asked)


def host_names(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of hosts as requests will ask for them; InvalidInputError for what is none."""
    names = tuple(name.strip().lower().removeprefix("[").removesuffix("]") for name in given)
    for name, host in zip(given, names, strict=True):
        if not (_NAME.fullmatch(host) or _is_address(host)):
            raise InvalidInputError(f"{name!r} is no host name: give it without a scheme, a port or a path")
    return names


def asked_for(listens_on: str, names: Sequence[str]) -> str:
    """Return a sentence about the hosts that requests may ask for; "" for a server of this machine alone."""
    if listens_on in LOOPBACK and not names:
        return ""
    numbers = "any address of this machine" if listens_on in EVERYWHERE else listens_on
    return f"Requests may ask for {', '.join([numbers, *names])}; for a name that others use: --allow-host NAME."


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
        uvicorn.Server(configuration(app, log_level=log_level)).run(sockets=[listening])


def configuration(app: Asgi, *, patience: float = PATIENCE, log_level: str = "warning") -> Any:
    """Return uvicorn's configuration for an application: a connection on which no whole request comes is closed.

    Args:
        patience: seconds from the connection, or from the first byte of a later request, to the end of its headers.
    """
    protocol = importlib.import_module("uvicorn.protocols.http.auto").AutoHTTPProtocol
    return importlib.import_module("uvicorn").Config(
        app,
        http=_patient(protocol, patience),
        log_config=None,
        access_log=False,
        log_level=log_level,
        lifespan="on",
        server_header=False,
        # A page that listens to what happens must not keep the server from ending.
        timeout_graceful_shutdown=2,
    )


def _patient(protocol: Any, patience: float) -> Any:
    """Return uvicorn's protocol with a limit to how long it waits for headers, which it has not itself."""

    class Patient(protocol):  # type: ignore[misc]
        waiting: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.waiting = self.loop.call_later(patience, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if is_answering and self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None
            elif not is_answering and self.waiting is None:
                self.waiting = self.loop.call_later(patience, self.transport.close)

        def connection_lost(self, error: Exception | None) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
            super().connection_lost(error)

    return Patient
