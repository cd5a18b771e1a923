"""What is due in all projects of a server, shared out among processes that nobody else coordinates."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg

from reasoningbank.errors import ReasoningBankError, ScopeError
from reasoningbank.moments import shifted
from reasoningbank.signals import parse_time, time_text
from reasoningbank.storage.due import AHEAD, Found
from reasoningbank.storage.postgres import transaction
from reasoningbank.storage.postgres.schema import CHANNEL, EVERY_TENANT
from reasoningbank.storage.postgres.transaction import Scope
from reasoningbank.storage.postgres.wire import Wire
from reasoningbank.storage.sharing import reserved

if TYPE_CHECKING:
    from collections.abc import Callable

    from reasoningbank.address import ServerAddress
    from reasoningbank.storage.due import Work
    from reasoningbank.storage.postgres.server import Server
    from reasoningbank.storage.postgres.transaction import PostgresWriting

LONGEST = 60.0  # seconds without a look, where the server wakes who waits: a bell may be lost with a connection
SOON = 0.05  # seconds until the next look where others are at what is due
_SLICE = 0.25  # seconds in which a worker that is told to stop does

# Shared banks have no queue, and are kept by whoever looks after them.
_NEXT = (
    "SELECT number, tenant, name FROM projects WHERE {due} {when} AND NOT starts_with(name, :reserved){of} "
    "ORDER BY {due} LIMIT 1 FOR UPDATE SKIP LOCKED"
)
_MAY = (
    "SELECT EXISTS (SELECT 1 FROM pg_policy, unnest(polroles) AS of_role WHERE polrelid = 'projects'::regclass "
    f"AND polname = '{EVERY_TENANT}' AND pg_has_role(of_role, 'USAGE'))"
)


@contextmanager
def due(server: Server, tenant: str | None, work: Work, now: datetime) -> Iterator[Found | None]:
    """Give the project of which something was due first, of those that nobody writes to; `Place.due` says more."""
    with transaction.writing(server, Scope(tenant or "", 0), "normal") as writing:
        may = None if tenant is not None else writing.execute(_MAY)
        row = _next(writing, tenant, work, "<=", now)
        if row is None and work == "upkeep":
            row = _next(writing, tenant, work, ">", shifted(now, AHEAD))
        if may is not None:
            _check(may.fetchone(), server.address)
        if row is None:
            yield None
            return
        number, owner, project = row
        writing.go_to(Scope(owner, number))
        yield Found(owner, project, writing)


def _next(writing: PostgresWriting, tenant: str | None, work: Work, when: str, at: datetime) -> Any:
    asked = _NEXT.format(due=f"{work}_due", when=f"{when} :at", of="" if tenant is None else " AND tenant = :tenant")
    named = {"at": time_text(at), "reserved": reserved("")} | ({} if tenant is None else {"tenant": tenant})
    return writing.execute(asked, named).fetchone()


def _check(may: tuple[bool] | None, address: ServerAddress) -> None:
    if may != (True,):
        raise ScopeError(
            f"the role that logs in at {address} may not see what is due for every tenant: name one, or let the "
            "schema's owner run `reasoningbank server init` with this role as --fleet"
        )


class Line:
    """Rings when a job was put, and when one is due; `Bell` says what its calls do.

    It holds a connection of its own, on which the server tells of jobs. Behind a pooler that lends a session to each
    transaction nothing can be told: there it rings after a while.
    """

    def __init__(self, server: Server, tenant: str | None, clock: Callable[[], datetime]) -> None:
        self._server, self._tenant, self._clock = server, tenant, clock
        self._wire: Wire | None = None
        self._is_told = True

    def wait(self, stop: threading.Event, poll: float) -> None:
        try:
            if self._wire is None and self._is_told:
                self._wire = self._listening()
                # What was put before is looked for once more: nobody told of it.
                return
            if self._wire is not None:
                self._wait(self._wire, stop)
                return
        except (psycopg.Error, ReasoningBankError):
            # The next one listens anew.
            self.close()
        stop.wait(poll)

    def _listening(self) -> Wire | None:
        wire = Wire(self._server.address, self._server.busy_timeout)
        try:
            wire.send([(f"LISTEN {CHANNEL}", ())])
        except BaseException:
            wire.close()
            raise
        self._is_told = wire.is_own_session
        if self._is_told:
            return wire
        wire.close()
        return None

    def _wait(self, wire: Wire, stop: threading.Event) -> None:
        until = time.monotonic() + self._rest()
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            if wire.is_told(min(left, _SLICE)):
                return

    def _rest(self) -> float:
        """Return the seconds until something is due; where it is already, another is at that project."""
        with transaction.reading(self._server, Scope(self._tenant or "", 0)) as reading:
            first = reading.execute("SELECT min(jobs_due) FROM projects").fetchone()
        if first is None or first[0] is None:
            return LONGEST
        return min(LONGEST, max(SOON, (parse_time(first[0]) - self._clock()).total_seconds()))

    def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
