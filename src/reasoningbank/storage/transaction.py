"""Transactions on a project's SQLite database, as `contract` has them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank.signals import Signal
from reasoningbank.storage.contract import Generation, Moment, Op, Values

if TYPE_CHECKING:
    from reasoningbank.storage.evidence import Position
    from reasoningbank.storage.fold import Folded
    from reasoningbank.storage.ledger import Appended, Ledger

# As one statement: asking costs more than what is asked for.
_MOMENT = (
    "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'deleted'), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'node_changes'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'parameters'), 0), "
    "EXISTS(SELECT 1 FROM pins), g.generation, g.name, g.revision, g.dim, g.pooling, g.normalised "
    "FROM (SELECT 1) LEFT JOIN generations AS g ON g.state = 'current'"
)

_LIST = re.compile(r"\bIN \((:\w+)\)")

VALUES_AT_ONCE = 900  # of one INSERT: SQLite takes 999 wherever it was built


class SqliteReading:
    """What one transaction on the database in a project's folder sees; `Reading` says what its calls do."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self.connection, self.folder = connection, folder
        self.moment = _moment(connection)

    def execute(self, sql: str, values: Values = (), /) -> sqlite3.Cursor:
        if isinstance(values, Mapping) and any(isinstance(value, list) for value in values.values()):
            sql, values = (
                _with_lists(sql),
                {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()},
            )
        return self.connection.execute(sql, values)


def _moment(connection: sqlite3.Connection) -> Moment:
    deleted, change, node_change, fit, pinned, *generation = connection.execute(_MOMENT).fetchone()
    searched = None if generation[0] is None else Generation(*generation)
    return Moment(bool(deleted), change, node_change, fit, bool(pinned), searched)


@lru_cache(maxsize=256)
def _with_lists(sql: str) -> str:
    # A list is one value, so that a statement is the same however long it is.
    return _LIST.sub(r"IN (SELECT value FROM json_each(\1))", sql)


class SqliteWriting(SqliteReading):
    """What one write transaction, the lock of the signal log, sees and does; `Writing` says what its calls do.

    What is appended to the log is noted in `appended`; `positions` says how far it is counted, as of this transaction,
    and is None before it was looked at.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path, ledger: Ledger, appended: Appended) -> None:
        super().__init__(connection, folder)
        self._ledger, self.appended = ledger, appended
        self.positions: list[Position] | None = None
        self._given: dict[str, int] | None = None
        self._told: list[tuple[Op, int, int | None]] = []

    @property
    def newest_change(self) -> int:
        return self.moment.change + len(self._told)

    def refresh(self) -> None:
        self.moment = _moment(self.connection)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        at_once = max(1, VALUES_AT_ONCE // len(columns))
        return sum(
            self.connection.execute(
                _insert(table, tuple(columns), min(at_once, len(rows) - start), on),
                [value for row in rows[start : start + at_once] for value in row],
            ).rowcount
            for start in range(0, len(rows), at_once)
        )

    def number(self, table: str, count: int = 1, /) -> int:
        if self._given is None:
            self._given = dict(self.connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        last = self._given.get(table, 0)
        self._given[table] = last + count
        return last + 1

    def tell(self, op: Op, memory: int, vector: int | None = None, /) -> None:
        self._told.append((op, memory, vector))

    def write_signals(self, signals: Sequence[Signal], now: datetime, /, *, only_news: bool = False) -> list[Folded]:
        return self._ledger.write(self, signals, now, only_news=only_news)

    def catch_up(self) -> None:
        self._ledger.catch_up(self)

    def finish(self) -> None:
        """Write what was told to the feed: the last thing before the commit."""
        self.insert("changes", ("op", "memory", "vector"), self._told)
        self._told = []


@lru_cache(maxsize=512)
def _insert(table: str, columns: tuple[str, ...], rows: int, on: str) -> str:
    marks = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table}({', '.join(columns)}) VALUES {', '.join([marks] * rows)} {on}".rstrip()
