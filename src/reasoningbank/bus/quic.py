"""QUIC with both sides known by their keys: the only module that knows aioquic.

A connection belongs to the key in the certificate that its peer proved to own. Each side opens one stream for each
role it speaks in: a byte with the role's number, then frames. Streams do not wait for one another.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, Final

from reasoningbank.bus.frames import Decoder, Frame, StreamRole
from reasoningbank.bus.identity import Identity, key_of
from reasoningbank.errors import BusError, BusProtocolError, MissingExtraError

try:
    from aioquic.asyncio.client import connect as _connect
    from aioquic.asyncio.protocol import QuicConnectionProtocol
    from aioquic.asyncio.server import QuicServer
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.connection import QuicConnection
    from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, QuicEvent, StreamDataReceived
    from aioquic.tls import SessionTicket
except ImportError:
    raise MissingExtraError("the neural bus", "bus") from None

ALPN: Final = "reasoningbank/2"
STREAMS_LIMIT: Final = 10  # of one role on one connection, as published
TICKETS_KEPT: Final = 1_000
IDLE_SECONDS: Final = 60.0
BROKEN, UNKNOWN, BUSY = 0x101, 0x102, 0x103

Received = Callable[["Connection", Frame, bool], bool]
"""What is done with a frame, and whether it came before the handshake was done; False when there is no room for it."""


class Connection(QuicConnectionProtocol):
    """A connection to one peer.

    Attributes:
        kid: the peer's key, as soon as it proved that it owns it.
        reason: why it was closed.
        is_open: the handshake is done.
        decided: set as soon as the handshake is done, or has failed.
    """

    def __init__(self, quic: QuicConnection, stream_handler: Any = None, *, endpoint: Endpoint) -> None:
        super().__init__(quic, stream_handler)
        self._endpoint = endpoint
        self.kid: str | None = None
        self.reason = ""
        self.is_open = False
        self.decided = asyncio.Event()
        self._roles: dict[int, StreamRole] = {}
        self._decoders: dict[int, Decoder] = {}
        self._out: dict[StreamRole, int] = {}
        self._waiting: dict[StreamRole, deque[bytes]] = {}

    # -- in --------------------------------------------------------------------------------------------------------

    def quic_event_received(self, event: QuicEvent) -> None:
        """Take what aioquic tells."""
        match event:
            case HandshakeCompleted():
                self.is_open = True
                self.decided.set()
                self.kid = self._endpoint.whose(self._quic)
                if self.kid is None:
                    self.end(UNKNOWN, "no certificate of a trusted key")
                else:
                    self._endpoint.opened(self)
            case StreamDataReceived(stream_id=stream, data=data):
                self._data_received(stream, data)
            case ConnectionTerminated(reason_phrase=reason):
                self.reason = self.reason or reason
                self.decided.set()
                self._endpoint.closed(self)
            case _:
                pass

    def _data_received(self, stream: int, data: bytes) -> None:
        if self.reason:
            return
        try:
            if stream not in self._roles:
                if not data:
                    return
                self._begin(stream, data[0])
                data = data[1:]
            frames = self._decoders[stream].feed(data)
        except BusProtocolError as error:
            self.end(BROKEN, str(error))
            return
        for frame in frames:
            if not self._endpoint.received(self, frame, not self.is_open):
                self.end(BUSY, "more came at once than this bank takes")
                return

    def _begin(self, stream: int, number: int) -> None:
        try:
            role = StreamRole(number)
        except ValueError:
            raise BusProtocolError(f"there is no stream role {number}") from None
        if list(self._roles.values()).count(role) >= STREAMS_LIMIT:
            raise BusProtocolError(f"{STREAMS_LIMIT} streams of the role {role.name.lower()} are open already")
        self._roles[stream], self._decoders[stream] = role, Decoder()

    # -- out -------------------------------------------------------------------------------------------------------

    def send(self, role: StreamRole, data: bytes) -> bool:
        """Send a frame as soon as the role's stream has room; False when too much waits for that already."""
        waiting = self._waiting.setdefault(role, deque())
        if sum(map(len, waiting)) + len(data) > self._endpoint.waiting_bytes or self.reason:
            return False
        waiting.append(data)
        self._flush()
        self.transmit()
        return True

    def datagram_received(self, data: bytes | str, addr: Any) -> None:
        """Take a datagram; what it acknowledges makes room for more."""
        super().datagram_received(data, addr)
        self._flush()
        self.transmit()

    def _flush(self) -> None:
        for role, waiting in self._waiting.items():
            while waiting and not self.reason and self._has_room(role):
                stream = self._out.get(role)
                if stream is None:
                    stream = self._out[role] = self._quic.get_next_available_stream_id(is_unidirectional=True)
                    self._quic.send_stream_data(stream, bytes([role]))
                self._quic.send_stream_data(stream, waiting.popleft())

    def _has_room(self, role: StreamRole) -> bool:
        stream = self._out.get(role)
        # aioquic holds whatever it is given: without this, a peer that does not read would fill the memory.
        streams = self._quic._streams  # noqa: SLF001 - there is no public way to ask
        return stream is None or stream not in streams or streams[stream].sender.buffer_is_empty

    def end(self, code: int, reason: str) -> None:
        """Close the connection with a reason that the peer is told."""
        self.reason = reason
        with suppress(Exception):  # it may be closed already
            self.close(code, reason[:200])
        self._endpoint.closed(self)


class Endpoint:
    """Where one bank listens and dials.

    Args:
        identity: its key.
        trusts: tells whether a key may connect.
        received: is given every frame.
        changed: is told of each connection that is open or closed now.
        now: the present time, for the certificate.
        waiting_bytes: what may wait to be sent to one peer in one role.
    """

    def __init__(
        self,
        identity: Identity,
        *,
        trusts: Callable[[str], bool],
        received: Received,
        changed: Callable[[Connection, bool], None],
        now: datetime,
        waiting_bytes: int,
    ) -> None:
        self._certificate, self._key = identity.certificate(now)
        self._trusts, self.received, self._changed = trusts, received, changed
        self.waiting_bytes = waiting_bytes
        self._server: QuicServer | None = None
        self._transport: asyncio.DatagramTransport | None = None
        # A ticket opens one connection: whoever repeats its first datagrams is not let in early.
        self._tickets: OrderedDict[bytes, tuple[SessionTicket, str]] = OrderedDict()
        self._resumed: dict[int, str] = {}
        self._kept: dict[str, tuple[SessionTicket, str]] = {}
        self._dialled: dict[Connection, Any] = {}

    def _configuration(self, *, is_client: bool) -> QuicConfiguration:
        return QuicConfiguration(
            alpn_protocols=[ALPN],
            is_client=is_client,
            certificate=self._certificate,
            private_key=self._key,
            # Authorities say nothing about who a bank is: the key in the certificate does, and `whose` looks at it.
            verify_mode=ssl.CERT_NONE,
            idle_timeout=IDLE_SECONDS,
            max_datagram_size=1_280,
        )

    # -- listening -------------------------------------------------------------------------------------------------

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        """Listen, and return where; BusError when that is not possible."""
        loop = asyncio.get_running_loop()
        try:
            transport, self._server = await loop.create_datagram_endpoint(
                lambda: QuicServer(configuration=self._configuration(is_client=False), create_protocol=self._accept),
                local_addr=(host, port),
            )
        except OSError as error:
            raise BusError(f"{host}:{port} cannot be listened at: {error.strerror or error}") from None
        self._transport = transport
        where = transport.get_extra_info("sockname")
        return str(where[0]), int(where[1])

    def _accept(self, quic: QuicConnection, stream_handler: Any = None) -> Connection:
        initialize = quic._initialize  # noqa: SLF001 - aioquic asks clients for certificates only when told so here

        def asking(peer_cid: bytes) -> None:
            initialize(peer_cid)
            quic.tls._request_client_certificate = True  # noqa: SLF001

        quic._initialize = asking  # type: ignore[method-assign]  # noqa: SLF001
        quic._session_ticket_fetcher = partial(self._fetch, quic)  # noqa: SLF001
        quic._session_ticket_handler = partial(self._issue, quic)  # noqa: SLF001
        return Connection(quic, stream_handler, endpoint=self)

    def _fetch(self, quic: QuicConnection, label: bytes) -> SessionTicket | None:
        ticket, kid = self._tickets.pop(label, (None, ""))
        if ticket is None or not self._trusts(kid):
            return None
        # Who resumes has proven who it is, and sends no certificate again.
        quic.tls._request_client_certificate = False  # noqa: SLF001
        self._resumed[id(quic)] = kid
        return ticket

    def _issue(self, quic: QuicConnection, ticket: SessionTicket) -> None:
        kid = self.whose(quic)
        if kid is not None:
            self._tickets[ticket.ticket] = ticket, kid
            while len(self._tickets) > TICKETS_KEPT:
                self._tickets.popitem(last=False)

    def whose(self, quic: QuicConnection) -> str | None:
        """Return the key whose owner is at the other end; None when it is not trusted, or proved nothing."""
        certificate = quic.tls._peer_certificate  # noqa: SLF001 - there is no public way to see it
        if certificate is not None:
            kid = key_of(certificate)
        elif quic.tls.session_resumed:
            kid = self._resumed.get(id(quic))
        else:
            kid = None
        return kid if kid is not None and self._trusts(kid) else None

    # -- dialling --------------------------------------------------------------------------------------------------

    async def dial(self, host: str, port: int, kid: str | None = None, *, seconds: float = 5.0) -> Connection:
        """Connect, and return the connection; it belongs to `kid`, or to any trusted key.

        BusError when nobody answers, or who answers is another.
        """
        where = f"{host}:{port}"
        configuration = self._configuration(is_client=True)
        ticket, known = self._kept.pop(where, (None, ""))
        resumes = ticket is not None and kid in (None, known) and self._trusts(known)
        configuration.session_ticket = ticket if resumes else None
        manager = _connect(
            host,
            port,
            configuration=configuration,
            create_protocol=partial(Connection, endpoint=self),
            session_ticket_handler=lambda ticket: self._keep(where, ticket, connection),
            wait_connected=False,
        )
        connection: Connection = await manager.__aenter__()  # type: ignore[assignment]
        self._dialled[connection] = manager
        if resumes:
            # Whoever holds the ticket's secret is who it was: what a replay cannot harm may be said at once.
            self._resumed[id(connection._quic)] = connection.kid = known  # noqa: SLF001
            self.opened(connection)
        connection.transmit()
        with suppress(TimeoutError):
            await asyncio.wait_for(connection.decided.wait(), seconds)
        if not connection.is_open:
            await self._hang_up(connection)
            raise BusError(f"nobody at {where} answers: {connection.reason or 'no word'}")
        if connection.kid is None or (kid is not None and connection.kid != kid):
            await self._hang_up(connection)
            raise BusError(f"who answers at {where} is not the peer that was meant, or is not trusted here")
        return connection

    def _keep(self, where: str, ticket: SessionTicket, connection: Connection) -> None:
        if connection.kid is not None:
            self._kept[where] = ticket, connection.kid

    async def _hang_up(self, connection: Connection) -> None:
        manager = self._dialled.pop(connection, None)
        if manager is not None:
            connection.close()
            with suppress(Exception):  # whatever it says, it is over
                await asyncio.wait_for(manager.__aexit__(None, None, None), 1.0)

    # -- what connections tell -------------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Note a connection whose peer is known."""
        self._changed(connection, True)

    def closed(self, connection: Connection) -> None:
        """Note that a connection is over."""
        self._resumed.pop(id(connection._quic), None)  # noqa: SLF001
        self._changed(connection, False)

    async def close(self) -> None:
        """Close every connection, and listen no more."""
        for connection in list(self._dialled):
            await self._hang_up(connection)
        if self._server is not None:
            self._server.close()
            await asyncio.sleep(0)
