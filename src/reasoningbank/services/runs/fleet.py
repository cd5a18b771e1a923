"""The jobs of all projects of a tenant, or of every tenant: whichever of several processes is free takes the next."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank.errors import ReasoningBankError, ScopeError
from reasoningbank.storage import jobs

if TYPE_CHECKING:
    from reasoningbank.runs.jobs import Held
    from reasoningbank.services.engine import Engine
    from reasoningbank.storage.due import Bell
    from reasoningbank.storage.place import Place

log = logging.getLogger("reasoningbank")


class Fleet(NamedTuple):
    """Whose projects they are, and how they are reached.

    Attributes:
        tenant: None for every tenant.
        opened: gives a project's engine, by tenant and project, open as long as the block lasts.
    """

    place: Place
    tenant: str | None
    clock: Callable[[], datetime]
    opened: Callable[[str, str], AbstractContextManager[Engine]]


class EveryProject:
    """The queues of a fleet's projects; `worker.Source` says what its calls do."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._bell: Bell | None = None

    def check(self) -> None:
        try:
            with self._fleet.place.due(self._fleet.tenant, "jobs", self._fleet.clock()):
                pass
        except ScopeError:
            raise
        except ReasoningBankError as error:
            # A server that is away may be there at the next look.
            log.warning("the worker could not reach its queue yet: %s", error)

    def begin(self) -> None:
        """Forget nothing: that is the upkeep's."""

    @contextmanager
    def taken(self) -> Iterator[tuple[Engine, Held] | None]:
        token = str(uuid.uuid4())
        while True:
            now = self._fleet.clock()
            with self._fleet.place.due(self._fleet.tenant, "jobs", now) as found:
                held = None if found is None else jobs.take(found.writing, token=token, now=now)
            if found is None:
                yield None
                return
            # What killed all its workers was ended by that look.
            if held is not None:
                with self._fleet.opened(found.tenant, found.project) as engine:
                    yield engine, held
                return

    def wait(self, stop: threading.Event, poll: float) -> None:
        if self._bell is None:
            self._bell = self._fleet.place.bell(self._fleet.tenant, self._fleet.clock)
        self._bell.wait(stop, poll)

    def end(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None:
            bell.close()
