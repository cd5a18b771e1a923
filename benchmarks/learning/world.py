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

from collections import deque
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
        judge: chance that the verdict on a run is right.
        reported: share of the runs that anybody reports.
        failures_only: runs judged successful are not reported.
        late: days after which a run is reported.
        none_helped: chance of success with memories of which none helped.
        hurting: share of the memories that never help and cost HURT of the chance of success whenever they are shown.
        each_costs: what each memory shown costs of the chance of success.
        on_topic: mean similarity of memories on topic; of others it is 0.35.
        useful: share of the memories that help at all.
        twins: each memory has a near-duplicate that helps with the same tasks.
        different: so many different tasks come again and again, each with the same candidates, and the same memories
            help each time; 0 when every task is new.
    """

    vote_rate: float = 0.12
    accuracy: float = 0.9
    stale: float = 0.0
    hostile: float = 0.0
    named: bool = False
    judge: float = 1.0
    reported: float = 1.0
    failures_only: bool = False
    late: int = 0
    none_helped: float = 0.30
    hurting: float = 0.0
    each_costs: float = 0.0
    on_topic: float = 0.62
    useful: float = 1.0
    twins: bool = False
    different: int = 0
    memories: int = 300
    topics: int = 30
    tasks: int = 3000
    candidates: int = 12
    k: int = 3

    def outcome(self, helped: Bools, hurts: Bools) -> float:
        """Return a run's chance of success when it is known which of the memories handed out helped."""
        if not len(helped):
            return WITHOUT
        chance = HELPED if helped.any() else self.none_helped
        return max(LEAST, chance - self.each_costs * len(helped) - HURT * bool(hurts.any()))


HELPED, WITHOUT, HURT, LEAST = 0.85, 0.40, 0.30, 0.02

SCENARIOS = {
    "base": Scenario(),
    "stale": Scenario(stale=0.2),
    "failures_only": Scenario(failures_only=True, vote_rate=0.0),
    "poor_judge": Scenario(judge=0.6, vote_rate=0.02),
    "poor_judge_late": Scenario(judge=0.6, vote_rate=0.02, failures_only=True, late=3),
    "seldom_reported": Scenario(reported=0.1),
    "late": Scenario(late=3),
    "harm": Scenario(none_helped=WITHOUT - 0.25),
    "hurt": Scenario(hurting=0.1),
    "dear": Scenario(each_costs=0.03),
    "vague": Scenario(on_topic=0.45),
    "rare": Scenario(useful=0.1),
    "twins": Scenario(twins=True),
    "repeated": Scenario(different=60),
    "hostile": Scenario(hostile=0.1),
    "sparse": Scenario(vote_rate=0.02),
    "no_votes": Scenario(vote_rate=0.0),
    "poor_votes": Scenario(accuracy=0.7),
    "named_hostile": Scenario(hostile=0.1, named=True),
}


@dataclass(frozen=True, slots=True)
class Task:
    """What a method sees of a task: candidates, their similarity, and a little noise to break ties.

    Attributes:
        kind: of each candidate; those of one kind are near-duplicates.
    """

    number: int
    day: int
    candidates: Ints
    similarity: Floats
    noise: Floats
    kind: Ints


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
        """Return the predicted chance that each of the memories helps with a task that it is about."""
        ...

    def choose(self, task: Task, k: int) -> Choice:
        """Choose what to hand out."""
        ...

    def hand_out(self, task: Task, places: list[int]) -> None:
        """See what is handed out."""
        ...

    def learn(self, task: Task, succeeded: bool, votes: list[Vote]) -> None:
        """See how a run is reported to have ended."""
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
        chance: of success of each run, given what was handed out.
        weights: (tasks, weights) after each day.
        final: the last confidence in every memory.
        usefulness: the true p at the end.
        right_votes: share of the votes that were right.
    """

    uses: list[Use]
    chance: list[float]
    weights: list[tuple[int, dict[str, float]]]
    final: Floats
    usefulness: Floats
    right_votes: float


@dataclass(frozen=True, slots=True)
class Truth:
    """What is so about a task's candidates.

    Attributes:
        helps: the chance that each helps.
        hurts: whether each costs HURT of the chance of success.
        kind: as in the task: those of one kind help together.
    """

    on_topic: Bools
    helps: Floats
    hurts: Bools
    kind: Ints


class World:
    """One world: memories drawn by `seed`, then one task after the other."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        random, many = np.random.default_rng(seed), scenario.memories
        self.usefulness = usefulness(random, many)
        self.topic = random.integers(0, scenario.topics, many)
        origin = random.random(many) + 0.5 * self.usefulness
        kinds = np.random.default_rng(seed + 2000)
        never = kinds.random(many) >= scenario.useful
        self.hurts = kinds.random(many) < scenario.hurting
        self.usefulness = np.where(never | self.hurts, 0.0, self.usefulness)
        if scenario.useful < 1.0:
            origin = random.random(many) + 0.5 * self.usefulness
        self.kind = np.arange(many)
        if scenario.twins:
            self.kind -= self.kind % 2
            self.usefulness, self.topic = self.usefulness[self.kind], self.topic[self.kind]
        self.initial = np.where(origin > np.quantile(origin, 0.6), 0.8, 0.6)
        # What an oracle may look at.
        self.truth: Truth
        self.now = self.usefulness

    def live(self, method: Method, *, most_similar: bool) -> Story:
        """Run all tasks; with `most_similar`, the k most similar are handed out whatever the method would choose."""
        s, random = self.scenario, np.random.default_rng(self.seed + 1000)
        reporting = np.random.default_rng(self.seed + 3000)
        self.now = self.usefulness.copy()
        uses: list[Use] = []
        chances, weights, right = [], [], []
        late: deque[tuple[Task, bool, list[Vote]]] = deque()
        for number in range(s.tasks):
            if s.stale and number == s.tasks // 2:
                self.now = np.where(random.random(s.memories) < s.stale, np.minimum(self.now, 0.15), self.now)
            task, luck = self._task(random, number)
            truth = self.truth
            choice = _nearest(task, s.k) if most_similar else method.choose(task, s.k)
            helped = (luck < truth.helps)[choice.places]
            memories = task.candidates[choice.places]
            chance = self.success(choice.places)
            ok = bool(random.random() < s.outcome(helped, truth.hurts[choice.places]))
            votes = self._votes(random, memories, helped, truth.on_topic[choice.places])
            confidence = method.confidence(memories)
            uses += [
                Use(number, int(m), float(c), bool(u), trial, bool(on))
                for m, c, u, trial, on in zip(
                    memories, confidence, helped, choice.trial, truth.on_topic[choice.places], strict=True
                )
            ]
            chances.append(chance)
            right += [vote.helpful == bool(helped[vote.place]) for vote in votes]
            method.hand_out(task, choice.places)
            judged, told = reporting.random(2)
            verdict = bool(ok == (judged < s.judge))
            if told < s.reported and not (s.failures_only and verdict):
                late.append((task, verdict, votes))
            while late and late[0][0].day + s.late <= task.day:
                method.learn(*late.popleft())
            if (number + 1) % (s.tasks // DAYS) == 0:
                weights.append((number + 1, method.weights()))
        final = method.confidence(np.arange(s.memories))
        return Story(uses, chances, weights, final, self.now, float(np.mean(right)) if right else 1.0)

    def success(self, places: list[int]) -> float:
        """Return the chance of success when these candidates are handed out, before it is known what helps."""
        truth = self.truth
        if not places:
            return WITHOUT
        best: dict[int, float] = {}
        for place in places:
            kind = int(truth.kind[place])
            best[kind] = max(best.get(kind, 0.0), float(truth.helps[place]))
        none = float(np.prod([1.0 - p for p in best.values()]))
        hurts = truth.hurts[places]
        nothing, something = (
            self.scenario.outcome(np.zeros(len(places), bool), hurts),
            self.scenario.outcome(np.ones(len(places), bool), hurts),
        )
        return none * nothing + (1.0 - none) * something

    def _task(self, random: np.random.Generator, number: int) -> tuple[Task, Floats]:
        s = self.scenario
        draw = random
        if s.different:
            draw = np.random.default_rng((self.seed, int(random.integers(0, s.different))))
        topic = draw.integers(0, s.topics)
        fitting = np.flatnonzero(self.topic == topic)
        fitting = draw.permutation(fitting)[: min(len(fitting), s.candidates - 4)]
        others = draw.permutation(np.flatnonzero(self.topic != topic))[: s.candidates - len(fitting)]
        candidates = np.concatenate([fitting, others])
        on_topic = np.arange(len(candidates)) < len(fitting)
        similarity = np.where(on_topic, s.on_topic, 0.35) + draw.normal(0, 0.1, len(candidates))
        similarity = np.clip(similarity + 0.04 * (self.now[candidates] - 0.5), 0.01, 1.0)
        noise, luck = draw.random(len(candidates)), draw.random(len(candidates))
        kind = self.kind[candidates]
        if s.twins:
            _, first, same = np.unique(kind, return_index=True, return_inverse=True)
            similarity, luck = similarity[first][same] + 0.01 * noise, luck[first][same]
        helps = self.now[candidates] * np.where(on_topic, 1.0, 0.15)
        if s.different:
            helps = (luck < helps).astype(np.float64)
        self.truth = Truth(on_topic, helps, self.hurts[candidates], kind)
        return Task(number, number * DAYS // s.tasks, candidates, similarity, noise, kind), luck

    def _votes(self, random: np.random.Generator, memories: Ints, helped: Bools, on_topic: Bools) -> list[Vote]:
        s = self.scenario
        given, correct, rater = random.random(s.k), random.random(s.k), random.random(s.k)
        votes = []
        for place, memory in enumerate(memories):
            if given[place] >= s.vote_rate or not on_topic[place]:
                continue
            helpful = bool(helped[place]) == bool(correct[place] < s.accuracy)
            if rater[place] < s.hostile:
                helpful = bool(self.now[memory] < 0.5)
            votes.append(Vote(place, helpful, f"rater {int(rater[place] * 10)}" if s.named else ""))
        return votes


def usefulness(random: np.random.Generator, many: int) -> Floats:
    """Draw for each of many memories the chance that it helps with a task it is about."""
    kind = random.choice(3, many, p=[0.45, 0.35, 0.20])
    good, fair, poor = random.beta(8, 2, many), random.beta(4, 4, many), random.beta(2, 8, many)
    return np.where(kind == 0, good, np.where(kind == 1, fair, poor))


def _nearest(task: Task, k: int) -> Choice:
    places = np.argsort(-(task.similarity + 1e-9 * task.noise))[:k].tolist()
    return Choice(places, [False] * len(places))
