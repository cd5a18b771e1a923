"""Real lessons and real tasks, through the product's own calls: only whether a lesson helps is simulated.

The documents of a retrieval set are recorded as lessons, half of them, at random, as by hand and the others as
distilled. Each run has one of the set's queries for its task. A lesson helps with it when it is relevant to the query
and its usefulness, drawn once as in a simulated world (world.py), lets it. How runs end and who votes is as in the base
world, too, but that lessons off topic get votes as well. All methods meet the same tasks with the same luck.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.learning.product import START
from benchmarks.learning.world import Bools, Scenario, usefulness
from benchmarks.remembering import Remembering
from benchmarks.retrieval_mixed import by_hand, with_confidences
from benchmarks.retrieval_sets import RetrievalSet, load, record
from reasoningbank import ReasoningBank
from reasoningbank.embed.named import open_embedder

RUNS, RUNS_A_DAY, LESSONS = 1_200, 20, 3
WORLD = Scenario()

# How each method recalls; None: the first of a search, in a bank in which all confidences are alike and stay so.
METHODS = {"default": "relevance", "cautious": "cautious", "relevance alone": None}


@dataclass
class Clock:
    """A bank's time: a day every RUNS_A_DAY runs."""

    runs: int = 0

    def __call__(self) -> datetime:
        """Return the time."""
        return START + timedelta(days=self.runs / RUNS_A_DAY)


@dataclass(frozen=True, slots=True)
class Run:
    """One run before anything is handed out; arrays have an element a lesson.

    Attributes:
        helps: whether the lesson helps, if it is handed out.
        voted: whether it gets a vote then.
        right: whether that vote is right.
        luck: the run succeeds where this is below its chance of success, from 0 to 1.
    """

    task: str
    helps: Bools
    voted: Bools
    right: Bools
    luck: float


def success(folder: Path, seed: int, embedder: str) -> dict[str, float]:
    """Return each method's mean chance of success in the second half of the runs, given which lessons helped."""
    data, remembering = load(folder, "all"), Remembering(open_embedder(embedder))
    return {name: fmean(chances(data, seed, policy, remembering)[RUNS // 2 :]) for name, policy in METHODS.items()}


def chances(data: RetrievalSet, seed: int, policy: str | None, embedder: Remembering) -> list[float]:
    """Return the chance of success of each run, with what recall hands out by a policy, or search where it is None."""
    clock, confidences = Clock(), by_hand(0.5 if policy else 1.0)(np.random.default_rng(seed), len(data.documents))
    with (
        tempfile.TemporaryDirectory(prefix="tasks-") as root,
        ReasoningBank(root, tenant="benchmark", project=data.name, embedder=embedder, clock=clock) as bank,
    ):
        documents, _ = record(bank, with_confidences(data.documents, confidences))
        lessons, found = list(documents), []
        for clock.runs, run in enumerate(runs(data, list(documents.values()), seed)):
            if policy:
                found.append(lived(bank, run, lessons, policy))
            else:
                searched = bank.search(run.task, LESSONS, policy="relevance")
                found.append(chance(run, [lessons.index(memory.id) for memory in searched.memories]))
    return found


def lived(bank: ReasoningBank, run: Run, lessons: Sequence[str], policy: str) -> float:
    """Recall for a run, report how it ended, vote, and return its chance of success."""
    recall = bank.recall(run.task, LESSONS, policy=policy)
    places = [lessons.index(memory.id) for memory in recall.memories]
    likely = chance(run, places)
    bank.report(run.luck < likely, ref=recall.ref)
    for place in places:
        if run.voted[place]:
            bank.vote(lessons[place], bool(run.helps[place] == run.right[place]), ref=recall.ref)
    return likely


def chance(run: Run, places: Sequence[int]) -> float:
    """Return the chance of success of a run for which the lessons at some places are handed out."""
    return WORLD.outcome(run.helps[places], np.zeros(len(places), dtype=bool))


def runs(data: RetrievalSet, lessons: Sequence[Sequence[str]], seed: int) -> Iterator[Run]:
    """Draw the runs, always the same for a seed. Each lesson is given as the documents it was recorded from."""
    random, many = np.random.default_rng(seed + 1000), len(lessons)
    useful = usefulness(random, many)
    relevant = [np.array([not q.grades.keys().isdisjoint(documents) for documents in lessons]) for q in data.queries]
    for _ in range(RUNS):
        task = int(random.integers(len(data.queries)))
        helps, voted, right = random.random((3, many))
        yield Run(
            data.queries[task].text,
            relevant[task] & (helps < useful),
            voted < WORLD.vote_rate,
            right < WORLD.accuracy,
            float(random.random()),
        )
