"""Processes that are killed, and a network that loses and reorders datagrams."""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.bus import Bus, Options, Peer
from reasoningbank.bus.bus import address_of
from tests.bus.serving import LISTENS, identity, listed, opened
from tools.domain import ROOT


def free_ports(many: int) -> list[int]:
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(many)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Servers:
    """Three processes, each with its bank."""

    def __init__(self, root: Path, lessons: int, signals: int) -> None:
        self.root, self._ports = root, free_ports(3)
        self._work = [str(lessons), str(signals)]
        self.running = [self.start(n) for n in range(3)]

    def start(self, number: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.bus.serving", str(self.root), str(number)]
        command += [",".join(map(str, self._ports)), *self._work]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == LISTENS
        return process

    def kill(self, number: int) -> None:
        self.running[number].send_signal(signal.SIGKILL)
        self.running[number].wait(20)
        self.close_pipe(number)

    def close_pipe(self, number: int) -> None:
        pipe = self.running[number].stdout
        assert pipe is not None
        pipe.close()

    def stop(self) -> None:
        for number, process in enumerate(self.running):
            process.kill()
            process.wait(20)
            self.close_pipe(number)

    def held(self, number: int) -> dict[str, Any]:
        with opened(self.root, number) as bank:
            return {memory.id: (memory.content, round(memory.confidence, 9)) for memory in listed(bank)}

    def written(self, number: int) -> int:
        """Return how many lessons this process wrote itself."""
        with opened(self.root, number) as bank:
            return sum(memory.id.startswith(f"{number}-") for memory in listed(bank))


def converge(root: Path, lessons: int, signals: int, seconds: float) -> None:
    servers = Servers(root, lessons, signals)
    try:
        until = time.monotonic() + seconds
        for number in range(3):
            # One after the other in the midst of its writing: after a quarter of it, a half and three quarters.
            while servers.written(number) < lessons * (number + 1) // 4:
                assert time.monotonic() < until, f"process {number} does not get on"
                time.sleep(0.05)
            servers.kill(number)
            servers.running[number] = servers.start(number)
        while True:
            held = [servers.held(number) for number in range(3)]
            if len(held[0]) == 3 * lessons and held[0] == held[1] == held[2] and settled(servers, held, signals):
                return
            assert time.monotonic() < until, [len(each) for each in held]
            time.sleep(0.5)
    finally:
        servers.stop()


def settled(servers: Servers, held: list[dict[str, Any]], signals: int) -> bool:
    """Tell whether every signal is there, once, on every machine."""
    for number in range(3):
        with opened(servers.root, number) as bank:
            for memory in held[0]:
                votes = [piece for piece in bank.evidence(memory).pieces if piece.kind == "explicit"]
                if sum(piece.positive + piece.negative for piece in votes) != signals:
                    return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_three_processes_that_are_killed_in_turn_hold_the_same(tmp_path: Path) -> None:
    converge(tmp_path, lessons=5, signals=3, seconds=60)


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_three_processes_with_2000_lessons_and_20000_signals_hold_the_same(tmp_path: Path) -> None:
    converge(tmp_path, lessons=667, signals=10, seconds=3_000)


# -- a bad network -------------------------------------------------------------------------------------------------


class Proxy(asyncio.DatagramProtocol):
    """Passes datagrams on, but for some; and some of them late, behind others."""

    def __init__(self, target: tuple[str, int], seed: int) -> None:
        self._target, self._rng = target, random.Random(seed)
        self._clients: dict[Any, asyncio.DatagramTransport] = {}
        self._transport: asyncio.DatagramTransport | None = None
        self.dropped = 0
        self._tasks: set[asyncio.Future[None]] = set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._spawn(self._forward(data, addr))

    async def _forward(self, data: bytes, addr: Any) -> None:
        if addr not in self._clients:
            back = Back(self, addr)
            loop = asyncio.get_running_loop()
            self._clients[addr], _ = await loop.create_datagram_endpoint(lambda: back, remote_addr=self._target)
        await self.late(lambda: self._clients[addr].sendto(data))

    async def late(self, send: Any) -> None:
        if self._rng.random() < 0.1:
            self.dropped += 1
            return
        await asyncio.sleep(self._rng.choice([0, 0, 0.002, 0.02]))
        send()

    def back(self, data: bytes, addr: Any) -> None:
        assert self._transport is not None
        transport = self._transport
        self._spawn(self.late(lambda: transport.sendto(data, addr)))

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        if self._transport is not None:
            self._transport.close()


class Back(asyncio.DatagramProtocol):
    """The way back of one client."""

    def __init__(self, proxy: Proxy, client: Any) -> None:
        self._proxy, self._client = proxy, client

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._proxy.back(data, self._client)


async def test_datagrams_that_are_lost_and_reordered_cost_time_and_nothing_else(tmp_path: Path) -> None:
    lessons = [{"title": f"t {n}", "content": f"c {n} " * 40, "outcome": "success"} for n in range(60)]
    with opened(tmp_path, 0) as one, opened(tmp_path, 1) as two:
        one.record_many(lessons)
        peers = [Peer(f"n{n}", identity(n).kid) for n in range(2)]
        async with (
            Bus(one, identity(0), peers[1:], options=Options(period_ms=300)) as here,
            Bus(two, identity(1), peers[:1], options=Options(period_ms=300)) as there,
        ):
            proxy = Proxy(address_of(here.address), seed=26)
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_datagram_endpoint(lambda: proxy, local_addr=("127.0.0.1", 0))
            try:
                came = await there.sync(f"127.0.0.1:{transport.get_extra_info('sockname')[1]}", seconds=60)
            finally:
                proxy.close()
        assert came == len(lessons)
        assert two.count() == len(lessons)
        assert proxy.dropped > 0
