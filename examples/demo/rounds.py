"""The three rounds: with an empty bank, with what was learned, and with the bank emptied again."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from examples.demo.agent import choose, lesson
from examples.demo.failing import Failed, fail_twice
from examples.demo.task import Attempt, Task, attempt
from examples.demo.tasks import TASKS
from reasoningbank import Memory, ReasoningBank, Recall, Source
from reasoningbank.upkeep import LiftReport

BY = "demo"
# How often each task is tried once more to measure what the lessons do; at the most while one side has too few runs.
AGAIN, MOST = 4, 12


@dataclass(frozen=True, slots=True)
class RoundBegan:
    """A round begins.

    Attributes:
        number: 1, 2 or 3.
        memories: how many the bank holds.
    """

    number: int
    memories: int


@dataclass(frozen=True, slots=True)
class Step:
    """A task was tried.

    Attributes:
        round: 1, 2 or 3.
        words: the task, as it was put this time.
        followed: ids of the recalled memories that alone would have led to this choice, away from the habitual one.
    """

    round: int
    task: Task
    words: str
    recall: Recall
    attempt: Attempt
    followed: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether the agent did something else than it is used to."""
        return self.attempt.approach is not self.task.approaches[0]


@dataclass(frozen=True, slots=True)
class LearningBegan:
    """The failures of round 1 are turned into lessons."""

    failures: int


@dataclass(frozen=True, slots=True)
class Learned:
    """A failure became a lesson."""

    task: Task
    memory: Memory


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome. The first three are shares of tasks passed, in [0, 1].

    Attributes:
        recalls: how often the bank with memories, or about to have them, was asked.
    """

    before: float
    after: float
    after_without_memory: float
    memories: int
    recalls: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What lessons do, from runs of which chance held out half.

    Attributes:
        runs: how many there were.
    """

    runs: int
    lift: LiftReport


@dataclass(frozen=True, slots=True)
class Finished:
    """All is done.

    Attributes:
        moved: each memory as it was learned, and as it is now.
    """

    figures: Figures
    moved: tuple[tuple[Memory, Memory], ...]
    folder: Path


Event = RoundBegan | Step | LearningBegan | Learned | Failed | Measured | Finished


def run(bank: ReasoningBank, empty: ReasoningBank) -> Iterator[Event]:
    """Run the demonstration, and yield what happens as it happens.

    Args:
        bank: an empty bank, which is filled.
        empty: another one, which stays empty.
    """
    with tempfile.TemporaryDirectory(prefix="reasoningbank-tasks-") as name:
        workshop = Path(name)
        first = yield from _round(bank, 1, workshop)
        learned = yield from _learn([step for step in first if not step.attempt.passed], bank, workshop)
        second = yield from _round(bank, 2, workshop)
        third = yield from _round(empty, 3, workshop)
        memories = bank.count()
        yield fail_twice(bank, workshop)
        yield _measured(bank, workshop)
    figures = Figures(_rate(first), _rate(second), _rate(third), memories, len(first) + len(second))
    moved = tuple((memory, bank.get(memory.id)) for memory in learned)
    yield Finished(figures, moved, Path(bank.upkeep.status().folder))


def _round(bank: ReasoningBank, number: int, workshop: Path) -> Generator[Event, None, list[Step]]:
    yield RoundBegan(number, bank.count())
    steps = []
    for task in TASKS:
        steps.append(_try(bank, task, number, workshop / f"{number}-{task.name}"))
        yield steps[-1]
    return steps


def _measured(bank: ReasoningBank, workshop: Path) -> Measured:
    """Try the tasks again, with the lessons withheld from every other run by chance, and compare."""
    runs = 0
    while True:
        for task in TASKS:
            runs += 1
            recall = bank.recall(task.words[1], holdout=0.5)
            tried = attempt(task, choose(task.approaches, recall.text), workshop / f"measured-{runs}", 1)
            bank.report(tried.passed, ref=recall.ref, by=BY)
        lift, times = bank.lift(), runs // len(TASKS)
        if times == MOST or (times >= AGAIN and lift.overall is not None and lift.overall.enough):
            return Measured(runs, lift)


def _learn(failures: list[Step], bank: ReasoningBank, workshop: Path) -> Generator[Event, None, list[Memory]]:
    yield LearningBegan(len(failures))
    learned = []
    for step in failures:
        learned.append(_learn_from(bank, step, workshop / f"after-{step.task.name}"))
        yield Learned(step.task, learned[-1])
    return learned


def _rate(steps: list[Step]) -> float:
    return round(sum(step.attempt.passed for step in steps) / len(steps), 4)


def _try(bank: ReasoningBank, task: Task, number: int, folder: Path) -> Step:
    """Recall, choose, try for real, and tell the bank how it went."""
    variant = 0 if number == 1 else 1
    words = task.words[variant]
    recall = bank.recall(words)
    tried = attempt(task, choose(task.approaches, recall.text), folder, variant)
    followed = _followed(task, recall, tried)
    for memory_id in followed:
        bank.vote(memory_id, tried.passed, ref=recall.ref, by=BY)
    # Without a reason: `_learn_from` tells what went wrong in the lesson that it writes.
    bank.report(tried.passed, ref=recall.ref, by=BY)
    return Step(number, task, words, recall, tried, followed)


def _followed(task: Task, recall: Recall, tried: Attempt) -> tuple[str, ...]:
    if tried.approach is task.approaches[0]:
        return ()
    alone = {memory.id: choose(task.approaches, f"{memory.title}\n{memory.content}") for memory in recall.memories}
    return tuple(memory_id for memory_id, approach in alone.items() if approach is tried.approach)


def _learn_from(bank: ReasoningBank, step: Step, folder: Path) -> Memory:
    """Try the next best way once, to see whether it would have done, and record what was seen."""
    others = [approach for approach in step.task.approaches if approach is not step.attempt.approach]
    practice = [attempt(step.task, approach, folder, 0) for approach in others[:1]]
    source = Source(how="distilled", by=BY, session=step.recall.ref)
    (recorded,) = bank.record_many([lesson(step.task, [step.attempt, *practice], source)])
    return recorded.memory
