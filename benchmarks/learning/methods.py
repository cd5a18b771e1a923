"""The methods that others use, and two that nobody can: what the product is compared with."""

from __future__ import annotations

import numpy as np

from benchmarks.learning.world import Choice, Floats, Ints, Task, Vote, World


class Baseline:
    """Ranks by similarity times confidence, and hands out the best k."""

    def __init__(self, world: World) -> None:
        self.world, self.initial = world, world.initial
        self.random = np.random.default_rng(world.seed + 5)
        self.handed_out: dict[int, Ints] = {}
        self.start()

    def start(self) -> None:
        """Set up what is known before the first task."""

    def all(self) -> Floats:
        """Return the confidence in every memory."""
        raise NotImplementedError

    def confidence(self, memories: Ints) -> Floats:
        """Return the predicted chance that each of the memories helps."""
        return self.all()[memories]

    def score(self, task: Task) -> Floats:
        """Return what candidates are ranked by."""
        return task.similarity * self.all()[task.candidates]

    def choose(self, task: Task, k: int) -> Choice:
        """Choose what to hand out."""
        order = np.argsort(-(self.score(task) + 1e-9 * task.noise)).tolist()
        return Choice(order[:k], [False] * len(order[:k]))

    def hand_out(self, task: Task, places: list[int]) -> None:
        """See what is handed out."""
        self.handed_out[task.number] = task.candidates[places]

    def learn(self, task: Task, succeeded: bool, votes: list[Vote]) -> None:
        """See how a run is reported to have ended: the outcome first, then the votes."""
        memories = self.handed_out.pop(task.number)
        if len(memories):
            self.outcome(memories, succeeded)
        for vote in votes:
            self.vote(int(memories[vote.place]), vote.helpful)

    def outcome(self, memories: Ints, succeeded: bool) -> None:
        """Learn from a run's outcome."""

    def vote(self, memory: int, helpful: bool) -> None:
        """Learn from a vote."""

    def weights(self) -> dict[str, float]:
        """Return how far each kind of evidence is trusted now, by name."""
        return {}


class NoConfidence(Baseline):
    """Similarity alone; every memory is taken to help as often as the initial confidences say on average."""

    def all(self) -> Floats:
        return np.full(len(self.initial), self.initial.mean())

    def score(self, task: Task) -> Floats:
        return task.similarity


class Oracle(Baseline):
    """Knows the true chances, and adds what raises that of success most, as long as anything does."""

    def all(self) -> Floats:
        return self.world.now

    def choose(self, task: Task, k: int) -> Choice:
        places: list[int] = []
        best, order = self.world.success(places), np.argsort(-task.similarity).tolist()
        for _ in range(k):
            chances = {place: self.world.success([*places, place]) for place in order if place not in places}
            place = max(chances, key=chances.__getitem__)
            # The first may have to pay for the second.
            if chances[place] <= best and places:
                break
            best, places = chances[place], [*places, place]
        return Choice(places, [False] * len(places))


class FixedDeltas(Baseline):
    """+0.3 or -0.2 for a vote, +0.1 for a success (contextd's architecture)."""

    def start(self) -> None:
        self.now = self.initial.copy()

    def all(self) -> Floats:
        return self.now

    def outcome(self, memories: Ints, succeeded: bool) -> None:
        if succeeded:
            self.now[memories] = np.minimum(1.0, self.now[memories] + 0.1)

    def vote(self, memory: int, helpful: bool) -> None:
        self.now[memory] = min(1.0, max(0.0, self.now[memory] + (0.3 if helpful else -0.2)))


class Counts(Baseline):
    """The mean of a Beta that starts at the initial confidence, worth two observations; votes count one."""

    def start(self) -> None:
        self.good, self.bad = 2.0 * self.initial, 2.0 * (1.0 - self.initial)

    def all(self) -> Floats:
        return self.good / (self.good + self.bad)

    def vote(self, memory: int, helpful: bool) -> None:
        (self.good if helpful else self.bad)[memory] += 1.0


class CountsWithOutcomes(Counts):
    """Outcomes count one each, too."""

    def outcome(self, memories: Ints, succeeded: bool) -> None:
        (self.good if succeeded else self.bad)[memories] += 1.0


class Thompson(CountsWithOutcomes):
    """Ranked by a draw from the Beta."""

    def score(self, task: Task) -> Floats:
        return task.similarity * self.random.beta(self.good[task.candidates], self.bad[task.candidates])


def wilson_lower(positive: Floats, number: Floats) -> Floats:
    """Return the lower end of the 95 % Wilson interval of proportions; 0 without trials. Source: Wilson 1927."""
    z, n = 1.96, np.maximum(number, 1e-9)
    p = positive / n
    reach = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    lower: Floats = np.where(number == 0, 0.0, (p + z * z / (2 * n) - reach) / (1 + z * z / n))
    return lower


class Wilson(Baseline):
    """The lower end of the Wilson interval of votes and outcomes."""

    def start(self) -> None:
        self.positive, self.number = np.zeros(len(self.initial)), np.zeros(len(self.initial))

    def all(self) -> Floats:
        return wilson_lower(self.positive, self.number)

    def score(self, task: Task) -> Floats:
        return task.similarity * (self.all()[task.candidates] + 0.01)

    def outcome(self, memories: Ints, succeeded: bool) -> None:
        self.number[memories] += 1.0
        self.positive[memories] += succeeded

    def vote(self, memory: int, helpful: bool) -> None:
        self.number[memory] += 1.0
        self.positive[memory] += helpful
