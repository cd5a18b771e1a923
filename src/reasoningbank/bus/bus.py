"""A bank on the bus, over a network: a thin loop around `Node`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self

from reasoningbank.bank import ReasoningBank
from reasoningbank.bus.frames import Frame
from reasoningbank.bus.identity import Identity
from reasoningbank.bus.node import Node, Options, Send
from reasoningbank.bus.quic import Connection, Endpoint
from reasoningbank.bus.store import BankStore
from reasoningbank.bus.trust import Peer
from reasoningbank.errors import BusError, BusProtocolError, InvalidInputError, ReasoningBankError
from reasoningbank.replication import OriginStatus, key_of

HEARD_SECONDS: Final = 5.0  # between two notes, for others, of how far this bank is behind
STILL_SECONDS: Final = 6.0  # without any progress, a sync is as far as it gets
log = logging.getLogger("reasoningbank.bus")


@dataclass(frozen=True, slots=True)
class BusStatus:
    """How a bank on the bus is doing.

    Attributes:
        address: where it listens, as host:port.
        peers: of each peer by name: "alive", "suspect" or "dead".
        origins: what is here of each origin.
        lag: by origin's name, how many changes peers have that are not here.
        refused: how often something was refused since the start, by reason; `last` in words, the latest last.
    """

    address: str
    peers: dict[str, str]
    origins: list[OriginStatus]
    lag: dict[str, int]
    refused: dict[str, int]
    last: list[str] = field(default_factory=list)


class Bus:
    """Exchanges lessons and evidence of a bank with its peers, as long as it is open.

        async with Bus(bank, Identity.load(path), peers, listen="127.0.0.1:4444") as bus:
            await bus.run()

    Args:
        bank: the bank.
        identity: its key: one for each project.
        peers: whom it trusts, with the addresses that are known.
        listen: host:port to listen at; port 0 lets the system choose.
        seeds: further addresses to dial; whoever answers there has to be one of the peers.
        options: how many are told of news, and how often.

    Raises:
        InvalidInputError: an address is none.
        BusError: it cannot listen there.
    """

    def __init__(
        self,
        bank: ReasoningBank,
        identity: Identity,
        peers: Iterable[Peer],
        *,
        listen: str = "127.0.0.1:0",
        seeds: Iterable[str] = (),
        options: Options | None = None,
    ) -> None:
        self.bank, self.identity = bank, identity
        self._listen, self._seeds = address_of(listen), [address_of(seed) for seed in seeds]
        self.node = Node(BankStore(bank, identity), identity, peers, now=_now(), options=options)
        self._heard: dict[str, int] = {}
        self._heard_at = 0.0
        self._one_at_a_time = asyncio.Lock()
        self._inbox: asyncio.Queue[tuple[Connection, Frame, bool]] = asyncio.Queue(self.node.options.inbox)
        self._connections: dict[str, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._dialling: set[tuple[str, int]] = set()
        self._endpoint: Endpoint | None = None
        self.address = ""

    async def __aenter__(self) -> Self:
        self._endpoint = Endpoint(
            self.identity,
            trusts=self.node.peers.__contains__,
            received=self._received,
            changed=self._changed,
            now=self.bank.now(),
            waiting_bytes=self.node.options.waiting_bytes,
        )
        host, port = await self._endpoint.listen(*self._listen)
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.node.listens_at(self.address)
        self._start(self._take_frames())
        self._start(self._keep_time())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._endpoint is not None:
            await self._endpoint.close()

    async def run(self) -> None:
        """Take part until cancelled."""
        await asyncio.Event().wait()

    async def status(self) -> BusStatus:
        """Say how it is doing."""
        async with self._one_at_a_time:
            origins = await asyncio.to_thread(self.bank.replication.status)
            return status_of(self.node, self.address, origins)

    async def sync(
        self, address: str, *, seconds: float = 300.0, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Exchange all with the peer at an address, once; return how many changes came.

        Args:
            address: host:port.
            seconds: the most that it may take.
            progress: called with (changes that are here, changes that are known of).

        Raises:
            BusError: nobody answers there, or who answers is not trusted.
        """
        connection = await self._dial(*address_of(address))
        kid = connection.kid or ""
        await asyncio.to_thread(self.node.store.capture)
        before = self.node.reconciling.taken
        until, still, last = time.monotonic() + seconds, 0.0, (0, 0)
        while time.monotonic() < until:
            if connection.reason:
                raise BusError(f"the connection to {address} was closed: {connection.reason}")
            if still % 1.0 < 0.1:
                await self._say(lambda: [self.node.digest_for(kid, _now())])
            await asyncio.sleep(0.1)
            have = await asyncio.to_thread(self.node.store.have)
            here, known, is_done = self.node.reconciling.compared(kid, have)
            still = 0.0 if (here, known) != last else still + 0.1
            last = here, known
            if progress is not None:
                progress(here, known)
            if is_done or still > STILL_SECONDS:
                break
        return self.node.reconciling.taken - before

    # -- the loop --------------------------------------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _say(self, ask: Callable[[], list[Send]]) -> None:
        """Ask the node in a thread, one question at a time, and send what it says."""
        async with self._one_at_a_time:
            try:
                sends = await asyncio.to_thread(ask)
            except BusProtocolError:
                raise
            except ReasoningBankError as error:
                # A disk that is full today may have room tomorrow: what was missed is asked for again.
                log.warning("the bus goes on without what failed: %s", error)
                return
        for send in sends:
            connection = self._connections.get(send.kid)
            if connection is not None:
                connection.send(send.role, send.data)

    async def _keep_time(self) -> None:
        while True:
            await self._say(lambda: self.node.tick(_now()))
            await self._note_heard()
            self._dial_all()
            await asyncio.sleep(self.node.options.period_ms / 4000)

    async def _note_heard(self) -> None:
        newest, now = self.node.reconciling.known_of(), time.monotonic()
        if newest != self._heard and now - self._heard_at > HEARD_SECONDS:
            self._heard, self._heard_at = newest, now
            await self._say(partial(self._heard_of, newest))

    def _heard_of(self, newest: dict[str, int]) -> list[Send]:
        self.bank.replication.heard(newest)
        return []

    async def _take_frames(self) -> None:
        while True:
            connection, frame, early = await self._inbox.get()
            try:
                await self._say(partial(self._handled, frame, early))
            except BusProtocolError as error:
                connection.end(0x101, str(error))

    def _handled(self, frame: Frame, early: bool) -> list[Send]:
        return self.node.handle(frame, _now(), early=early)

    def _received(self, connection: Connection, frame: Frame, early: bool) -> bool:
        try:
            self._inbox.put_nowait((connection, frame, early))
        except asyncio.QueueFull:
            return False
        return True

    def _changed(self, connection: Connection, is_open: bool) -> None:
        kid = connection.kid
        if kid is None:
            return
        if is_open:
            self._connections[kid] = connection
            self._start(self._say(lambda: [self.node.greet(kid, _now())]))
        elif self._connections.get(kid) is connection:
            del self._connections[kid]

    def _dial_all(self) -> None:
        known = [(address_of(address), kid) for kid, address in self.node.members.addresses().items()]
        wanted: list[tuple[tuple[str, int], str | None]] = [each for each in known if each[1] not in self._connections]
        if len(self._connections) < len(self._seeds):
            wanted += [(seed, None) for seed in self._seeds if seed not in {at for at, _ in known}]
        for at, kid in wanted:
            if at not in self._dialling:
                self._start(self._try(at, kid))

    async def _try(self, at: tuple[str, int], kid: str | None) -> None:
        self._dialling.add(at)
        try:
            with suppress(BusError):
                await self._dial(*at, kid=kid)
                return
            # Who does not answer is not asked again at once.
            await asyncio.sleep(self.node.options.period_ms / 1000)
        finally:
            self._dialling.discard(at)

    async def _dial(self, host: str, port: int, kid: str | None = None) -> Connection:
        if self._endpoint is None:
            raise BusError("this bus is not open: use it as `async with Bus(…) as bus`")
        return await self._endpoint.dial(host, port, kid)


def status_of(node: Node, address: str, origins: list[OriginStatus]) -> BusStatus:
    """Return how a node is doing."""
    newest = Counter[str]()
    for origin, number in node.reconciling.known_of().items():
        newest[key_of(origin)] += number
    here = {each.origin: each.have for each in origins}
    lag = {peer.name: newest[key] - here.get(key, 0) for key, peer in node.peers.items()}
    return BusStatus(
        address,
        {name: health.value for name, health in node.health().items()},
        origins,
        {name: many for name, many in lag.items() if many > 0},
        dict(node.refusals.counts),
        [f"{reason}: {message}" for reason, message in node.refusals.last],
    )


def address_of(text: str) -> tuple[str, int]:
    """Read host:port, or [host]:port; InvalidInputError when it is neither."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise InvalidInputError(f"{text!r:.100} is no address: give host:port, such as 127.0.0.1:4444")
    return host.strip("[]"), int(port)


def _now() -> int:
    return int(time.time() * 1000)
