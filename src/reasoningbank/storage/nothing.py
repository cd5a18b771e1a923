"""The project that does not exist, as one without any rows: nobody who reads has to ask whether it is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path

from reasoningbank.signals import Signal
from reasoningbank.storage.database import apply_migrations, prepare
from reasoningbank.storage.fold import Folded
from reasoningbank.storage.ledger import Ledger
from reasoningbank.storage.project import SIGNALS_NAME
from reasoningbank.storage.transaction import SqliteWriting


@contextmanager
def nothing(folder: Path) -> Iterator[SqliteWriting]:
    """Give an empty project. It may be written to like any other, and nothing of that is kept.

    Args:
        folder: where the project would be; nothing is looked at or made there.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as connection:
        connection.deserialize(_empty())
        prepare(connection)
        yield SqliteWriting(connection, folder, _NoLog(folder / SIGNALS_NAME, fsync=False), {})


class _NoLog(Ledger):
    """The log that is not there: neither is anything that a signal could be about."""

    def write(
        self,
        writing: SqliteWriting,  # noqa: ARG002 - as any ledger is asked
        signals: Sequence[Signal],
        now: datetime,  # noqa: ARG002
        *,
        only_news: bool,  # noqa: ARG002
    ) -> list[Folded]:
        """Say that no signal is about anything."""
        return [Folded.ORPHAN] * len(signals)

    def catch_up(self, writing: SqliteWriting) -> None:
        """Nothing is left to count."""


@cache
def _empty() -> bytes:
    """Return a database with the schema and no rows; to copy it takes a fraction of making it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        apply_migrations(connection)
        return connection.serialize()
