# ruff: noqa: SLF001 - it measures what is inside
"""Connections of the bus beside TCP with TLS 1.3, and its streams beside a bare echo of the same QUIC library."""

from __future__ import annotations

import asyncio
import ssl
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aioquic.asyncio.client import connect as quic_connect
from aioquic.asyncio.server import serve as quic_serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from reasoningbank.bus.frames import Frame, FrameType, Header, StreamRole, encode
from reasoningbank.bus.identity import Identity
from reasoningbank.bus.quic import Connection, Endpoint

BERLIN, LIMA = (Identity.of_seed(bytes([n]) * 32, name) for n, name in enumerate(("berlin", "lima"), 1))
MEGABYTE = 1_000_000
PAYLOAD = 500_000


def endpoint(identity: Identity, now: datetime, received: Callable[[Connection, Frame, bool], bool]) -> Endpoint:
    """Return an endpoint that lets the other in."""
    return Endpoint(
        identity,
        trusts=lambda kid: kid in (BERLIN.kid, LIMA.kid),
        received=received,
        changed=lambda _connection, _is_open: None,
        now=now,
        waiting_bytes=100 * MEGABYTE,
    )


@asynccontextmanager
async def pair(
    now: datetime, received: Callable[[Connection, Frame, bool], bool]
) -> AsyncIterator[tuple[Endpoint, tuple[str, int]]]:
    """Give an endpoint that dials, and where another listens that does this with what it gets."""
    server, client = endpoint(BERLIN, now, received), endpoint(LIMA, now, received)
    try:
        yield client, await server.listen("127.0.0.1", 0)
    finally:
        await client.close()
        await server.close()


async def connect(times: int, now: datetime) -> dict[str, float]:
    """Return the median milliseconds until a frame was answered, by how the connection was made; they take turns."""
    first = encode(Frame(FrameType.TELEMETRY, Header("ping", 0, "n")))
    found: dict[str, list[float]] = {"quic_0rtt_ms": [], "quic_1rtt_ms": [], "tcp_tls_ms": []}
    answered = asyncio.Event()

    def received(connection: Connection, _frame: Frame, _early: bool) -> bool:
        if connection._quic._is_client:
            answered.set()
        else:
            connection.send(StreamRole.TELEMETRY, first)
        return True

    async with pair(now, received) as (client, (host, port)), tcp(now) as (tcp_port, context):
        for _ in range(times):
            for name in ("quic_1rtt_ms", "quic_0rtt_ms"):
                if name == "quic_1rtt_ms":
                    client._kept.clear()
                answered.clear()
                begun = time.perf_counter()
                connection = await _dialled(client, host, port, first)
                await asyncio.wait_for(answered.wait(), 10)
                found[name].append(time.perf_counter() - begun)
                await asyncio.sleep(0.05)
                await client._hang_up(connection)
            begun = time.perf_counter()
            reader, writer = await asyncio.open_connection("127.0.0.1", tcp_port, ssl=context)
            writer.write(first)
            await reader.readexactly(len(first))
            found["tcp_tls_ms"].append(time.perf_counter() - begun)
            writer.close()
    return {name: statistics.median(values) * 1000 for name, values in found.items()}


async def _dialled(client: Endpoint, host: str, port: int, first: bytes) -> Connection:
    # What may be said early is said when the connection opens: as soon as the peer is known.
    def say_it(connection: Connection, is_open: bool) -> None:
        if is_open:
            connection.send(StreamRole.TELEMETRY, first)

    client._changed = say_it
    return await client.dial(host, port, BERLIN.kid)


@asynccontextmanager
async def tcp(now: datetime) -> AsyncIterator[tuple[int, ssl.SSLContext]]:
    """Give the port of an echo over TCP with TLS 1.3 that asks for a certificate, and how to get in."""
    with TemporaryDirectory() as folder:
        paths = []
        for identity in (BERLIN, LIMA):
            certificate, key = identity.certificate(now)
            path = Path(folder) / f"{identity.name}.pem"
            private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            path.write_bytes(private + certificate.public_bytes(Encoding.PEM))
            paths.append(path)
        contexts = []
        sides = (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)
        for side, own, other in zip(sides, paths, paths[::-1], strict=True):
            context = ssl.SSLContext(side)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.check_hostname = False
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_cert_chain(own)
            context.load_verify_locations(other)
            contexts.append(context)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=contexts[0])
    try:
        yield server.sockets[0].getsockname()[1], contexts[1]
    finally:
        server.close()


async def stream_ratio(megabytes: int, now: datetime) -> float:
    """Return the bus's throughput in frames through one stream beside that of a bare stream, one way each."""
    ours, bare = [], []
    for _ in range(3):
        bare.append(await _bare(megabytes, now))
        ours.append(await _framed(megabytes, now))
    return statistics.median(bare) / statistics.median(ours)


async def _framed(megabytes: int, now: datetime) -> float:
    many = megabytes * MEGABYTE // PAYLOAD
    frame = encode(Frame(FrameType.TELEMETRY, Header("ping", 0, "n"), bytes(PAYLOAD)))
    got, done = list[int](), asyncio.Event()

    def received(_connection: Connection, one: Frame, _early: bool) -> bool:
        got.append(len(one.payload))
        if len(got) == many:
            done.set()
        return True

    async with pair(now, received) as (client, where):
        connection = await client.dial(*where, BERLIN.kid)
        begun = time.perf_counter()
        for _ in range(many):
            connection.send(StreamRole.SNAPSHOT, frame)
        await asyncio.wait_for(done.wait(), 120)
        return time.perf_counter() - begun


async def _bare(megabytes: int, now: datetime) -> float:
    certificate, key = BERLIN.certificate(now)
    done = asyncio.Event()

    def sink(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        async def swallow() -> None:
            got = 0
            while data := await reader.read(1 << 16):
                got += len(data)
                if got >= megabytes * MEGABYTE:
                    done.set()

        tasks.append(asyncio.ensure_future(swallow()))

    tasks: list[asyncio.Future[None]] = []
    common: dict[str, Any] = {"alpn_protocols": ["bare"], "max_datagram_size": 1_280}
    listening = QuicConfiguration(is_client=False, certificate=certificate, private_key=key, **common)
    server = await quic_serve("127.0.0.1", 0, configuration=listening, stream_handler=sink)
    assert server._transport is not None
    port = server._transport.get_extra_info("sockname")[1]
    dialling = QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE, **common)
    async with quic_connect("127.0.0.1", port, configuration=dialling) as protocol:
        _, writer = await protocol.create_stream()
        begun = time.perf_counter()
        for _ in range(megabytes * MEGABYTE // PAYLOAD):
            writer.write(bytes(PAYLOAD))
        await asyncio.wait_for(done.wait(), 120)
        took = time.perf_counter() - begun
    server.close()
    for task in tasks:
        task.cancel()
    return took


async def stalled(now: datetime) -> float:
    """Return how long a frame takes, in milliseconds, while a frame of another stream stays half-sent."""
    seen: dict[str, float] = {}

    def received(_connection: Connection, frame: Frame, _early: bool) -> bool:
        seen[frame.header.nonce] = time.perf_counter()
        return True

    async with pair(now, received) as (client, where):
        connection = await client.dial(*where, BERLIN.kid)
        half = encode(Frame(FrameType.TELEMETRY, Header("ping", 0, "stalled"), bytes(PAYLOAD)))
        connection.send(StreamRole.SNAPSHOT, half[: len(half) // 2])
        begun = time.perf_counter()
        connection.send(StreamRole.GOSSIP, encode(Frame(FrameType.GOSSIP, Header("digest", 0, "other"))))
        async with asyncio.timeout(10):
            while "other" not in seen:  # noqa: ASYNC110 - what it waits for is told to a callback
                await asyncio.sleep(0.001)
        assert "stalled" not in seen
        return (seen["other"] - begun) * 1000
