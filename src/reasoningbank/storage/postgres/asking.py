"""What is asked in one transaction: it goes out together as soon as any of it is read, in one trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Values
    from reasoningbank.storage.postgres.server import Server
    from reasoningbank.storage.postgres.wire import Asked, Found, Wire

MOST_WAITING = 2_000_000  # characters of texts and bytes of values, about, that wait to be sent


class Asking:
    """The statements of one transaction, of which those wait that nobody read yet.

    A connection that was kept may have ended meanwhile: what was to be its first trip then goes over another one.
    Nothing is lost with that, since a trip that commits is never the first.

    Args:
        server: which lends the connections.
        first: the statements that begin the transaction.
        begun: is called with what the last of them gives, before anything else is handed out.

    Attributes:
        changes: how many the project has had, as far as it is known, which says what plans suit it.
        last: a question to be sent with the end of what is not committed; nobody waits for it.
    """

    def __init__(self, server: Server, first: Sequence[Asked], begun: Callable[[tuple[Any, ...]], None]) -> None:
        self._server, self._first, self._begun = server, first, begun
        self._waiting: list[tuple[Asked, Answer]] = []
        self._size = 0
        self._wire: Wire | None = None
        self.sent, self.changes = False, 0
        self.last: Asked | None = None

    def ask(self, sql: str, values: Values = ()) -> Answer:
        """Ask a question, to be sent before anything that is asked later."""
        answer = Answer(self)
        # Whoever asks may go on to change them.
        kept = dict(values) if isinstance(values, Mapping) else tuple(values)
        self._waiting.append(((sql, kept), answer))
        self._size += sum(map(_size, (sql, *(kept.values() if isinstance(kept, dict) else kept))))
        if self._size > MOST_WAITING:
            self.send()
        return answer

    def send(self) -> None:
        """Send what waits, and hand out what comes back; the first time, begin."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        first = () if self.sent else self._first
        if not (waiting or first):
            return
        found = self._found([*first, *(each for each, _ in waiting)])
        if first:
            self._begun(next(found[len(first) - 1][0]))
        for (_, answer), given in zip(waiting, found[len(first) :], strict=True):
            answer.arrived(given)

    def _found(self, asked: Sequence[Asked]) -> list[Found]:
        while True:
            wire = self._wire = self._wire or self._server.take()
            wire.suit(self.changes)
            try:
                found = wire.send(asked)
            except psycopg.OperationalError:
                if self.sent or wire.since is None or not wire.closed:
                    raise
                self._give_back()
            else:
                self.sent = True
                return found

    def commit(self) -> None:
        """Send what waits, and keep all of it."""
        # Until it has begun nobody knows whether it may.
        if not self.sent:
            self.send()
        self.ask("COMMIT")
        self.send()

    def end(self) -> None:
        """Forget what waits, and give the connection back; what was not committed is undone."""
        self._waiting = []
        if self._wire is not None:
            self._wire.end(self.last)
            self._give_back()

    def _give_back(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            self._server.give_back(wire)


def _size(value: object) -> int:
    return len(value) if isinstance(value, str | bytes | list) else 1


class Answer:
    """What a question gives. It is sent with those that were asked before it, once any of them is read."""

    __slots__ = ("_asking", "_found")

    def __init__(self, asking: Asking) -> None:
        self._asking: Asking = asking
        self._found: Found | None = None

    def arrived(self, found: Found) -> None:
        """Take what it gives."""
        self._found = found

    def _read(self) -> Found:
        if self._found is None:
            self._asking.send()
        if self._found is None:
            raise psycopg.InterfaceError("the transaction ended before what was asked in it was sent")
        return self._found

    @property
    def rowcount(self) -> int:
        return self._read()[1]

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._read()[0], None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._read()[0])

    def fetchmany(self, size: int = 1, /) -> list[tuple[Any, ...]]:
        return list(islice(self._read()[0], size))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._read()[0]
