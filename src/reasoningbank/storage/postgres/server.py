"""The connections of one process to one server, however many banks use them."""

from __future__ import annotations

import threading
import time

from reasoningbank.address import ServerAddress
from reasoningbank.errors import BusyError, NewerFormatError, StorageError
from reasoningbank.forks import renew_after_fork
from reasoningbank.storage.postgres.clock import ServerTime
from reasoningbank.storage.postgres.schema import EXTENSION, NEWEST, SCHEMA
from reasoningbank.storage.postgres.wire import Wire

MOST_CONNECTIONS = 10  # of one process; further transactions wait for their turn
IDLE = 60.0  # seconds after which a connection that nobody uses is closed


class Server:
    """One server's connections, each opened when there is none to spare, and anew in every process that was forked.

    psycopg's own pool asks a connection whether it still works before it lends it, and waits for the end of each
    transaction: two trips that every call would pay for.

    Args:
        address: where it is.
        busy_timeout: seconds to wait for a connection, and for another writer.

    Attributes:
        extension: the schema of pgvector, where the server can search vectors; known with the first connection.
        time: what time it is there.
        changes: how many each project has had, by its number, as this process saw it last.
    """

    def __init__(self, address: ServerAddress, busy_timeout: float) -> None:
        self.address, self.busy_timeout = address, busy_timeout
        self._inherited: list[Wire] = []
        self._idle: list[Wire] = []
        self._checked = False
        self.extension: str | None = None
        self.changes: dict[int, int] = {}
        self.time = time_at(address)
        self._begin()
        renew_after_fork(self)

    def _begin(self) -> None:
        self._lock, self._free = threading.Lock(), threading.Semaphore(MOST_CONNECTIONS)
        self._closing: threading.Timer | None = None

    def after_fork(self) -> None:
        """Begin without any connection: they are the parent's, who would lose what this process closes."""
        self._inherited += self._idle
        self._idle = []
        self._begin()

    def take(self) -> Wire:
        """Lend a connection: the one that was used last, or a new one where there is none to spare.

        Raises:
            BusyError: no connection came free in time.
            StorageError: the schema is of another version than this library.
            psycopg.Error: the server cannot be reached, or refuses.
        """
        if not self._free.acquire(timeout=self.busy_timeout):
            raise BusyError(
                f"all {MOST_CONNECTIONS} connections to {self.address} stayed in use: try again, or raise busy_timeout",
                path=self.address,
            )
        try:
            with self._lock:
                wire = self._idle.pop() if self._idle else None
            wire = wire or Wire(self.address, self.busy_timeout)
            if not self._checked:
                self._check(wire)
                self._checked = True
        except BaseException:
            self._free.release()
            raise
        return wire

    def give_back(self, wire: Wire) -> None:
        """Take a connection back; one that is closed is forgotten."""
        if not wire.closed:
            wire.since = time.monotonic()
            with self._lock:
                self._idle.append(wire)
                if self._closing is None:
                    self._close_later()
        self._free.release()

    def _close_later(self) -> None:
        self._closing = threading.Timer(IDLE, self._close_idle)
        self._closing.daemon = True
        self._closing.start()

    def _close_idle(self) -> None:
        last = time.monotonic() - IDLE
        with self._lock:
            gone = [wire for wire in self._idle if (wire.since or 0.0) <= last]
            self._idle = [wire for wire in self._idle if (wire.since or 0.0) > last]
            self._closing = None
            if self._idle:
                self._close_later()
        for wire in gone:
            wire.close()

    def refuse_newer(self, found: int) -> None:
        """Raise NewerFormatError for a schema that only a newer version knows."""
        if found > NEWEST:
            raise NewerFormatError(
                f"{self.address} has format {found}, this version reads up to {NEWEST}: upgrade reasoningbank-core",
                path=self.address,
            )

    def _check(self, wire: Wire) -> None:
        newest = (
            f"SELECT coalesce(max(number), 0), ({EXTENSION} AND to_regclass('{SCHEMA}.searchable') IS NOT NULL), "
            f"clock_timestamp() FROM {SCHEMA}.versions"
        )
        try:
            ((rows, _),) = wire.send([(newest, ())])
            found, self.extension, at = next(rows)
        except BaseException:
            wire.close()
            raise
        if found == NEWEST:
            self.time.saw(at)
            return
        wire.close()
        self.refuse_newer(found)
        raise StorageError(
            f"{self.address} has format {found}, this version needs {NEWEST}: run `reasoningbank server migrate`",
            path=self.address,
        )


_times: dict[ServerAddress, ServerTime] = {}


def time_at(address: ServerAddress) -> ServerTime:
    """Return what is known of the time at a server, by all banks of the process."""
    return _times.setdefault(address, ServerTime())


_servers: dict[tuple[ServerAddress, float], Server] = {}


def server_at(address: ServerAddress, busy_timeout: float) -> Server:
    """Return the server at an address: of one process all banks share its connections."""
    at = (address, busy_timeout)
    # Of two that come at once one is kept (`setdefault` is atomic), and a lock would be held in a fork's child.
    return _servers.get(at) or _servers.setdefault(at, Server(address, busy_timeout))
