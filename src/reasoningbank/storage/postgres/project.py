"""One project's rows on a server."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Literal

from reasoningbank.address import ServerAddress
from reasoningbank.errors import ProjectNotFoundError, ScopeError, StorageError
from reasoningbank.signals import time_text
from reasoningbank.status import ProjectCounts
from reasoningbank.storage.contract import Reading, Writing, by_state, column, number
from reasoningbank.storage.due import Found, Work
from reasoningbank.storage.ledger import LogHealth
from reasoningbank.storage.postgres import fleet, transaction
from reasoningbank.storage.postgres.server import Server, server_at, time_at
from reasoningbank.storage.postgres.signal_table import SignalTable
from reasoningbank.storage.postgres.transaction import PostgresReading, PostgresWriting, Scope, ServerLedger
from reasoningbank.storage.project import nothing
from reasoningbank.storage.sharing import shared_name

Durability = Literal["normal", "full"]
BUSY_TIMEOUT = 10.0  # seconds, where no bank has one of its own


# Said of the tenant, too: a role that looks for work of all of them is bound by more than one policy.
_NUMBER = "SELECT number FROM projects WHERE tenant = ? AND name = ?"
_NEW_PROJECT = (
    "INSERT INTO projects(tenant, name) VALUES (?, ?) "
    "ON CONFLICT ON CONSTRAINT projects_tenant_name_key DO UPDATE SET name = excluded.name RETURNING number"
)
_TABLES = (
    "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'project' "
    "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace "
    # Deleting from the others counts here.
    "ORDER BY c.relname = 'counters', c.relname"
)


class ServerProject:
    """The rows of one project of one tenant; `storage.contract.Project` says what its calls do."""

    read_only = False
    hides_recent_writes = False

    def __init__(self, server: Server, scope: Scope, durability: Durability) -> None:
        self._server, self._scope, self._durability = server, scope, durability

    def read(self) -> AbstractContextManager[PostgresReading]:
        return transaction.reading(self._server, self._scope)

    def write(self) -> AbstractContextManager[PostgresWriting]:
        return transaction.writing(self._server, self._scope, self._durability)

    def log_of(self, reading: PostgresReading) -> SignalTable:
        return SignalTable(reading)

    def due(self, reading: PostgresReading, now: datetime, keep_days: int) -> list[str]:
        return [segment.name for segment in self._ledger(reading).due(reading, now, keep_days)]

    def health(self, reading: PostgresReading) -> LogHealth:
        return self._ledger(reading).health(reading)

    @staticmethod
    def _ledger(reading: PostgresReading) -> ServerLedger:
        return ServerLedger(SignalTable(reading))

    def space(self) -> dict[str, int]:
        # A table holds the rows of many projects.
        return {}

    def damage(self, reading: Reading) -> str:  # noqa: ARG002 - as for files
        return ""

    def roll_up(self, now: datetime, keep_days: int) -> list[str]:
        with self.write() as writing:
            ledger = self._ledger(writing)
            rolled = ledger.roll_up(writing, now, keep_days)
            for segment in rolled:
                ledger.log.delete(segment)
        return [segment.name for segment in rolled]

    def refold(self) -> None:
        from reasoningbank.storage.folding_again import fold_again

        fold_again(self, self._ledger)

    def sweep(self) -> None:
        """Remove nothing: what is rolled up goes in the same transaction."""

    def forget_words(self) -> None:
        """Do nothing: what is deleted has no rows in the text index."""

    def tidy(self) -> None:
        """Do nothing: the server has its own upkeep."""

    def backup(self, target: Path) -> None:
        from reasoningbank.storage.moving import copy_to_folder

        with self.read() as reading:
            copy_to_folder(self, reading, target)

    def close(self) -> None:
        """Keep the connections: they are shared by all banks of the process, and closed when nobody uses them."""


class ServerPlace:
    """The projects on one server; `storage.place.Place` says what its calls do."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address

    def where(self, tenant: str, project: str) -> str:
        return f"{self.address} ({tenant}/{project})"

    def open(
        self,
        tenant: str,
        project: str,
        *,
        durability: Durability,
        busy_timeout: float,
        create_at: datetime | None = None,
        seen: Callable[[Reading], None] | None = None,
    ) -> ServerProject | None:
        server = server_at(self.address, busy_timeout)
        number = self._number(server, tenant, project)
        if number is None and create_at is not None:
            number = self._create(server, tenant, project, create_at)
        if number is None:
            return None
        opened = ServerProject(server, Scope(tenant, number), durability)
        with opened.read() as reading:
            # Deleted or moved away meanwhile, it is not open.
            reading.begin()
            if seen is not None:
                seen(reading)
        return opened

    @staticmethod
    def _number(server: Server, tenant: str, project: str) -> int | None:
        with transaction.reading(server, Scope(tenant, 0)) as reading:
            row = reading.execute(_NUMBER, (tenant, project)).fetchone()
        return None if row is None else int(row[0])

    @staticmethod
    def _create(server: Server, tenant: str, project: str, at: datetime) -> int:
        with transaction.writing(server, Scope(tenant, 0), "full") as writing:
            # Another process may be first: then that row is taken, once it is committed.
            made = column(writing, _NEW_PROJECT, (tenant, project))[0]
            writing.execute("SELECT set_config('reasoningbank.project', :number, true)", {"number": str(made)})
            facts = {
                "tenant": tenant,
                "project": project,
                "created_at": time_text(at),
                "mark_key": secrets.token_hex(16),
            }
            for key, value in facts.items():
                writing.insert("meta", ("key", "value"), [(key, value)], "ON CONFLICT (key) DO NOTHING")
        return int(made)

    def projects(self, tenant: str) -> list[str]:
        return [name for name in self.every(tenant) if shared_name(name) is None]

    def every(self, tenant: str) -> list[str]:
        with transaction.reading(server_at(self.address, BUSY_TIMEOUT), Scope(tenant, 0)) as reading:
            return sorted(column(reading, "SELECT name FROM projects WHERE tenant = ?", (tenant,)))

    def tenants(self) -> list[str]:
        raise ScopeError(f"whose projects {self.address} holds is nobody's to see: name the tenant")

    def overview(self, tenant: str) -> list[ProjectCounts]:
        return [self._counts(tenant, project) for project in self.projects(tenant)]

    def _counts(self, tenant: str, project: str) -> ProjectCounts:
        server = server_at(self.address, BUSY_TIMEOUT)
        try:
            with transaction.reading(server, Scope(tenant, self._number(server, tenant, project) or 0)) as reading:
                runs = number(reading, "SELECT count(*) FROM episodes")
                return ProjectCounts(project, by_state(reading, "memories"), runs)
        except StorageError as error:
            return ProjectCounts(project, problem=str(error))

    def delete(self, tenant: str, project: str) -> None:
        server = server_at(self.address, BUSY_TIMEOUT)
        number = self._number(server, tenant, project)
        if number is None:
            raise ProjectNotFoundError(project, tenant)
        with transaction.writing(server, Scope(tenant, number), "full", also_moved=True) as writing:
            for table in column(writing, _TABLES):
                writing.execute(f"DELETE FROM {table}")
            writing.execute("DELETE FROM projects WHERE number = here()")
            writing.numbers = None

    def due(self, tenant: str | None, work: Work, now: datetime) -> AbstractContextManager[Found | None]:
        return fleet.due(server_at(self.address, BUSY_TIMEOUT), tenant, work, now)

    def bell(self, tenant: str | None, clock: Callable[[], datetime]) -> fleet.Line:
        return fleet.Line(server_at(self.address, BUSY_TIMEOUT), tenant, clock)

    def clock(self, own: Callable[[], datetime]) -> Callable[[], datetime]:
        def ask() -> None:
            with transaction.reading(server_at(self.address, BUSY_TIMEOUT), Scope("", 0)) as reading:
                reading.begin()

        return time_at(self.address).clock(own, ask)

    def nothing(self, tenant: str, project: str) -> AbstractContextManager[Writing]:  # noqa: ARG002 - as for folders
        return nothing(None)
