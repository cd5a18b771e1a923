"""Transactions on a project's rows in PostgreSQL, as `contract` has them.

The first trip of each says whose rows it sees, takes the project's lock if it writes, and reads the moment. A reading
sees one state; a writing holds the project's row, so that what it sees changes by its own hand only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from reasoningbank.errors import ProjectDeletedError, ScopeError
from reasoningbank.signals import Signal
from reasoningbank.storage import evidence
from reasoningbank.storage.contract import Generation, Moment, Values
from reasoningbank.storage.failures import moved_error
from reasoningbank.storage.fold import batches
from reasoningbank.storage.ledger import Appended, Ledger, Logged
from reasoningbank.storage.postgres.asking import Answer, Asking
from reasoningbank.storage.postgres.dialect import translated
from reasoningbank.storage.postgres.failures import reported
from reasoningbank.storage.postgres.schema import NEWEST, SCHEMA
from reasoningbank.storage.postgres.signal_table import SignalTable
from reasoningbank.storage.transaction import CHANGES, Pending, insertion

if TYPE_CHECKING:
    from reasoningbank.storage.evidence import Position
    from reasoningbank.storage.fold import Facts, Folded
    from reasoningbank.storage.postgres.near import ServerVectors
    from reasoningbank.storage.postgres.server import Server
    from reasoningbank.storage.postgres.words import PostingWords
    from reasoningbank.storage.signal_log import Segment

Durability: TypeAlias = Literal["normal", "full"]

VALUES_AT_ONCE = 5_000  # of one INSERT: the protocol takes 65,535, and reads long statements slowly
_READ, _WRITE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN"
# Says whose rows are seen, takes the project's lock if it is to be changed, and reads the moment: see the schema, whose
# version may be a newer one than when the connection was made.
_ENTER = f"SELECT (SELECT max(number) FROM {SCHEMA}.versions), entered.* FROM {SCHEMA}.enter(?, ?, ?, ?) AS entered"
_COUNTED = (
    "INSERT INTO counters(name, last) SELECT * FROM unnest(%s::text[], %s::bigint[]) "
    "ON CONFLICT (project, name) DO UPDATE SET last = greatest(counters.last, excluded.last)"
)


class Scope(NamedTuple):
    """Whose rows a transaction sees: the tenant, and the number of its project (0: none)."""

    tenant: str
    project: int


class PostgresReading:
    """What one transaction sees of a project's rows on a server; `Reading` says what its calls do.

    What is asked waits until something of it is read: so what does not depend on each other goes in one trip.
    """

    folder = None
    format = NEWEST

    def __init__(
        self, server: Server, scope: Scope, durability: Durability | None = None, *, also_moved: bool = False
    ) -> None:
        self._server, self._also_moved, self._durability = server, also_moved, durability
        self._aim_at(scope)
        self._asking = Asking(server, ((_WRITE if durability else _READ, ()), self._enter), self._see)
        self._asking.changes = server.changes.get(scope.project, 0)
        self._state: tuple[dict[str, int], Moment] | None = None

    def _aim_at(self, scope: Scope) -> None:
        self._scope = scope
        waits = f"{max(1, round(self._server.busy_timeout * 1000))}ms"
        self._enter = translated(_ENTER), (scope.tenant, scope.project, waits, self._durability or "")

    def _see(self, found: Sequence[Any]) -> None:
        """Take the counters and the moment of this transaction, if it may see them."""
        version, *entered = found
        self._server.refuse_newer(version)
        bound, there, moved_to, counters, pinned, at, *generation = entered
        self._server.time.saw(at)
        address = self._server.address
        if not bound:
            raise ScopeError(
                f"row-level security does not bind the role that logs in at {address}: log in as one that is "
                "neither superuser nor BYPASSRLS (`reasoningbank server init --role NAME` gives it what it needs)"
            )
        if not there and self._scope.project:
            raise ProjectDeletedError(
                f"{address} held a project that was deleted: open a new bank to start it anew", path=address
            )
        if moved_to is not None and not self._also_moved:
            raise moved_error(address, moved_to)
        counted: dict[str, int] = json.loads(counters or "{}")
        newest = [counted.get(name, 0) for name in ("changes", "node_changes", "parameters")]
        searched = None if generation[0] is None else Generation(*generation)
        self._asking.changes = self._server.changes[self._scope.project] = newest[0]
        self._state = counted, Moment(False, newest[0], newest[1], newest[2], bool(pinned), searched, moved_to)

    @property
    def moment(self) -> Moment:
        return self._seen()[1]

    def begin(self) -> None:
        """Begin now, rather than with the first question that is read."""
        self._seen()

    def _seen(self) -> tuple[dict[str, int], Moment]:
        if self._state is None:
            self._asking.send()
        return cast("tuple[dict[str, int], Moment]", self._state)

    @property
    def project(self) -> int:
        """The number of the project whose rows are seen."""
        return self._scope.project

    @property
    def near(self) -> ServerVectors | None:
        from reasoningbank.storage.postgres.near import ServerVectors

        self.begin()
        extension = self._server.extension
        return None if extension is None else ServerVectors(self, extension)

    @cached_property
    def words(self) -> PostingWords:
        # Only here: numpy comes with it.
        from reasoningbank.storage.postgres.words import PostingWords

        return PostingWords(self)

    def given(self) -> dict[str, int]:
        return {name: last for name, last in self._seen()[0].items() if " " not in name}

    def execute(self, sql: str, values: Values = (), /) -> Answer:
        return self._asking.ask(translated(sql), values)

    def ask_unread(self, sql: str, values: Values) -> None:
        """Ask at the end of a reading what nobody waits for."""
        self._asking.last = translated(sql), values

    def end(self) -> None:
        """End the transaction; what was not committed is undone."""
        self._asking.end()


class PostgresWriting(PostgresReading, Pending):
    """What one write transaction, which holds the project's row, sees and does; `Writing` says what its calls do."""

    def __init__(self, server: Server, scope: Scope, durability: Durability, *, also_moved: bool = False) -> None:
        super().__init__(server, scope, durability, also_moved=also_moved)
        self.told, self.numbers = [], None
        self._ledger = ServerLedger(SignalTable(self))
        self.appended: Appended = {}
        self._positions: list[Position] | None = None
        self._asked: Answer | None = None

    def go_to(self, scope: Scope) -> None:
        """Go on in a project, alone in it, from a transaction that was in none."""
        self._aim_at(scope)
        self.refresh()

    def refresh(self) -> None:
        self._see(self._asking.ask(*self._enter).fetchone() or ())

    @property
    def positions(self) -> list[Position] | None:
        if self._positions is None and self._asked is not None:
            self._positions = evidence.positions(self, self._asked)
        return self._positions

    @positions.setter
    def positions(self, moved: list[Position] | None) -> None:
        self._positions, self._asked = moved, None

    def ask_positions(self) -> None:
        """Ask how far each segment is counted; they are read with whatever is asked next."""
        if self._positions is None and self._asked is None:
            self._asked = self.execute(evidence.POSITIONS)

    def go_on_from(self, given: Mapping[str, int], /) -> None:
        self._asking.ask(_COUNTED, (list(given), list(given.values())))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        changed = 0
        for some in batches(rows, max(1, VALUES_AT_ONCE // len(columns))):
            values = [value for row in some for value in row]
            inserted = self.execute(insertion(table, columns, len(some), on), values)
            # Only where rows may be passed over it is not known before.
            changed += inserted.rowcount if on.endswith("DO NOTHING") else len(some)
        return changed

    def write_signals(
        self, signals: Sequence[Signal], now: datetime, /, *, only_news: bool = False, facts: Facts | None = None
    ) -> list[Folded]:
        return self._ledger.write(self, signals, now, only_news=only_news, facts=facts)

    def reword_signals(self, said: Callable[[Signal], Signal], /) -> int:
        # Only here: nothing else of a project needs it.
        from reasoningbank.storage.rewording import reword

        return reword(self._ledger, self, said)

    def catch_up(self) -> None:
        self._ledger.catch_up(self)

    def commit(self) -> None:
        """Write what was told to the feed and which numbers were given, and keep all of it: one trip."""
        if self.told:
            first = self.number("changes", len(self.told))
            rows = [(seq, *told) for seq, told in enumerate(self.told, first)]
            self.insert("changes", ("seq", *CHANGES), rows)
            self.told = []
        if self.numbers is not None:
            taken = {name: last for name, last in self.numbers.items() if last != self._seen()[0].get(name)}
            self.go_on_from(taken)
        self._asking.commit()


class ServerLedger(Ledger):
    """The ledger of a log that is a table: a transaction commits lines and counts together, so none is ever behind."""

    log: SignalTable

    def catch_up(self, writing: Logged) -> None:
        """Ask how far each segment is counted: that is as far as it goes."""
        cast("PostgresWriting", writing).ask_positions()

    def append(self, writing: Logged, segment: Segment, signals: Sequence[Signal]) -> int:
        counted = next(position.end for position in writing.positions or () if position.segment == segment)
        return self.log.put(segment, signals, counted)

    def refold(self, writing: Logged) -> None:
        """Fold the kept segments again from their beginning: the derived rows come back the same."""
        evidence.forget(writing)
        self.fold_pending(writing)
        writing.positions = None


@contextmanager
def reading(server: Server, scope: Scope) -> Iterator[PostgresReading]:
    """Give one state of a project, as of the first question.

    Raises, at the first question:
        ProjectDeletedError: it was deleted.
        ScopeError: the role that logged in is not bound by row-level security.
        StorageError: the server refuses, or cannot be reached.
    """
    seen = PostgresReading(server, scope)
    with reported(server.address):
        try:
            yield seen
        finally:
            seen.end()


@contextmanager
def writing(
    server: Server, scope: Scope, durability: Durability, *, also_moved: bool = False
) -> Iterator[PostgresWriting]:
    """Give what may change a project, alone in it from the first question on; all is kept at the end, or nothing.

    With `also_moved`, also what is left of one that was moved.

    Raises what `reading` does, and BusyError when another writer held the project for too long.
    """
    changing = PostgresWriting(server, scope, durability, also_moved=also_moved)
    with reported(server.address):
        try:
            yield changing
            changing.commit()
        finally:
            changing.end()
