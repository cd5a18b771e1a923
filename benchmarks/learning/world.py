"""A simulated world of agents, tasks and lessons, in which it is known what helps.

300 memories in 30 topics. A memory has a usefulness p: the chance that it helps with a task of its topic, drawn from
0.45 Beta(8, 2) + 0.35 Beta(4, 4) + 0.20 Beta(2, 8). The better 40 % (roughly) are recorded by hand and start at 0.8,
the others are distilled and start at 0.6. A task has 12 candidates, of its topic and of others; their similarity says
a lot about the topic and next to nothing about usefulness. Each memory that is handed out helps with chance p (0.15 p
off topic). The run succeeds with chance 0.85 when some memory helped, 0.30 when memories were handed out and none
helped, and 0.40 without any. 12 % of the memories handed out get a vote, right in 90 % of the cases.

All numbers are arguments and nothing is tuned to a method. Random numbers are drawn in a fixed order, whatever a method
chooses, so that methods meet the same tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DAYS = 60


@dataclass(frozen=True, slots=True)
class Scenario:
    """What kind of world it is.

    Attributes:
        vote_rate: chance that a memory that was handed out gets a vote.
        accuracy: chance that an honest vote is right.
        stale: share of the memories that go stale half way (p falls to 0.15 at most).
        hostile: share of the votes that praise what is bad and blame what is good.
        named: ten raters vote under their names, and hostile votes are all one rater's; else nobody gives a name.
    """

    vote_rate: float = 0.12
    accuracy: float = 0.9
    stale: float = 0.0
    hostile: float = 0.0
    named: bool = False
    memories: int = 300
    topics: int = 30
    tasks: int = 3000
    candidates: int = 12
    k: int = 3


SCENARIOS = {
    "base": Scenario(),
    "drift": Scenario(stale=0.2),
    "hostile": Scenario(hostile=0.1),
    "sparse": Scenario(vote_rate=0.02),
    "no_votes": Scenario(vote_rate=0.0),
    "poor_votes": Scenario(accuracy=0.7),
    "named_hostile": Scenario(hostile=0.1, named=True),
}


@dataclass(frozen=True, slots=True)
class Task:
    """What a method sees of a task: candidates, their similarity, and a little noise to break ties."""

    number: int
    day: int
    candidates: Ints
    similarity: Floats
    noise: Floats


@dataclass(frozen=True, slots=True)
class Choice:
    """Places among the candidates that are handed out, and which of them only to find out."""

    places: list[int]
    trial: list[bool]


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote about one of the memories handed out, by its place among them."""

    place: int
    helpful: bool
    by: str


class Method(Protocol):
    """A way to believe and to choose."""

    def confidence(self, memories: Ints) -> Floats:
        """Return the predicted chance that each of the memories helps."""
        ...

    def choose(self, task: Task, k: int) -> Choice:
        """Choose what to hand out."""
        ...

    def learn(self, _task: Task, memories: Ints, succeeded: bool, votes: list[Vote]) -> None:
        """See how the run ended."""
        ...

    def weights(self) -> dict[str, float]:
        """Return how far each kind of evidence is trusted now, by name."""
        ...


@dataclass(frozen=True, slots=True)
class Use:
    """One memory handed out, and what became of it."""

    task: int
    memory: int
    confidence: float
    helped: bool
    trial: bool
    on_topic: bool


@dataclass(frozen=True, slots=True)
class Story:
    """All that happened in one world with one method.

    Attributes:
        weights: (tasks, weights) after each day.
        final: the last confidence in every memory.
        usefulness: the true p at the end.
        right_votes: share of the votes that were right.
    """

    uses: list[Use]
    succeeded: list[bool]
    weights: list[tuple[int, dict[str, float]]]
    final: Floats
    usefulness: Floats
    right_votes: float


class World:
    """One world: memories drawn by `seed`, then one task after the other."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        random, many = np.random.default_rng(seed), scenario.memories
        self.usefulness = _usefulness(random, many)
        self.topic = random.integers(0, scenario.topics, many)
        origin = random.random(many) + 0.5 * self.usefulness
        self.initial = np.where(origin > np.quantile(origin, 0.6), 0.8, 0.6)
        # What an oracle may look at.
        self.helps_now: Floats = self.usefulness

    def live(self, method: Method, *, most_similar: bool) -> Story:
        """Run all tasks; with `most_similar`, the k most similar are handed out whatever the method would choose."""
        s, random = self.scenario, np.random.default_rng(self.seed + 1000)
        usefulness = self.usefulness.copy()
        uses: list[Use] = []
        succeeded, weights, right = [], [], []
        for number in range(s.tasks):
            if s.stale and number == s.tasks // 2:
                usefulness = np.where(random.random(s.memories) < s.stale, np.minimum(usefulness, 0.15), usefulness)
            task, on_topic, helps = self._task(random, number, usefulness)
            choice = _nearest(task, s.k) if most_similar else method.choose(task, s.k)
            helped = (random.random(len(task.candidates)) < helps)[choice.places]
            memories = task.candidates[choice.places]
            ok = bool(random.random() < _chance(helped))
            votes = self._votes(random, memories, helped, on_topic[choice.places], usefulness)
            confidence = method.confidence(memories)
            uses += [
                Use(number, int(m), float(c), bool(u), trial, bool(on))
                for m, c, u, trial, on in zip(
                    memories, confidence, helped, choice.trial, on_topic[choice.places], strict=True
                )
            ]
            succeeded.append(ok)
            right += [vote.helpful == bool(helped[vote.place]) for vote in votes]
            method.learn(task, memories, ok, votes)
            if (number + 1) % (s.tasks // DAYS) == 0:
                weights.append((number + 1, method.weights()))
        final = method.confidence(np.arange(s.memories))
        return Story(uses, succeeded, weights, final, usefulness, float(np.mean(right)) if right else 1.0)

    def _task(self, random: np.random.Generator, number: int, usefulness: Floats) -> tuple[Task, Bools, Floats]:
        s = self.scenario
        topic = random.integers(0, s.topics)
        fitting = np.flatnonzero(self.topic == topic)
        fitting = random.permutation(fitting)[: min(len(fitting), s.candidates - 4)]
        others = random.permutation(np.flatnonzero(self.topic != topic))[: s.candidates - len(fitting)]
        candidates = np.concatenate([fitting, others])
        on_topic = np.arange(len(candidates)) < len(fitting)
        similarity = np.where(on_topic, 0.62, 0.35) + random.normal(0, 0.1, len(candidates))
        similarity = np.clip(similarity + 0.04 * (usefulness[candidates] - 0.5), 0.01, 1.0)
        self.helps_now = usefulness.copy()
        helps = usefulness[candidates] * np.where(on_topic, 1.0, 0.15)
        self.helps_now[candidates] = helps
        noise = random.random(len(candidates))
        return Task(number, number * DAYS // s.tasks, candidates, similarity, noise), on_topic, helps

    def _votes(
        self, random: np.random.Generator, memories: Ints, helped: Bools, on_topic: Bools, usefulness: Floats
    ) -> list[Vote]:
        s = self.scenario
        given, correct, rater = random.random(s.k), random.random(s.k), random.random(s.k)
        votes = []
        for place, memory in enumerate(memories):
            if given[place] >= s.vote_rate or not on_topic[place]:
                continue
            helpful = bool(helped[place]) == bool(correct[place] < s.accuracy)
            if rater[place] < s.hostile:
                helpful = bool(usefulness[memory] < 0.5)
            votes.append(Vote(place, helpful, f"rater {int(rater[place] * 10)}" if s.named else ""))
        return votes


def _usefulness(random: np.random.Generator, many: int) -> Floats:
    kind = random.choice(3, many, p=[0.45, 0.35, 0.20])
    good, fair, poor = random.beta(8, 2, many), random.beta(4, 4, many), random.beta(2, 8, many)
    return np.where(kind == 0, good, np.where(kind == 1, fair, poor))


def _chance(helped: Bools) -> float:
    if not len(helped):
        return 0.40
    return 0.85 if helped.any() else 0.30


def _nearest(task: Task, k: int) -> Choice:
    places = np.argsort(-(task.similarity + 1e-9 * task.noise))[:k].tolist()
    return Choice(places, [False] * len(places))
