"""A way to a server that is as long as wanted, and that can be cut between any two trips."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Proxy:
    """Hands on what is said between clients on a port of this machine and a server's socket.

    Args:
        target: the server's socket.
        delay: seconds that a trip takes, there and back.

    Attributes:
        port: on 127.0.0.1.
        cut_in: the connection that brings this many further messages to the server is cut; None for never. With
            `after` the message still arrives, and its answer does not.
    """

    def __init__(self, target: Path, delay: float = 0.0) -> None:
        self._target, self._delay = target, delay
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
                if self._delay:
                    time.sleep(self._delay / 2)
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
