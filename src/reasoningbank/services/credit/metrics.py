"""How well a bank does, from its rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import NamedTuple

from reasoningbank.belief.spec import SignalWeights
from reasoningbank.measures import criteria
from reasoningbank.measures.criteria import DistilledRun, PastRun, Weighing
from reasoningbank.measures.reliability import Calibration
from reasoningbank.moments import shifted
from reasoningbank.search.selection import success
from reasoningbank.services.engine import Engine
from reasoningbank.signals import SignalKind
from reasoningbank.status import Metrics, Period
from reasoningbank.storage import measures, meta, parameters, sharing
from reasoningbank.storage.contract import Reading

WEIGHED = ("accuracy", "helped", "unhelped")


def metrics(engine: Engine, days: int, parts: int = 0) -> Metrics:
    """Return how well a bank did within the last `days`, and in each of so many parts of them. Changes nothing."""
    now = engine.now()
    since = shifted(now, -timedelta(days=days))
    model = engine.settings.confidence_model
    with engine.read() as view:
        runs, distilled = list(measures.past_runs(view, since)), measures.distilled(view, since)
        late = meta.late_recalls(view, since) + engine.deadlines.late
        failed_before, recorded = measures.failed_before(view, since), measures.recorded(view, since)
        history, by_day = weights_over_time(view, model), measures.runs_by_day(view, since)
        shared = sharing.handed_since(view, since)
        learned, in_force = parameters.learned(view) if model == "calibrated" else None, view.model.parameters

    def expected(run: PastRun) -> float:
        return success(in_force, [h.confidence for h in run.handed_out], [h.about for h in run.handed_out])

    return Metrics(
        since=since,
        until=now,
        confidence_model=model,
        success=criteria.success(runs, expected, in_force.unhelped),
        criteria=criteria.criteria(runs, failed_before=failed_before, distilled=distilled, history=history, now=now),
        votes=Calibration.of(criteria.voted(runs)),
        runs=Calibration.of(criteria.foretold(runs, expected)),
        hit_rates=criteria.hit_rates(runs, late),
        yields=criteria.yields(distilled, recorded),
        parameters=learned,
        weights=tuple(history),
        days=tuple(by_day),
        shared=shared,
        trend=tuple(_trend(_Seen(runs, failed_before, distilled, history), expected, since, now, parts)),
    )


class _Seen(NamedTuple):
    runs: list[PastRun]
    failed_before: set[str]
    distilled: list[DistilledRun]
    history: list[Weighing]


def _trend(
    seen: _Seen, expected: Callable[[PastRun], float], since: datetime, now: datetime, parts: int
) -> Iterator[Period]:
    """Yield the figures of each part of the window; what happened at its end belongs to the next."""
    failed = set(seen.failed_before)
    bounds = [since + (now - since) * part / parts for part in range(parts)] + [shifted(now, timedelta(microseconds=1))]
    for begin, end in pairwise(bounds):
        runs = [run for run in seen.runs if begin <= run.at < end]
        measured = criteria.criteria(
            runs,
            failed_before=failed,
            distilled=[run for run in seen.distilled if run.at is not None and begin <= run.at < end],
            history=[each for each in seen.history if each.at < end],
            now=min(end, now),
        )
        failed |= {run.task for run in runs if run.succeeded is False}
        votes, lived = Calibration.of(criteria.voted(runs)), Calibration.of(criteria.foretold(runs, expected))
        yield Period(begin, min(end, now), measured, votes, lived)


def weights_over_time(reading: Reading, model: str) -> list[Weighing]:
    """Return how far each kind of evidence was trusted, oldest first: a row for each fit, or each day with votes."""
    if model == "calibrated":
        return [
            Weighing(each.at, {name: getattr(each.parameters, name) for name in WEIGHED})
            for each in parameters.history(reading)
        ]
    return _signal_weights(reading) if model == "spec" else []


def _signal_weights(reading: Reading) -> list[Weighing]:
    weights, rows = SignalWeights(), []
    for day, votes in groupby(measures.validated(reading), key=lambda row: row[0]):
        for _, kind, confirmed, refuted in votes:
            weights = weights.taught(SignalKind(kind), confirmed, refuted)
        shown = {kind.value: weights.weight(kind) for kind in SignalKind}
        rows.append(Weighing(datetime.fromtimestamp(day * 86_400, UTC), shown))
    return rows
