"""Ways to a server: one that is as long as wanted, and one that can be cut between any two trips."""

from __future__ import annotations

import multiprocessing
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path


class Proxy:
    """Hands on what is said between clients on a port of this machine and a server's socket.

    Args:
        target: the server's socket.

    Attributes:
        port: on 127.0.0.1.
        cut_in: the connection that brings this many further messages to the server is cut; None for never. With
            `after` the message still arrives, and its answer does not.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.cut_in: int | None = None
        self.after = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(str(self._target))
                except OSError:
                    client.close()
                    continue
                self._open |= {client, server}
                for one, other, passes in ((client, server, self._passes), (server, client, lambda: True)):
                    threading.Thread(target=self._pump, args=(one, other, passes), daemon=True).start()

    def _passes(self) -> bool:
        """Tell whether a message to the server goes through, and count it."""
        with self._lock:
            if self.cut_in is None:
                return True
            self.cut_in -= 1
            if self.cut_in > 0:
                return True
            self.cut_in = None
            return False

    def _pump(self, one: socket.socket, other: socket.socket, passes: Callable[[], bool]) -> None:
        with suppress(OSError):
            while said := one.recv(1 << 16):
                whole = passes()
                if whole or self.after:
                    other.sendall(said)
                if not whole:
                    break
        for each in (one, other):
            self._open.discard(each)
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        """Cut every connection, and take no more."""
        self._listening.close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def _stand(target: Path, delay: float, told: Connection) -> None:
    """Hand on each message when half a trip's time has passed, however many are on the way."""
    listening = socket.create_server(("127.0.0.1", 0))
    told.send(listening.getsockname()[1])
    other: dict[socket.socket, socket.socket] = {}
    on_the_way: deque[tuple[float, socket.socket, bytes]] = deque()
    while True:
        left = max(0.0, on_the_way[0][0] - time.monotonic()) if on_the_way else None
        for each in select.select([listening, *other], [], [], left)[0]:
            if each is listening:
                client, server = listening.accept()[0], socket.socket(socket.AF_UNIX)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server.connect(str(target))
                other |= {client: server, server: client}
            elif each in other:
                said = each.recv(1 << 16)
                on_the_way.append((time.monotonic() + delay / 2, other[each], said))
                if not said:
                    del other[each]
        while on_the_way and on_the_way[0][0] <= time.monotonic():
            _, to, said = on_the_way.popleft()
            with suppress(OSError):
                to.sendall(said) if said else to.shutdown(socket.SHUT_WR)


@contextmanager
def far(target: Path, delay: float) -> Iterator[int]:
    """Give the port of a way to a server's socket on which each trip takes `delay` seconds, there and back.

    It is a process of its own: in that of the client it would wait for its interpreter.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_stand, args=(target, delay, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()
