"""Rounds of upkeep in all projects of a fleet: one a day in each, by one process at a time."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

from reasoningbank.errors import ReasoningBankError
from reasoningbank.moments import shifted
from reasoningbank.services.engine import Engine
from reasoningbank.services.runs import distilling
from reasoningbank.services.runs.fleet import Fleet
from reasoningbank.services.runs.worker import kept_alive
from reasoningbank.services.upkeep.maintain import maintain
from reasoningbank.status import Maintained, Round
from reasoningbank.storage import due

log = logging.getLogger("reasoningbank")

EVERY = timedelta(days=1)
# A project whose upkeep failed is tried again.
LATER = timedelta(hours=1)


def rounds(fleet: Fleet) -> Iterator[Round]:
    """Do what is due, one project after the other; several processes share it out."""
    while (done := next_round(fleet)) is not None:
        yield done


def next_round(fleet: Fleet) -> Round | None:
    """Do the round of upkeep that is due first; None when none is, or others are at all that are."""
    token, now = str(uuid.uuid4()), fleet.clock()
    with fleet.place.due(fleet.tenant, "upkeep", now) as found:
        if found is None:
            return None
        due.begin_round(found.writing, token, now)
    name = found.tenant, found.project
    try:
        with fleet.opened(*name) as engine:
            return Round(*name, _done(engine, token))
    except ReasoningBankError as error:
        log.warning("the upkeep of %s could not be done: %s", fleet.place.where(*name), error)
        return Round(*name, problem=str(error))


def _done(engine: Engine, token: str) -> Maintained:
    then = LATER
    try:
        with kept_alive(partial(_due_in, engine, token, due.HOLD), f"the upkeep of {engine.where}"):
            done = maintain(engine, engine.now(), dry_run=False)
            distilling.forget(engine)
        then = EVERY
    finally:
        _due_in(engine, token, then)
    return done


def _due_in(engine: Engine, token: str, span: timedelta) -> bool:
    with engine.write(create=False) as edit:
        return due.next_round(edit, token, shifted(engine.now(), span))
