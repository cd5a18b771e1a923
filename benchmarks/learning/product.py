"""The product itself in the world: its models, its shares, its ranking, its recall policy, its fitting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.learning.world import Choice, Floats, Ints, Task, Vote, World
from reasoningbank.belief.belief import Belief, ConfidenceModel, Evidence
from reasoningbank.belief.calibrated import STARTING, CalibratedModel
from reasoningbank.belief.ema import EmaModel
from reasoningbank.belief.fitting import ProjectEvidence, RunMoments, fit, is_due
from reasoningbank.belief.spec import SignalWeights, SpecModel
from reasoningbank.search.ranking import Candidates, relevance_parts, total
from reasoningbank.search.relevance import scaled
from reasoningbank.search.selection import Prospects, judged_and_blamed, select
from reasoningbank.signals import SignalKind, Tally

START = datetime(2026, 1, 1, tzinfo=UTC)
FLOOR = 0.7

# The world's stand-in for retrieval's relevance gate: it lets 79 % of what is on topic pass and 3 % of what is not.
RELEVANT = 0.54

Key = tuple[SignalKind, int, str, bool]


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that ended: the confidences of its memories at recall, its success, and the votes about them."""

    confidences: list[float]
    succeeded: bool
    votes: list[Vote]


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

    def __init__(self, world: World, *, floor: float = FLOOR, strict: bool = False) -> None:
        self.world, self.floor, self.strict = world, floor, strict
        self.initial: list[float] = world.initial.tolist()
        self.ledgers = [Ledger() for _ in self.initial]
        self.model: ConfidenceModel = self.first_model()
        self.known: dict[int, Belief] = {}

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
        return np.array([belief.mean for belief in self.beliefs(memories)])

    def choose(self, task: Task, k: int) -> Choice:
        """Rank as the bank ranks by default, and choose as its recall does."""
        similarity = task.similarity.astype(np.float32)
        relevance = scaled(similarity, least_spread=0.0).astype(np.float64)
        places = np.flatnonzero(similarity >= RELEVANT)
        memories = task.candidates[places]
        beliefs = self.beliefs(memories)
        mean, deviation = (np.array([getattr(b, name) for b in beliefs]) for name in ("mean", "deviation"))
        shown = np.array([self.ledgers[m].shown for m in memories.tolist()], dtype=np.int64)
        nothing = np.zeros(len(places), dtype=np.int64)
        candidates = Candidates(
            number=places,
            similarity=similarity[places],
            relevance={"dense": relevance[places]},
            confidence=mean,
            usage=shown,
            age=nothing.astype(np.float64),
            source=nothing,
        )
        score = total(relevance_parts(candidates))
        known = [judged_and_blamed(self.ledgers[m].tallies.values()) for m in memories.tolist()]
        judged, blamed = np.array(known, dtype=bool).reshape(-1, 2).T
        prospects = Prospects(score / score.max(initial=0.0), mean, deviation, shown, judged, blamed)
        found = select(prospects, k=k, floor=self.floor, strict=self.strict)
        chosen = places[[*found.proven.tolist(), *found.provisional.tolist()]]
        return Choice(chosen.tolist(), [False] * len(found.proven) + [True] * len(found.provisional))

    def learn(self, _task: Task, memories: Ints, succeeded: bool, votes: list[Vote]) -> None:
        """Write usage, then the outcome, then the votes; a vote supersedes its own run's outcome."""
        confidences = self.confidence(memories).tolist()
        shares = self.model.shares(confidences, succeeded)
        voted = {vote.place for vote in votes}
        for place, (memory, share) in enumerate(zip(memories.tolist(), shares, strict=True)):
            ledger = self.ledgers[memory]
            ledger.shown += 1
            ledger.add(SignalKind.USAGE, _task.day, 1.0)
            amount = share if succeeded else -share
            ledger.add(SignalKind.OUTCOME, _task.day, amount, superseded=place in voted)
            self.known.pop(memory, None)
        for vote in votes:
            memory = int(memories[vote.place])
            self.ledgers[memory].add(SignalKind.EXPLICIT, _task.day, 1.0 if vote.helpful else -1.0, vote.by)
        self.after(Ended(confidences, succeeded, votes))

    def after(self, run: Ended) -> None:
        """Learn about the evidence itself."""

    def weights(self) -> dict[str, float]:
        """Return how far each kind of evidence is trusted now, by name."""
        return {}


class Calibrated(Banked):
    """The default model, fitted to the project again and again."""

    def __init__(self, world: World, *, floor: float = FLOOR, strict: bool = False) -> None:
        self.parameters, self.runs, self.signals, self.fitted = STARTING, RunMoments(), 0, 0
        super().__init__(world, floor=floor, strict=strict)

    def first_model(self) -> ConfidenceModel:
        return CalibratedModel(self.parameters)

    def after(self, run: Ended) -> None:
        self.runs += RunMoments.of([(run.confidences, run.succeeded)])
        self.signals += 2 * len(run.confidences) + len(run.votes)
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

    def after(self, run: Ended) -> None:
        for vote in run.votes:
            for kind in [SignalKind.USAGE] + [SignalKind.OUTCOME] * run.succeeded:
                self.pairs = self.pairs.taught(kind, vote.helpful, not vote.helpful)
            self.model, self.known = SpecModel(self.pairs), {}

    def weights(self) -> dict[str, float]:
        kinds = (SignalKind.EXPLICIT, SignalKind.USAGE, SignalKind.OUTCOME)
        return {kind.value: self.pairs.weight(kind) for kind in kinds}


class Ema(Banked):
    """The ema model: +20 % / -15 %."""

    def first_model(self) -> ConfidenceModel:
        return EmaModel()
