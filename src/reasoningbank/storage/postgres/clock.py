"""The time by which all processes that share a server go, whose own clocks may be wrong."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from reasoningbank.errors import ReasoningBankError

log = logging.getLogger("reasoningbank")

TOLERATED = timedelta(seconds=10)  # between a process's clock and the server's, the time of a trip included


class Seen(NamedTuple):
    """What time it was when the server told it: there, by the process's clock, and by one that is never set."""

    at: datetime
    own: datetime
    then: float

    @property
    def ahead(self) -> timedelta:
        """How far the process's clock was ahead."""
        return self.own - self.at

    @property
    def since(self) -> timedelta:
        """What passed since, but for the time that the machine slept."""
        return timedelta(seconds=time.monotonic() - self.then)


class ServerTime:
    """A process's own clock while it agrees with a server's; otherwise what that told last, and what passed since."""

    def __init__(self) -> None:
        self._own: Callable[[], datetime] | None = None
        self._seen: Seen | None = None

    def saw(self, at: datetime) -> None:
        """Take the time that the server told just now."""
        if self._own is None:
            return
        before, self._seen = self._seen, Seen(at.astimezone(UTC), self._own(), time.monotonic())
        if abs(self._seen.ahead) > TOLERATED and (before is None or abs(before.ahead) <= TOLERATED):
            log.warning("the clock of this process is %s ahead of the server's, whose time is used", self._seen.ahead)

    def clock(self, own: Callable[[], datetime], ask: Callable[[], object]) -> Callable[[], datetime]:
        """Return the clock to go by, of a process with a clock of its own.

        `ask` lets the server tell what time it is, and raises ReasoningBankError where it cannot.
        """
        self._own = own

        def now() -> datetime:
            # It was set, or the machine slept.
            if self._seen is None or abs(own() - self._seen.own - self._seen.since) > TOLERATED:
                try:
                    ask()
                except ReasoningBankError as error:
                    # Whatever needs the server finds that out by itself.
                    log.debug("what time it is there cannot be told: %s", error)
            seen = self._seen
            return own() if seen is None or abs(seen.ahead) <= TOLERATED else seen.at + seen.since

        return now
