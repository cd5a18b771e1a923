"""Mistakes made again: does the bank keep handing out the lessons that prevent them?

80 pitfalls recur (the n-th with chance proportional to 1 / n) over 2,000 tasks; a pitfall trips an agent with chance
0.7. A mistake is distilled with chance 0.6 into a lesson from a failure (it starts at 0.5). From then on retrieval
finds it with a given chance; if it is handed out, it prevents the mistake with a given chance, its effect. Nobody
votes. With a lesson of effect 0.3 a run still fails half of the time, and yet the lesson is worth having.
"""

from __future__ import annotations

import numpy as np

from benchmarks.learning.product import COST, Ledger
from reasoningbank.belief.belief import Belief
from reasoningbank.belief.calibrated import STARTING, CalibratedModel
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.fitting import ProjectEvidence, fit, is_due
from reasoningbank.belief.spec import SpecModel
from reasoningbank.search.selection import Prospects, exploring, select
from reasoningbank.signals import SignalKind

PITFALLS = 80
TASKS = 2000
DAYS = 60
INITIAL = 0.5
FLOOR = 0.7
EFFECTS = (0.3, 0.6)
# How often the right lesson is among the first five: benchmarks.quality, mean over the retrieval sets.
HIT_RATE = 0.86


class Never:
    """No memory at all."""

    def hands_out(self, pitfall: int) -> bool:  # noqa: ARG002 - what others look at
        """Tell whether the lesson that was found is handed out."""
        return False

    def learn(self, pitfall: int | None, failed: bool, day: int) -> None:
        """See how a run ended; `pitfall` is the lesson that was handed out for it, if any."""


class Always(Never):
    """Whatever is found is handed out."""

    def hands_out(self, pitfall: int) -> bool:  # noqa: ARG002
        return True


class Gate(Never):
    """The spec model behind its hard floor."""

    def __init__(self) -> None:
        self.ledgers = [Ledger() for _ in range(PITFALLS)]

    def hands_out(self, pitfall: int) -> bool:
        tallies = list(self.ledgers[pitfall].tallies.values())
        return SpecModel().beliefs([(tallies, INITIAL)])[0].mean >= FLOOR

    def learn(self, pitfall: int | None, failed: bool, day: int) -> None:
        if pitfall is not None:
            self.ledgers[pitfall].shown += 1
            self.ledgers[pitfall].add(SignalKind.USAGE, day, 1.0)
            self.ledgers[pitfall].add(SignalKind.OUTCOME, day, -1.0 if failed else 1.0)


class Bank(Gate):
    """The default model and the recall policy, fitted again and again. What is found is surely about the task."""

    def __init__(self) -> None:
        super().__init__()
        self.parameters, self.model = STARTING, CalibratedModel()
        self.runs: list[JudgedRun] = []
        self.signals, self.fitted = 0, 0
        self.known: dict[int, Belief] = {}

    def belief(self, pitfall: int) -> Belief:
        """Return the belief about a lesson."""
        if pitfall not in self.known:
            tallies = list(self.ledgers[pitfall].tallies.values())
            self.known[pitfall] = self.model.beliefs([(tallies, INITIAL)])[0]
        return self.known[pitfall]

    def hands_out(self, pitfall: int) -> bool:
        belief, harms = self.belief(pitfall), dict(self.parameters.harms)
        facts = (1.0, belief.mean, belief.high, self.ledgers[pitfall].shown, harms.get(pitfall, 0.0))
        alone = Prospects(*(np.array([fact]) for fact in facts))
        found = select(alone, lambda _: np.ones(1), k=3, cost=COST, explore=exploring(self.parameters))
        return bool(len(found))

    def learn(self, pitfall: int | None, failed: bool, day: int) -> None:
        if pitfall is not None:
            self.runs.append(JudgedRun((pitfall,), (self.belief(pitfall).mean,), (1.0,), not failed))
        super().learn(pitfall, failed, day)
        if pitfall is not None:
            self.known.pop(pitfall, None)
            self.signals += 2
        if is_due(self.signals, self.fitted):
            self.fitted = self.signals
            evidence = [(list(ledger.tallies.values()), INITIAL) for ledger in self.ledgers]
            self.parameters = fit(ProjectEvidence(evidence, self.runs))
            self.model, self.known = CalibratedModel(self.parameters), {}


METHODS = {"no_memory": Never, "all_that_is_found": Always, "spec_gate": Gate, "calibrated": Bank}


def repeated(method: Never, effect: float, seed: int) -> int:
    """Return how many mistakes are made that were made before."""
    random = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, PITFALLS + 1)
    lesson, made = np.zeros(PITFALLS, bool), np.zeros(PITFALLS, bool)
    again = 0
    for number in range(TASKS):
        pitfall = int(random.choice(PITFALLS, p=chance / chance.sum()))
        found, trips, prevented, distilled = random.random(4)
        shown = bool(lesson[pitfall]) and found < HIT_RATE and method.hands_out(pitfall)
        failed = trips < 0.7 and not (shown and prevented < effect)
        method.learn(pitfall if shown else None, bool(failed), number * DAYS // TASKS)
        if failed:
            again += bool(made[pitfall])
            made[pitfall] = True
            lesson[pitfall] |= distilled < 0.6
    return again


def prevented(name: str, seed: int) -> dict[str, float | None]:
    """Return the share of the repeated mistakes that a method prevents, by effect of the lessons."""
    return {
        f"effect {effect}": 1.0 - repeated(METHODS[name](), effect, seed) / repeated(Never(), effect, seed)
        for effect in EFFECTS
    }
