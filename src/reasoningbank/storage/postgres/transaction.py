"""Transactions on a project's rows in PostgreSQL, as `contract` has them.

Each begins with one trip that says whose rows it sees, takes the project's lock if it writes, and reads the moment. A
reading sees one state; a writing holds the project's row, so that what it sees changes by its own hand only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reasoningbank.errors import ProjectDeletedError, ScopeError
from reasoningbank.signals import Signal
from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Generation, Moment, Rows, Values
from reasoningbank.storage.failures import moved_error
from reasoningbank.storage.fold import batches
from reasoningbank.storage.ledger import Appended, Ledger, Logged
from reasoningbank.storage.postgres.dialect import translated
from reasoningbank.storage.postgres.schema import NEWEST, SCHEMA
from reasoningbank.storage.postgres.signal_table import SignalTable
from reasoningbank.storage.transaction import CHANGES, Pending, insertion

if TYPE_CHECKING:
    from reasoningbank.storage.evidence import Position
    from reasoningbank.storage.fold import Folded
    from reasoningbank.storage.postgres.server import Connection, Server
    from reasoningbank.storage.postgres.words import PostingWords

_SETTINGS = (
    "SELECT set_config('search_path', %s, true), set_config('reasoningbank.tenant', %s, true), "
    "set_config('reasoningbank.project', %s, true), set_config('lock_timeout', %s, true), "
    "set_config('synchronous_commit', %s, true)"
)
VALUES_AT_ONCE = 5_000  # of one INSERT: the protocol takes 65,535, and reads long statements slowly
_LOCK = "SELECT number FROM projects WHERE number = here() FOR UPDATE"
_MOMENT = (
    "SELECT row_security_active('memories'), EXISTS(SELECT 1 FROM projects WHERE number = here()), "
    "(SELECT value FROM meta WHERE key = 'moved_to'), "
    "(SELECT json_object_agg(name, last) FROM counters)::text, EXISTS(SELECT 1 FROM pins), "
    "g.generation, g.name, g.revision, g.dim, g.pooling, g.normalised "
    "FROM (SELECT 1) AS one LEFT JOIN generations AS g ON g.state = 'current'"
)
_COUNTED = (
    "INSERT INTO counters(name, last) SELECT * FROM unnest(%s::text[], %s::bigint[]) "
    "ON CONFLICT (project, name) DO UPDATE SET last = greatest(counters.last, excluded.last)"
)


class Scope(NamedTuple):
    """Whose rows a transaction sees: the tenant, and the number of its project (0: none)."""

    tenant: str
    project: int


class PostgresReading:
    """What one transaction sees of a project's rows on a server; `Reading` says what its calls do."""

    folder = None
    format = NEWEST

    def __init__(self, connection: Connection, found: Sequence[Any]) -> None:
        self.connection = connection
        self._see(found)

    def _see(self, found: Sequence[Any]) -> None:
        moved_to, counters, pinned, *generation = found
        self.counters: dict[str, int] = json.loads(counters or "{}")
        newest = [self.counters.get(name, 0) for name in ("changes", "node_changes", "parameters")]
        searched = None if generation[0] is None else Generation(*generation)
        self.moment = Moment(False, newest[0], newest[1], newest[2], bool(pinned), searched, moved_to)

    @cached_property
    def words(self) -> PostingWords:
        # Only here: numpy comes with it.
        from reasoningbank.storage.postgres.words import PostingWords

        return PostingWords(self)

    def given(self) -> dict[str, int]:
        return {name: last for name, last in self.counters.items() if " " not in name}

    def execute(self, sql: str, values: Values = (), /) -> Rows:
        return self.connection.execute(translated(sql), values, binary=True)


class PostgresWriting(PostgresReading, Pending):
    """What one write transaction, which holds the project's row, sees and does; `Writing` says what its calls do."""

    def __init__(self, connection: Connection, found: Sequence[Any]) -> None:
        super().__init__(connection, found)
        self.told, self.numbers = [], None
        self._ledger = ServerLedger(SignalTable(self))
        self.appended: Appended = {}
        self.positions: list[Position] | None = None

    def refresh(self) -> None:
        _, _, *found = self.connection.execute(_MOMENT, binary=True).fetchone() or ()
        self._see(found)

    def go_on_from(self, given: Mapping[str, int], /) -> None:
        self.connection.execute(_COUNTED, (list(given), list(given.values())))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        changed = 0
        for some in batches(rows, max(1, VALUES_AT_ONCE // len(columns))):
            values = [value for row in some for value in row]
            changed += self.execute(insertion(table, columns, len(some), on), values).rowcount
        return changed

    def write_signals(self, signals: Sequence[Signal], now: datetime, /, *, only_news: bool = False) -> list[Folded]:
        return self._ledger.write(self, signals, now, only_news=only_news)

    def catch_up(self) -> None:
        self._ledger.catch_up(self)

    def commit(self) -> None:
        """Write what was told to the feed and which numbers were given, and keep all of it: one trip."""
        with self.connection.pipeline():
            if self.told:
                first = self.number("changes", len(self.told))
                rows = [(seq, *told) for seq, told in enumerate(self.told, first)]
                self.insert("changes", ("seq", *CHANGES), rows)
                self.told = []
            if self.numbers is not None:
                taken = {name: last for name, last in self.numbers.items() if last != self.counters.get(name)}
                self.go_on_from(taken)
            self.connection.execute("COMMIT")


class ServerLedger(Ledger):
    """The ledger of a log that is a table: a transaction commits lines and counts together, so none is ever behind."""

    def catch_up(self, writing: Logged) -> None:
        """Read how far each segment is counted: that is as far as it goes."""
        if writing.positions is None:
            writing.positions = evidence.positions(writing)

    def refold(self, writing: Logged) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        evidence.forget(writing)
        self.fold_pending(writing)
        writing.positions = None


@contextmanager
def reading(server: Server, scope: Scope) -> Iterator[PostgresReading]:
    """Give one state of a project.

    Raises:
        ProjectDeletedError: it was deleted.
        ScopeError: the role that logged in is not bound by row-level security.
        StorageError: the server refuses, or cannot be reached.
    """
    with server.lend() as connection:
        try:
            seen = PostgresReading(connection, _begin(server, connection, scope))
            _check_here(server, seen.moment)
            yield seen
        finally:
            _roll_back(connection)


@contextmanager
def writing(
    server: Server, scope: Scope, durability: Literal["normal", "full"], *, also_moved: bool = False
) -> Iterator[PostgresWriting]:
    """Give what may change a project, alone in it; all of it is kept at the end, or nothing.

    With `also_moved`, also what is left of one that was moved.

    Raises what `reading` does, and BusyError when another writer held the project for too long.
    """
    with server.lend() as connection:
        try:
            found = _begin(server, connection, scope, durability)
            changing = PostgresWriting(connection, found)
            if not also_moved:
                _check_here(server, changing.moment)
            yield changing
            changing.commit()
        finally:
            _roll_back(connection)


def _begin(
    server: Server, connection: Connection, scope: Scope, durability: Literal["normal", "full"] | None = None
) -> Sequence[Any]:
    """Begin a transaction, to write if a durability is given, and return its moment: one trip."""
    waits = f"{max(1, round(server.busy_timeout * 1000))}ms"
    settings = (SCHEMA, scope.tenant, str(scope.project), waits, "on" if durability == "full" else "off")
    with connection.pipeline():
        connection.execute("BEGIN" if durability else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(_SETTINGS, settings)
        if durability:
            connection.execute(_LOCK)
        asked = connection.execute(_MOMENT, binary=True)
    bound, there, *found = asked.fetchone() or (False, False)
    if not bound:
        raise ScopeError(
            f"row-level security does not bind the role that logs in at {server.address}: log in as one that is "
            "neither superuser nor BYPASSRLS (`reasoningbank server init --role NAME` gives it what it needs)"
        )
    if not there and scope.project:
        raise ProjectDeletedError(
            f"{server.address} held a project that was deleted: open a new bank to start it anew", path=server.address
        )
    return found


def _check_here(server: Server, moment: Moment) -> None:
    if moment.moved_to is not None:
        raise moved_error(server.address, moment.moved_to)


def _roll_back(connection: Connection) -> None:
    if not connection.closed and connection.info.transaction_status != 0:
        connection.execute("ROLLBACK")
