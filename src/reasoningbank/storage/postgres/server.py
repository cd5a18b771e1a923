"""The connections of one process to one server, whatever many banks use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.adapt import Dumper
from psycopg.types.numeric import NumericBinaryLoader
from psycopg_pool import ConnectionPool

from reasoningbank.address import ServerAddress
from reasoningbank.errors import NewerFormatError, StorageError
from reasoningbank.storage.postgres.failures import reported
from reasoningbank.storage.postgres.schema import NEWEST, SCHEMA

if TYPE_CHECKING:
    Connection = psycopg.Connection[tuple[Any, ...]]

MOST_CONNECTIONS = 10  # of one process; further transactions wait for their turn
IDLE = 60.0  # seconds after which a connection that nobody uses is closed


class _Truth(Dumper):
    """Truth values as 0 and 1, which is how they are stored on every engine."""

    oid = psycopg.adapters.types["int2"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _Number(NumericBinaryLoader):
    """Sums of whole numbers are whole numbers, as on every engine."""

    def load(self, data: Any) -> int | float:  # type: ignore[override]
        number = super().load(data)
        return int(number) if number == number.to_integral_value() else float(number)


class Server:
    """One server's pool of connections, opened at its first use, and anew in every process that was forked.

    Args:
        address: where it is.
        busy_timeout: seconds to wait for a connection, and for another writer.
    """

    def __init__(self, address: ServerAddress, busy_timeout: float) -> None:
        self.address, self.busy_timeout = address, busy_timeout
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._process = 0
        self._checked = False

    def _connections(self) -> ConnectionPool[Connection]:
        if self._process != os.getpid():
            # A child that closed what it was handed down would close it for its parent too.
            self._lock, self._pool, self._process = threading.Lock(), None, os.getpid()
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self.address.dsn,
                    # No prepared statements: behind a pooler the next transaction may be on another connection.
                    kwargs={"autocommit": True, "prepare_threshold": None, "application_name": "reasoningbank"},
                    configure=_configure,
                    min_size=0,
                    max_size=MOST_CONNECTIONS,
                    max_idle=IDLE,
                    timeout=self.busy_timeout,
                    reconnect_timeout=self.busy_timeout,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pool

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        """Give a connection outside of any transaction; one that ends inside of one is closed.

        Raises:
            StorageError: the server cannot be reached, or refuses.
            BusyError: no connection came free in time.
        """
        with reported(self.address), self._connections().connection() as connection:
            if not self._checked:
                self._check(connection)
                self._checked = True
            yield connection

    def _check(self, connection: Connection) -> None:
        row = connection.execute(f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.versions").fetchone()
        found = 0 if row is None else row[0]
        if found > NEWEST:
            raise NewerFormatError(
                f"{self.address} has format {found}, this version reads up to {NEWEST}: upgrade reasoningbank-core",
                path=self.address,
            )
        if found < NEWEST:
            raise StorageError(
                f"{self.address} has format {found}, this version needs {NEWEST}: run `reasoningbank server migrate`",
                path=self.address,
            )

    def close(self) -> None:
        """Close the connections of this process."""
        if self._pool is not None and self._process == os.getpid():
            pool, self._pool = self._pool, None
            pool.close()


def _configure(connection: Connection) -> None:
    connection.adapters.register_dumper(bool, _Truth)
    connection.adapters.register_loader("numeric", _Number)


_servers: dict[tuple[ServerAddress, float], Server] = {}
_known = threading.Lock()


def server_at(address: ServerAddress, busy_timeout: float) -> Server:
    """Return the server at an address: of one process all banks share its connections."""
    with _known:
        return _servers.setdefault((address, busy_timeout), Server(address, busy_timeout))
