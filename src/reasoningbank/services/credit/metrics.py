"""How well a bank does, from its rows alone."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from itertools import groupby

from reasoningbank.belief.belief import SUCCESS_IF_HELPED, SUCCESS_IF_NOT, Beta
from reasoningbank.belief.spec import SignalWeights
from reasoningbank.errors import InvalidInputError
from reasoningbank.measures import criteria
from reasoningbank.measures.criteria import Calibration, Weighing
from reasoningbank.services.engine import Engine
from reasoningbank.signals import SignalKind
from reasoningbank.status import Metrics
from reasoningbank.storage import measures, parameters
from reasoningbank.storage.episodes import before

LONGEST_WINDOW = 36_500
WEIGHED = ("accuracy", "helped", "unhelped")


def metrics(engine: Engine, days: object) -> Metrics:
    """Return how well a bank did within the last `days`. Changes nothing.

    Raises:
        InvalidInputError: days is not a whole number from 1 to 36,500.
    """
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= LONGEST_WINDOW:
        raise InvalidInputError(f"days {days!r} is not a whole number from 1 to {LONGEST_WINDOW}")
    now = engine.now()
    since = before(now, timedelta(days=days))
    with engine.read() as connection:
        if connection is None:
            nothing = Calibration.of(())
            found = criteria.criteria((), now=now)
            return Metrics(since, now, engine.settings.confidence_model, found, nothing, nothing)
        return _metrics(connection, engine.settings.confidence_model, since, now)


def _metrics(connection: sqlite3.Connection, model: str, since: datetime, now: datetime) -> Metrics:
    runs, distilled = list(measures.past_runs(connection, since)), measures.distilled(connection, since)
    history = weights_over_time(connection, model)
    learned = parameters.learned(connection) if model == "calibrated" else None
    helped, unhelped = (learned["helped"], learned["unhelped"]) if learned else (SUCCESS_IF_HELPED, SUCCESS_IF_NOT)
    return Metrics(
        since=since,
        until=now,
        confidence_model=model,
        criteria=criteria.criteria(
            runs,
            failed_before=measures.failed_before(connection, since),
            distilled=distilled,
            history=history,
            now=now,
        ),
        votes=Calibration.of(criteria.voted(runs)),
        runs=Calibration.of(criteria.foretold(runs, helped, unhelped)),
        hit_rates=criteria.hit_rates(runs),
        yields=criteria.yields(distilled, measures.recorded(connection, since)),
        parameters=learned,
        weights=tuple(history),
    )


def weights_over_time(connection: sqlite3.Connection, model: str) -> list[Weighing]:
    """Return how far each kind of evidence was trusted, oldest first: a row for each fit, or each day with votes."""
    if model == "calibrated":
        return [
            Weighing(each.at, {name: getattr(each.parameters, name) for name in WEIGHED})
            for each in parameters.history(connection)
        ]
    return _signal_weights(connection) if model == "spec" else []


def _signal_weights(connection: sqlite3.Connection) -> list[Weighing]:
    pairs = {kind: getattr(SignalWeights(), kind.value) for kind in SignalKind}
    rows = []
    for day, votes in groupby(measures.validated(connection), key=lambda row: row[0]):
        for _, kind, confirmed, refuted in votes:
            pair = pairs[SignalKind(kind)]
            pairs[SignalKind(kind)] = Beta(pair.alpha + confirmed, pair.beta + refuted)
        weights = SignalWeights(**{kind.value: pair for kind, pair in pairs.items()})
        shown = {kind.value: weights.weight(kind) for kind in SignalKind}
        rows.append(Weighing(datetime.fromtimestamp(day * 86_400, UTC), shown))
    return rows
