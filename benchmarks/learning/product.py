"""The product itself in the world: its models, its shares, its choice of what to hand out, its fitting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.learning.world import Choice, Floats, Ints, Task, Vote, World
from reasoningbank.belief.belief import Belief, ConfidenceModel, Evidence
from reasoningbank.belief.calibrated import STARTING, CalibratedModel, Parameters
from reasoningbank.belief.effects import JudgedRun
from reasoningbank.belief.ema import EmaModel
from reasoningbank.belief.fitting import ProjectEvidence, fit, is_due
from reasoningbank.belief.spec import SignalWeights, SpecModel
from reasoningbank.config import Settings
from reasoningbank.search.cautious import Standings, cautious
from reasoningbank.search.ranking import UNKNOWN
from reasoningbank.search.relevance import about
from reasoningbank.search.selection import Prospects, chances, exploring, judged_and_votes, select
from reasoningbank.signals import SignalKind, Tally

START = datetime(2026, 1, 1, tzinfo=UTC)
FLOOR, COST = Settings().floor, Settings().lesson_cost

# The world's stand-in for the gate of the cautious choice: it lets 79 % of what is on topic pass and 3 % of the rest.
RELEVANT = 0.54

Key = tuple[SignalKind, int, str, bool]


@dataclass(frozen=True, slots=True)
class Served:
    """What was handed out for a task, as it was believed then; the world's similarity stands in for relevance."""

    memories: Ints
    confidences: list[float]
    relevance: list[float]

    def judged(self, succeeded: bool) -> JudgedRun:
        """Return the run with its verdict."""
        return JudgedRun(tuple(self.memories.tolist()), tuple(self.confidences), tuple(self.relevance), succeeded)


class Ledger:
    """A memory's tallies, folded as the bank folds them."""

    def __init__(self) -> None:
        self.tallies: dict[Key, Tally] = {}
        self.shown = 0

    def add(self, kind: SignalKind, day: int, amount: float, by: str = "", *, superseded: bool = False) -> None:
        """Add a signal for (or, with a negative amount, against)."""
        key = (kind, day, by, superseded)
        before = self.tallies.get(key)
        positive, negative = (before.positive, before.negative) if before else (0.0, 0.0)
        positive, negative = positive + max(0.0, amount), negative + max(0.0, -amount)
        self.tallies[key] = Tally(kind, day, "", by, positive, negative, START + timedelta(days=day), superseded)


class Banked:
    """A project as the bank keeps it, with beliefs computed when they are asked for."""

    def __init__(self, world: World, *, purity: bool = False, strict: bool = False) -> None:
        self.world, self.purity, self.strict = world, purity, strict
        self.initial: list[float] = world.initial.tolist()
        self.ledgers = [Ledger() for _ in self.initial]
        self.served: dict[int, Served] = {}
        self.model: ConfidenceModel = self.first_model()
        self.known: dict[int, Belief] = {}

    @property
    def learned(self) -> Parameters:
        """What the project taught about its evidence."""
        return STARTING

    def first_model(self) -> ConfidenceModel:
        """Return the model before anything was learned."""
        raise NotImplementedError

    def evidence(self, memory: int) -> Evidence:
        """Return what the model is told about a memory."""
        return list(self.ledgers[memory].tallies.values()), self.initial[memory]

    def beliefs(self, memories: Ints) -> list[Belief]:
        """Return beliefs; those that nothing happened to since the last time are kept."""
        numbers = [int(m) for m in memories]
        stale = [m for m in dict.fromkeys(numbers) if m not in self.known]
        self.known |= dict(zip(stale, self.model.beliefs([self.evidence(m) for m in stale]), strict=True))
        return [self.known[m] for m in numbers]

    def confidence(self, memories: Ints) -> Floats:
        """Return the predicted chance that each of the memories helps."""
        return np.array([belief.mean for belief in self.beliefs(memories)], dtype=np.float64)

    def choose(self, task: Task, k: int) -> Choice:
        """Choose as the bank's recall does, with its default policy or with the cautious one."""
        if self.purity or self.strict:
            return self._cautious(task, k)
        order = np.argsort(-about(task.similarity) * self._told(task.candidates), kind="stable")
        memories = task.candidates[order]
        beliefs, harms = self.beliefs(memories), dict(self.learned.harms)
        prospects = Prospects(
            about=chances(self.learned, about(task.similarity[order])),
            mean=np.array([belief.mean for belief in beliefs]),
            high=np.array([belief.high for belief in beliefs]),
            shown=np.array([self.ledgers[m].shown for m in memories.tolist()], dtype=np.int64),
            harm=np.array([harms.get(m, 0.0) for m in memories.tolist()]),
        )
        kind = task.kind[order]

        def same_as(row: int) -> Floats:
            same: Floats = np.asarray(kind == kind[row], dtype=np.float64)
            return same

        rows = select(prospects, same_as, k=k, cost=COST, explore=exploring(self.learned))
        return Choice(order[rows].tolist(), [False] * len(rows))

    def _told(self, memories: Ints) -> Floats:
        """Return what evidence says of the chance that each helps, as the ranking takes it."""
        judged = [judged_and_votes(self.ledgers[m].tallies.values())[0] for m in memories.tolist()]
        told: Floats = np.where(judged, self.confidence(memories), UNKNOWN)
        return told

    def _cautious(self, task: Task, k: int) -> Choice:
        places = np.flatnonzero(task.similarity >= RELEVANT)
        places = places[np.argsort(-task.similarity[places], kind="stable")]
        memories = task.candidates[places].tolist()
        beliefs = self.beliefs(task.candidates[places])
        known = [judged_and_votes(self.ledgers[m].tallies.values()) for m in memories]
        judged, votes = np.array(known, dtype=np.float64).reshape(-1, 2).T
        score = task.similarity[places]
        standings = Standings(
            score / score.max(initial=0.0),
            np.array([belief.mean for belief in beliefs]),
            np.array([belief.deviation for belief in beliefs]),
            np.array([self.ledgers[m].shown for m in memories], dtype=np.int64),
            judged > 0.0,
            votes < 0.0,
        )
        rows, _ = cautious(standings, k=k, floor=FLOOR, strict=self.strict)
        return Choice(places[rows].tolist(), (standings.mean[rows] < FLOOR).tolist())

    def hand_out(self, task: Task, places: list[int]) -> None:
        """Count the uses, and remember what was believed."""
        memories = task.candidates[places]
        relevance = about(task.similarity[places]).tolist()
        self.served[task.number] = Served(memories, self.confidence(memories).tolist(), relevance)
        for memory in memories.tolist():
            self.ledgers[memory].shown += 1
            self.ledgers[memory].add(SignalKind.USAGE, task.day, 1.0)
            self.known.pop(memory, None)

    def learn(self, task: Task, succeeded: bool, votes: list[Vote]) -> None:
        """Write the outcome, then the votes; a vote supersedes its own run's outcome."""
        served = self.served.pop(task.number)
        fits = chances(self.learned, np.array(served.relevance)).tolist()
        shares = self.model.shares(served.confidences, succeeded, fits)
        voted = {vote.place for vote in votes}
        for place, (memory, share) in enumerate(zip(served.memories.tolist(), shares, strict=True)):
            amount = share if succeeded else -share
            self.ledgers[memory].add(SignalKind.OUTCOME, task.day, amount, superseded=place in voted)
            self.known.pop(memory, None)
        for vote in votes:
            memory = int(served.memories[vote.place])
            self.ledgers[memory].add(SignalKind.EXPLICIT, task.day, 1.0 if vote.helpful else -1.0, vote.by)
        self.after(served, succeeded, votes)

    def after(self, _served: Served, _succeeded: bool, _votes: list[Vote]) -> None:
        """Learn about the evidence itself."""

    def weights(self) -> dict[str, float]:
        """Return how far each kind of evidence is trusted now, by name."""
        return {}


class Calibrated(Banked):
    """The default model, fitted to the project again and again."""

    def first_model(self) -> ConfidenceModel:
        self.parameters, self.runs, self.signals, self.fitted = STARTING, list[JudgedRun](), 0, 0
        return CalibratedModel(self.parameters)

    @property
    def learned(self) -> Parameters:
        return self.parameters

    def after(self, served: Served, succeeded: bool, votes: list[Vote]) -> None:
        self.runs.append(served.judged(succeeded))
        self.signals += 2 * len(served.memories) + len(votes)
        if is_due(self.signals, self.fitted):
            self.fitted = self.signals
            everything = [self.evidence(m) for m in range(len(self.ledgers))]
            self.parameters = fit(ProjectEvidence(everything, self.runs))
            self.model, self.known = CalibratedModel(self.parameters), {}

    def weights(self) -> dict[str, float]:
        p = self.parameters
        return {"accuracy": p.accuracy, "helped": p.helped, "unhelped": p.unhelped}


class Spec(Banked):
    """The spec model."""

    def first_model(self) -> ConfidenceModel:
        self.pairs = SignalWeights()
        return SpecModel(self.pairs)

    def after(self, _served: Served, succeeded: bool, votes: list[Vote]) -> None:
        for vote in votes:
            for kind in [SignalKind.USAGE] + [SignalKind.OUTCOME] * succeeded:
                self.pairs = self.pairs.taught(kind, vote.helpful, not vote.helpful)
            self.model, self.known = SpecModel(self.pairs), {}

    def weights(self) -> dict[str, float]:
        kinds = (SignalKind.EXPLICIT, SignalKind.USAGE, SignalKind.OUTCOME)
        return {kind.value: self.pairs.weight(kind) for kind in kinds}


class Ema(Banked):
    """The ema model: +20 % / -15 %."""

    def first_model(self) -> ConfidenceModel:
        return EmaModel()
