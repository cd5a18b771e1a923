"""Real outcomes of agents on repeated tasks: predict the next outcome of a task from those before it.

Each task is a memory that is recalled alone for each of its runs, and nobody votes. Half of the tasks are the project's
past, from which parameters are learned; the other half is predicted, run by run, from the second on. The runs of a task
are by different agents, so that their order is shuffled; the figures are means over shuffles.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.learning.methods import wilson_lower
from benchmarks.learning.product import START
from reasoningbank.belief.belief import ConfidenceModel
from reasoningbank.belief.calibrated import STARTING, CalibratedModel, Parameters
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.ema import EmaModel
from reasoningbank.belief.fitting import ProjectEvidence, fit, is_due
from reasoningbank.belief.spec import SpecModel
from reasoningbank.measures.reliability import Prediction
from reasoningbank.signals import SignalKind, Tally

INITIAL = 0.6
SHUFFLES = 20

Outcomes = tuple[bool, ...]
Predictor = Callable[[Outcomes], float]


def outcomes_of(path: Path) -> list[Outcomes]:
    """Read the outcomes of each task: a line of JSON each, with "outcomes": [1, 0, ...]."""
    lines = path.read_text("utf-8").splitlines()
    return [tuple(bool(o) for o in json.loads(line)["outcomes"]) for line in lines if line.strip()]


def predictions(tasks: Sequence[Outcomes], shuffle: int) -> dict[str, list[Prediction]]:
    """Return what each method predicts in one shuffle of tasks and runs."""
    random = np.random.default_rng(shuffle)
    order = random.permutation(len(tasks))
    mixed = [tuple(tasks[i][j] for j in random.permutation(len(tasks[i]))) for i in order]
    past, future = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
    found = {}
    for name, predictor in predictors(past).items():
        known: dict[Outcomes, float] = {}
        rows = []
        for task in future:
            for t in range(1, len(task)):
                seen = task[:t]
                if seen not in known:
                    known[seen] = predictor(seen)
                rows.append(Prediction(known[seen], task[t]))
        found[name] = rows
    return found


def predictors(past: Sequence[Outcomes]) -> dict[str, Predictor]:
    """Return every method, fitted to the past where it learns at all."""
    a, b = empirical_bayes(past)
    parameters = learned(past)
    calibrated = CalibratedModel(parameters)

    def success(seen: Outcomes) -> float:
        helps = believed(calibrated, seen)
        return parameters.helped * helps + parameters.unhelped * (1.0 - helps)

    return {
        "no_confidence": lambda _seen: INITIAL,
        "fixed_deltas": lambda seen: min(1.0, INITIAL + 0.1 * sum(seen)),
        "ema": lambda seen: believed(EmaModel(), seen, initial=0.5),
        "spec": lambda seen: believed(SpecModel(), seen),
        "outcome_counts": lambda seen: (2.0 * INITIAL + sum(seen)) / (2.0 + len(seen)),
        "wilson": lambda seen: float(wilson_lower(np.array(sum(seen)), np.array(len(seen)))),
        "empirical_bayes": lambda seen: (a + sum(seen)) / (a + b + len(seen)),
        "calibrated": success,
    }


def believed(model: ConfidenceModel, seen: Outcomes, *, initial: float = INITIAL) -> float:
    """Return the confidence in a memory after these runs, one a day."""
    return model.beliefs([(tallies(seen), initial)])[0].mean


def tallies(seen: Outcomes) -> list[Tally]:
    """Return the tallies of a memory recalled alone, all on one day, or one a day where their order matters."""
    return [Tally(SignalKind.OUTCOME, day, "", "", float(ok), float(not ok), START) for day, ok in enumerate(seen)]


def learned(past: Sequence[Outcomes]) -> Parameters:
    """Live through the past as a bank does: recall, report, and fit again when it is due."""
    parameters, runs, signals, fitted = STARTING, list[JudgedRun](), 0, 0
    length = max(map(len, past))
    for t in range(length):
        for number, task in enumerate(past):
            if t >= len(task):
                continue
            confidence = believed(CalibratedModel(parameters), task[:t])
            runs.append(JudgedRun((number,), (confidence,), (1.0,), task[t]))
            signals += 2
            if is_due(signals, fitted):
                fitted = signals
                seen = [task[: t + (i <= number)] for i, task in enumerate(past)]
                parameters = fit(ProjectEvidence([(tallies(s), INITIAL) for s in seen], runs))
    return parameters


def empirical_bayes(past: Sequence[Outcomes]) -> tuple[float, float]:
    """Return the Beta that fits the tasks' success rates, by moments."""
    rates, sizes = np.array([np.mean(task) for task in past]), np.array([len(task) for task in past])
    mean = float(np.average(rates, weights=sizes))
    variance, runs = float(np.average((rates - mean) ** 2, weights=sizes)), float(sizes.mean())
    most = mean * (1.0 - mean)
    alike = min(0.95, max(1e-3, (variance - most / runs) / (most * (1.0 - 1.0 / runs))))
    strength = 1.0 / alike - 1.0
    return mean * strength, (1.0 - mean) * strength
