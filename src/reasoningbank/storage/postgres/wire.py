"""A connection to a server, on which what belongs together goes in one trip."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg import generators
from psycopg.adapt import Dumper, Transformer
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.numeric import NumericBinaryLoader, NumericLoader

from reasoningbank.address import ServerAddress
from reasoningbank.storage.postgres.literals import Literals
from reasoningbank.storage.postgres.prepared import Prepared

if TYPE_CHECKING:
    from decimal import Decimal

    from psycopg.pq.abc import PGresult

    from reasoningbank.storage.contract import Values

Asked: TypeAlias = "tuple[str, Values]"
Found: TypeAlias = "tuple[Iterator[tuple[Any, ...]], int]"
"""The rows of a statement, and how many it gave or changed."""


class _Truth(Dumper):
    """Truth values as 0 and 1, which is how they are stored on every engine."""

    oid = psycopg.adapters.types["int2"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"

    quote = dump


def _whole(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


class _Number(NumericLoader):
    """Sums of whole numbers are whole numbers, as on every engine."""

    def load(self, data: Any) -> int | float:  # type: ignore[override]
        return _whole(super().load(data))


class _BinaryNumber(NumericBinaryLoader):
    """The same, in the protocol's other form."""

    def load(self, data: Any) -> int | float:  # type: ignore[override]
        return _whole(super().load(data))


# Whoever stands between gives a number of its own.
_WHO = "SELECT pg_backend_pid()"


class Wire:
    """A connection, in no transaction unless a statement began one.

    What comes again is prepared, where the session is this connection's alone: behind a pooler that lends another one
    to each transaction nothing is.

    Args:
        address: of the server.
        patience: seconds in which it must be reached, where the address says nothing of that.

    Attributes:
        since: when it was last given back; None for one that is new.
    """

    def __init__(self, address: ServerAddress, patience: float) -> None:
        # libpq takes whole seconds, and one as two.
        waits = {"connect_timeout": max(2, math.ceil(patience))}
        if "connect_timeout" in conninfo_to_dict(address.dsn):
            waits = {}
        self._connection = psycopg.connect(
            address.dsn,
            autocommit=True,
            # That is done here, for many statements in one trip.
            prepare_threshold=None,
            application_name="reasoningbank",
            **waits,  # type: ignore[arg-type]
        )
        self._connection.adapters.register_dumper(bool, _Truth)
        self._connection.adapters.register_loader("numeric", _Number)
        self._connection.adapters.register_loader("numeric", _BinaryNumber)
        self._literals, self._read = Literals(self._connection), Transformer(self._connection)
        self._prepared: Prepared | None = None
        self._ended = False
        self._asked_who = False
        self.since: float | None = None

    def send(self, asked: Sequence[Asked]) -> list[Found]:
        """Send statements in one trip, and return what each of them gives."""
        if self._ended:
            self._ended = False
            self._connection.wait(generators.fetch_many(self._connection.pgconn))
            if self._connection.pgconn.transaction_status == TransactionStatus.INERROR:
                # The last question failed, and what stood behind it was passed over.
                self._connection.execute("ROLLBACK")
        if self._asked_who:
            return self._send(asked)
        *found, (who, _) = self._send([*asked, (_WHO, ())])
        self._asked_who = True
        if next(who) == (self._connection.pgconn.backend_pid,):
            self._prepared = Prepared(self._literals)
        return found

    def _send(self, asked: Sequence[Asked]) -> list[Found]:
        if self._prepared is None:
            return self._sent([[self._literals.written(sql, values)] for sql, values in asked])
        try:
            found = self._sent(self._prepared.texts(asked))
        except psycopg.Error:
            self._prepared.failed()
            raise
        self._prepared.sent()
        return found

    def _sent(self, texts: Sequence[Sequence[str]]) -> list[Found]:
        """Send what each statement is, and return what the last text of each gives."""
        if len(texts) == len(texts[0]) == 1:
            # So rows come as they are stored, which is half as long for vectors.
            cursor = self._connection.execute(texts[0][0], binary=True)
            return [(iter(() if cursor.description is None else cursor), cursor.rowcount)]
        results = iter(self._results("; ".join(text for of_one in texts for text in of_one)))
        return [self._given([next(results) for _ in of_one][-1]) for of_one in texts]

    def _results(self, text: str) -> list[PGresult]:
        """Send a text, and return what each of its statements gives: as psycopg's cursors do, with less around it."""
        connection = self._connection.pgconn
        connection.send_query(text.encode(self._read.encoding))
        results: list[PGresult] = self._connection.wait(generators.execute(connection))
        if results[-1].status == ExecStatus.FATAL_ERROR:
            raise error_from_result(results[-1], encoding=self._read.encoding)
        return results

    def _given(self, result: PGresult) -> Found:
        if result.status != ExecStatus.TUPLES_OK:
            return iter(()), result.command_tuples or 0
        self._read.set_pgresult(result)
        return iter(self._read.load_rows(0, result.ntuples, tuple)), result.ntuples

    def suit(self, changes: int) -> None:
        """Go on with plans for a project that had so many changes, where they are kept."""
        if self._prepared is not None:
            self._prepared.suit(changes)

    @property
    def is_own_session(self) -> bool:
        """Whether the session is this connection's alone, as far as its first trip told."""
        return self._prepared is not None

    def is_told(self, seconds: float) -> bool:
        """Wait so long for what the server tells of; say whether it told."""
        return next(self._connection.notifies(timeout=seconds, stop_after=1), None) is not None

    def end(self, last: Asked | None = None) -> None:
        """Roll back what is not committed, without waiting for it, nor for a last question that nobody reads."""
        connection = self._connection.pgconn
        if self._connection.closed or connection.transaction_status == TransactionStatus.IDLE:
            return
        if connection.transaction_status not in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            # It stopped in the middle of an answer.
            self.close()
            return
        before = "" if last is None else f"{self._literals.written(*last)}; "
        connection.send_query(f"{before}ROLLBACK".encode(self._read.encoding))
        self._connection.wait(generators.send(connection))
        self._ended = True

    @property
    def closed(self) -> bool:
        """Whether it is of no use any more."""
        return self._connection.closed

    def close(self) -> None:
        """Close it."""
        self._connection.close()
