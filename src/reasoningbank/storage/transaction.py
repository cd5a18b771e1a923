"""Transactions on a project's SQLite database, as `contract` has them, and what those of every engine keep."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank.signals import Signal
from reasoningbank.storage.contract import Generation, Moment, Op, Values

if TYPE_CHECKING:
    from reasoningbank.storage.evidence import Position
    from reasoningbank.storage.fold import Facts, Folded
    from reasoningbank.storage.fts import FtsWords
    from reasoningbank.storage.ledger import Appended, Ledger

# As one statement: asking costs more than what is asked for.
_MOMENT = (
    "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'deleted'), (SELECT value FROM meta WHERE key = 'moved_to'), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'node_changes'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'parameters'), 0), "
    "EXISTS(SELECT 1 FROM pins), (SELECT user_version FROM pragma_user_version), "
    "(SELECT application_id FROM pragma_application_id), "
    "g.generation, g.name, g.revision, g.dim, g.pooling, g.normalised "
    "FROM (SELECT 1) LEFT JOIN generations AS g ON g.state = 'current'"
)

_LIST = re.compile(r"\bIN \((:\w+)\)")


CHANGES = ("op", "memory", "vector")
HIGHEST = 2**31 - 1
"""Of the numbers that commits have; 1 comes after it."""


def number_anew(connection: sqlite3.Connection) -> None:
    """Give a database that nobody else has, new or a copy, a number that no write-ahead log knows."""
    number_commit(connection, 0)


def number_commit(connection: sqlite3.Connection, last: int) -> None:
    """Raise the number by one, inside the transaction that is about to commit: see `write_ahead`.

    Args:
        last: what it was before; 0 in a database that has none, since an older version made it: it gets one by chance.
    """
    number = (last or secrets.randbelow(HIGHEST)) % HIGHEST + 1
    connection.execute(f"PRAGMA application_id = {number:d}")


class Pending(ABC):
    """Changes told and numbers taken in one transaction; `Writing` says what the calls do."""

    if TYPE_CHECKING:

        @property
        def moment(self) -> Moment: ...

    # Both are nothing at first; set by each engine's writing, whose way is short.
    told: list[tuple[Op, int, int | None]]
    numbers: dict[str, int] | None

    @abstractmethod
    def given(self) -> dict[str, int]:
        """Return the last row number of each table that was ever given, as of this transaction's beginning."""

    @property
    def newest_change(self) -> int:
        return self.moment.change + len(self.told)

    def tell(self, op: Op, memory: int, vector: int | None = None, /) -> None:
        self.told.append((op, memory, vector))

    def number(self, table: str, count: int = 1, /) -> int:
        if self.numbers is None:
            self.numbers = self.given()
        last = self.numbers.get(table, 0)
        self.numbers[table] = last + count
        return last + 1


def insertion(table: str, columns: Sequence[str], rows: int, on: str) -> str:
    """Return the statement that inserts so many rows."""
    marks = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table}({', '.join(columns)}) VALUES {', '.join([marks] * rows)} {on}".rstrip()


class SqliteReading:
    """What one transaction on the database in a project's folder sees; `Reading` says what its calls do."""

    near = None

    def __init__(self, connection: sqlite3.Connection, folder: Path | None) -> None:
        self.connection, self.folder = connection, folder
        self.moment, self._number = _moment(connection)

    @cached_property
    def words(self) -> FtsWords:
        # Only here: numpy comes with it.
        from reasoningbank.storage.fts import FtsWords

        return FtsWords(self)

    @property
    def format(self) -> int:
        return self.moment.format

    def given(self) -> dict[str, int]:
        return dict(self.connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    def execute(self, sql: str, values: Values = (), /) -> sqlite3.Cursor:
        if isinstance(values, Mapping) and any(isinstance(value, list) for value in values.values()):
            sql, values = (
                _with_lists(sql),
                {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()},
            )
        return self.connection.execute(sql, values)


def _moment(connection: sqlite3.Connection) -> tuple[Moment, int]:
    """Return the moment, and the number of its commit."""
    row = connection.execute(_MOMENT).fetchone()
    deleted, moved_to, change, node_change, fit, pinned, form, number, *generation = row
    searched = None if generation[0] is None else Generation(*generation)
    return Moment(bool(deleted), change, node_change, fit, bool(pinned), searched, moved_to, form), number


@lru_cache(maxsize=256)
def _with_lists(sql: str) -> str:
    # A list is one value, so that a statement is the same however long it is.
    return _LIST.sub(r"IN (SELECT value FROM json_each(\1))", sql)


class SqliteWriting(SqliteReading, Pending):
    """What one write transaction, the lock of the signal log, sees and does; `Writing` says what its calls do.

    What is appended to the log is noted in `appended`; `positions` says how far it is counted, as of this transaction,
    and is None before it was looked at.
    """

    values_at_once = 900  # SQLite takes 999 wherever it was built

    def __init__(self, connection: sqlite3.Connection, folder: Path | None, ledger: Ledger, appended: Appended) -> None:
        super().__init__(connection, folder)
        self.told, self.numbers = [], None
        self._ledger, self.appended = ledger, appended
        self._changes = connection.total_changes
        self.positions: list[Position] | None = None

    def refresh(self) -> None:
        self.moment, self._number = _moment(self.connection)

    def go_on_from(self, given: Mapping[str, int], /) -> None:
        for table, last in given.items():
            # A row of its own is there only once a number was given.
            changed = self.connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (last, table))
            if not changed.rowcount:
                self.connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table, last))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], on: str = "", /) -> int:
        at_once, changed = max(1, self.values_at_once // len(columns)), 0
        for start in range(0, len(rows), at_once):
            some = rows[start : start + at_once]
            values = [value for row in some for value in row]
            changed += self.connection.execute(_insertion(table, tuple(columns), len(some), on), values).rowcount
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

    def finish(self) -> None:
        """Write what was told to the feed, and number the commit where anything changed: the last thing before it."""
        self.insert("changes", CHANGES, self.told)
        self.told = []
        if self.connection.total_changes != self._changes:
            number_commit(self.connection, self._number)


_insertion = lru_cache(maxsize=512)(insertion)
