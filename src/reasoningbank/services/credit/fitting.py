"""When the confidence model's parameters are fitted to a project, and to what of it."""

from __future__ import annotations

import logging
import sqlite3

from reasoningbank.belief.fitting import ProjectEvidence, RunMoments, fit, is_due
from reasoningbank.errors import StorageError
from reasoningbank.services.engine import Engine
from reasoningbank.storage import parameters, records
from reasoningbank.storage.parameters import Fit
from reasoningbank.storage.stored_vectors import MEMORIES

# A fit takes a third of a second with so many, whatever the bank's size; more would say nothing new.
MOST_MEMORIES = 2_000
MOST_RUNS = 5_000

log = logging.getLogger(__name__)


def fit_is_due(engine: Engine, connection: sqlite3.Connection) -> bool:
    """Tell whether enough has happened since the last time, as the caller's transaction sees it."""
    return engine.settings.confidence_model == "calibrated" and is_due(
        MEMORIES.newest(connection), engine.fitted_to(connection)
    )


def fit_again(engine: Engine) -> bool:
    """Fit the parameters, unless another process just did; tell whether they were.

    It comes after something was reported, which stands whatever becomes of the fit: one that cannot be stored is
    tried again after the next report.
    """
    try:
        return _fit(engine)
    except StorageError as error:
        log.warning("the confidence model's parameters were not fitted this time: %s", error)
        return False


def _fit(engine: Engine) -> bool:
    with engine.read() as connection:
        if connection is None or not fit_is_due(engine, connection):
            return False
        number, change = parameters.newest_number(connection), MEMORIES.newest(connection)
        evidence = _evidence(engine, connection)
    return put_into_force(engine, Fit(fit(evidence), change, engine.now()), after=number)


def put_into_force(engine: Engine, found: Fit, *, after: int) -> bool:
    """Store a fit unless another process was faster than number `after`: its fit is as good."""
    with engine.write_existing() as opened:
        if opened is None or parameters.newest_number(opened[1]) != after:
            return False
        parameters.add(opened[1], found)
    return True


def _evidence(engine: Engine, connection: sqlite3.Connection) -> ProjectEvidence:
    numbers = parameters.judged_last(connection, MOST_MEMORIES)
    stored = records.load(connection, numbers, engine.project_name).values()
    runs = RunMoments.of(parameters.judged_runs(connection, MOST_RUNS))
    return ProjectEvidence([(s.tallies, s.memory.initial_confidence) for s in stored], runs)
