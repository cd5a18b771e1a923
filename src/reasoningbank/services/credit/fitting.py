"""When the confidence model's parameters are fitted to a project, and to what of it."""

from __future__ import annotations

import logging
import math

from reasoningbank.belief.fitting import ProjectEvidence, fit, is_due
from reasoningbank.belief.worlds import Start
from reasoningbank.errors import StorageError
from reasoningbank.moments import FIRST
from reasoningbank.services.engine import Engine
from reasoningbank.services.view import View
from reasoningbank.signals import SignalKind, Tally
from reasoningbank.storage import fits, parameters, trials
from reasoningbank.storage.parameters import Fit
from reasoningbank.storage.replica import PREFIX

# A fit takes a third of a second with so many, whatever the bank's size; more would say nothing new.
MOST_MEMORIES = 2_000
MOST_RUNS = 5_000

log = logging.getLogger(__name__)


def fit_is_due(view: View, change: int) -> bool:
    """Tell whether enough has happened between the last fit and a change of the project."""
    engine = view.engine
    return engine.settings.confidence_model == "calibrated" and is_due(change, engine.models.fitted_to(view))


def fit_again(engine: Engine, start: Start | None = None) -> bool:
    """Fit the parameters where that is due, unless another process just did; tell whether they were.

    With a start they are fitted in any case, and fits start there from now on. It comes after something was reported,
    which stands whatever becomes of the fit: one that cannot be stored is tried again after the next report.
    """
    try:
        with engine.read() as view:
            change, after = view.moment.change, engine.models.fitted_to(view)
            if start is None and not fit_is_due(view, change):
                return False
            begin = engine.models.start(view) if start is None else start
            stored = view.load(parameters.judged_last(view, MOST_MEMORIES)).values()
            runs = parameters.judged_runs(view, MOST_RUNS)
            drawn = trials.trials(view, FIRST, MOST_RUNS)
        memories = engine.models.evidence(stored)
        elsewhere = math.fsum(t.positive for tallies, _ in memories for t in tallies if _is_use_elsewhere(t))
        found = fit(ProjectEvidence(memories, runs, drawn, elsewhere), begin)
        return put_into_force(engine, Fit(found, change, engine.now()), after=after, start=start)
    except StorageError as error:
        log.warning("the confidence model's parameters were not fitted this time: %s", error)
        return False


def _is_use_elsewhere(tally: Tally) -> bool:
    return tally.kind is SignalKind.USAGE and tally.source.startswith(PREFIX)


def put_into_force(engine: Engine, found: Fit, *, after: int, start: Start | None = None) -> bool:
    """Store a fit, and where it started if that is new, unless another process fitted after change `after`."""
    with engine.write(create=False) as edit:
        if engine.models.fitted_to(edit) != after:
            return False
        fits.learn(edit, found)
        if start is not None:
            parameters.put_start(edit, start, found.change)
    return True
