"""What is due in the projects of a place: jobs, and a round of upkeep. Processes that look for it share it out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from reasoningbank.errors import ProjectMovedError, ReasoningBankError
from reasoningbank.moments import shifted
from reasoningbank.runs.jobs import LEASE
from reasoningbank.signals import time_text
from reasoningbank.storage import jobs, meta

if TYPE_CHECKING:
    from reasoningbank.storage.contract import Reading, Writing
    from reasoningbank.storage.place import Folder, Project

log = logging.getLogger("reasoningbank")

Work: TypeAlias = Literal["jobs", "upkeep"]

PATIENCE = 1.0  # seconds to wait for a project that others write to: there is work elsewhere
HOLD = LEASE
"""So long a round is held, unless it is renewed."""

AHEAD = timedelta(days=2)
"""A round that is due later than that was put off by a clock that was wrong: it is not waited for."""

# When the next round of a project is due, and who is at it.
UPKEEP_DUE, _TOKEN = "upkeep_due", "upkeep_token"


class Found(NamedTuple):
    """A project in which something is due, and what may change it."""

    tenant: str
    project: str
    writing: Writing


class Bell(Protocol):
    """What workers wait for when nothing is due."""

    def wait(self, stop: threading.Event, poll: float) -> None:
        """Return when it is worth while to look again, or at once when `stop` is set.

        Without anything that wakes it, that is after `poll` seconds.
        """

    def close(self) -> None:
        """Wait for nothing any more."""


# -- rounds of upkeep ------------------------------------------------------------------------------------------------


def begin_round(writing: Writing, token: str, now: datetime) -> None:
    """Take the place of whoever does a round, for `HOLD`."""
    meta.put(writing, UPKEEP_DUE, time_text(shifted(now, HOLD)))
    meta.put(writing, _TOKEN, token)


def next_round(writing: Writing, token: str, due: datetime) -> bool:
    """Say when a round is due that nobody does before; False when another process holds that place now."""
    if meta.read(writing).get(_TOKEN) != token:
        return False
    meta.put(writing, UPKEEP_DUE, time_text(due))
    return True


def _is_due(reading: Reading, work: Work, now: datetime) -> bool:
    if work == "jobs":
        return jobs.is_due(reading, now)
    next_one = meta.read(reading).get(UPKEEP_DUE, "")
    return next_one <= time_text(now) or next_one > time_text(shifted(now, AHEAD))


# -- folders ---------------------------------------------------------------------------------------------------------


@contextmanager
def in_folders(place: Folder, tenant: str | None, work: Work, now: datetime) -> Iterator[Found | None]:
    """Give the first project, by names, in which something is due; `Place.due` says more."""
    for owner in place.tenants() if tenant is None else [tenant]:
        for project in place.projects(owner):
            opened = _opened(place, owner, project, work, now)
            if opened is not None:
                with closing(opened), opened.write() as writing:
                    yield Found(owner, project, writing)
                return
    yield None


def _opened(place: Folder, tenant: str, project: str, work: Work, now: datetime) -> Project | None:
    """Open a project if something is due there. One that cannot be read keeps nobody from the others."""
    opened: Project | None = None
    try:
        opened = place.open(tenant, project, durability="normal", busy_timeout=PATIENCE)
        if opened is not None and not opened.read_only:
            with opened.read() as reading:
                if _is_due(reading, work, now):
                    return opened
    except ProjectMovedError:
        pass
    except ReasoningBankError as error:
        log.warning("what is due in %s cannot be told: %s", place.where(tenant, project), error)
    if opened is not None:
        opened.close()
    return None


class Clockwork:
    """Rings after a while, whatever happened; `Bell` says what its calls do."""

    def wait(self, stop: threading.Event, poll: float) -> None:
        stop.wait(poll)

    def close(self) -> None:
        """Nothing was opened."""
