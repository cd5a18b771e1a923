"""What sharing lessons between projects gives, in simulated tenants whose truth is known.

Twenty projects work on tasks about the same subjects. A lesson about a subject is true in all projects (60 %), in some
of them (20 %: others need another one), or in one only (20 %: it names what that project has). Projects learn lessons
from their own runs, some of them wrong, and report outcomes only; every so often what is worth sharing is promoted to a
shared bank and approved, unread. Then a project joins that has nothing of its own.

    python -m benchmarks.scopes --json

It ends with one JSON object:

- `late_joiner_ratio`: tasks until that project reaches 90 % of its final success, with sharing against without.
- `helpful`: the share of lessons shown that help, over all runs, with and without.
- `ece`: the calibration error of the confidence of lessons shown, with sharing.
- `wrong_promotions`: the share of shared lessons that are true in one project at the most.
- `search_ratio`: the time of a search over a project and two shared banks of 10,000 lessons each, against one bank of
  30,000.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.remembering import Remembering
from benchmarks.speed_lessons import made_word
from benchmarks.speed_timing import each_ms, median
from reasoningbank import BankRoot
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.measures.reliability import Prediction, calibration_error

PROJECTS, SUBJECTS, TASKS = 20, 30, 120
SHARED, PARTIAL = 0.6, 0.2
# A run succeeds so often with a lesson that helps, and without any.
HELPED, UNHELPED = 0.85, 0.35
# How often a run teaches a lesson, and how often that is wrong: as often as banks expect of what is distilled.
LEARNS, WRONG = 0.6, 0.4
PROMOTED_EVERY = 20
WINDOW, LAST = 15, 50
BANK = "org"


@dataclass(frozen=True)
class World:
    """The truth: which lesson about a subject is true in which projects.

    Attributes:
        kinds: of each subject: shared, partial or specific.
        camps: of each subject and project, which of two lessons is true where the subject is partial.
        popularity: how often each subject comes up, adding up to 1.
    """

    kinds: tuple[str, ...]
    camps: tuple[tuple[int, ...], ...]
    popularity: tuple[float, ...]

    @classmethod
    def made(cls, chance: random.Random) -> World:
        """Return a world; the last project joins late."""
        shared, partial = round(SHARED * SUBJECTS), round(PARTIAL * SUBJECTS)
        kinds = ["shared"] * shared + ["partial"] * partial + ["specific"] * (SUBJECTS - shared - partial)
        chance.shuffle(kinds)
        camps = tuple(tuple(int(chance.random() < 0.5) for _ in range(PROJECTS + 1)) for _ in kinds)
        weights = [1.0 / (3.0 + rank) for rank in range(SUBJECTS)]
        chance.shuffle(weights)
        return cls(tuple(kinds), camps, tuple(weight / sum(weights) for weight in weights))

    def variant(self, subject: int, project: int) -> str:
        """Return which lesson about a subject is true in a project."""
        kind = self.kinds[subject]
        if kind == "shared":
            return "a"
        return f"camp{self.camps[subject][project]}" if kind == "partial" else f"p{project:02}"


def words(seed: int, count: int) -> list[str]:
    """Return made-up words, the same for the same seed."""
    chance = random.Random(seed)
    return [made_word(chance.randrange(27_000)) for _ in range(count)]


def lesson(subject: int, variant: str, way: int) -> dict[str, Any]:
    """Return a lesson; `way` of saying it differs from project to project by a word."""
    said = words(1_000 + subject, 6)
    advice = words(hash_of(subject, variant), 14)
    path = f" See /srv/{variant}/{said[0]}/notes.txt." if variant.startswith("p") else ""
    opening = ("", "Always ", "First ", "Better ")[way % 4]
    return {
        "title": f"{said[0]} {said[1]} {advice[0]}",
        "content": f"{opening}{' '.join(advice)} for {' '.join(said)}.{path}",
        "description": f"When it is about {' '.join(said[:4])}.",
        "outcome": "success",
        "metadata": {"subject": subject, "variant": variant},
        "source": {"how": "distilled"},
    }


def hash_of(subject: int, variant: str) -> int:
    """Return a number for a lesson, the same in every process."""
    return 100_000 + subject * 1_009 + zlib.crc32(variant.encode()) % 99_991


@dataclass
class Seen:
    """What runs showed.

    Attributes:
        predictions: of each lesson shown.
        expected: by project, the chance of success of each of its runs, in their order.
    """

    predictions: list[Prediction] = field(default_factory=list)
    expected: dict[int, list[float]] = field(default_factory=dict)


class Simulation:
    """One tenant that lives, with or without sharing."""

    def __init__(self, root: Path, world: World, seed: int, *, sharing: bool) -> None:
        self.world, self.sharing, self.seed = world, sharing, seed
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)
        embedder = Remembering(HashEmbedder(dim=512))
        self.banks = BankRoot(root, tenant="sim", embedder=embedder, clock=lambda: self.now)
        if sharing:
            self.banks.shared.create(BANK, approvers=[name(p) for p in range(PROJECTS + 1)])
        shared = (BANK,) if sharing else ()
        self.open = [self.banks.open(name(p), shared=shared) for p in range(PROJECTS + 1)]
        self.seen = Seen()

    def run(self, project: int, number: int) -> None:
        """Have a project do a task: recall, act, report, and sometimes learn."""
        # The same tasks and luck with and without sharing.
        chance = random.Random(f"{self.seed}/{project}/{number}")
        self.now += timedelta(minutes=7)
        subject: int = chance.choices(range(SUBJECTS), self.world.popularity)[0]
        task, luck, learns, wrong = self._task(subject, chance), chance.random(), chance.random(), chance.random()
        bank = self.open[project]
        recalled = bank.recall(task, ref=f"{project}-{number}")
        helped = False
        for hit in recalled.hits:
            true = self._is_true(hit.memory.metadata, project)
            helped |= true and hit.memory.metadata["subject"] == subject
            self.seen.predictions.append(Prediction(hit.confidence, true))
        expected = HELPED if helped else UNHELPED
        self.seen.expected.setdefault(project, []).append(expected)
        bank.report("success" if luck < expected else "failure", ref=recalled.ref)
        if not helped and learns < LEARNS:
            variant = f"wrong{chance.randrange(1_000)}" if wrong < WRONG else self.world.variant(subject, project)
            bank.record(**lesson(subject, variant, way=project))

    @staticmethod
    def _task(subject: int, chance: random.Random) -> str:
        said = words(1_000 + subject, 6)
        return " ".join([*chance.sample(said, 5), made_word(chance.randrange(27_000))])

    def _is_true(self, metadata: dict[str, Any], project: int) -> bool:
        return bool(metadata["variant"] == self.world.variant(metadata["subject"], project))

    def promote(self) -> None:
        """Promote what is suggested; it is approved unread, since nobody here reads."""
        for each in self.banks.shared.suggest_promotions(BANK):
            project, memory_id = each.origins[0]
            memory = self.open[int(project[1:])].get(memory_id)
            promoted = self.open[int(project[1:])].sharing.promote(
                memory_id, to=BANK, anyway=True, confidence=each.confidence
            )
            if promoted.memory is not None and promoted.created:
                with self.banks.shared.open(BANK) as bank:
                    bank.update(promoted.memory.id, metadata=memory.metadata)

    def shared_lessons(self) -> list[dict[str, Any]]:
        """Return the metadata of what was promoted, whatever became of it."""
        if not self.sharing:
            return []
        with self.banks.shared.open(BANK) as bank:
            return [dict(memory.metadata) for memory in bank.list(state=None, limit=1_000).memories]

    def is_wrong(self, metadata: dict[str, Any]) -> bool:
        """Tell whether a lesson is true in one project at the most."""
        return sum(self._is_true(metadata, project) for project in range(PROJECTS)) <= 1


def name(project: int) -> str:
    """Return a project's name."""
    return f"p{project:02}"


def until_90(expected: list[float]) -> int:
    """Return after how many tasks the chance of success, over the last WINDOW, is 90 % of what it is in the end."""
    final = float(np.mean(expected[-LAST:]))
    for end in range(1, len(expected) + 1):
        if np.mean(expected[max(0, end - WINDOW) : end]) >= 0.9 * final and end >= min(5, WINDOW):
            return end
    return len(expected)


def lived(world: World, seed: int, tasks: int, *, sharing: bool) -> Simulation:
    """Let a tenant live, then a project join late."""
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(Path(folder), world, seed, sharing=sharing)
        for number in range(tasks):
            for project in range(PROJECTS):
                simulation.run(project, number)
            if sharing and number % PROMOTED_EVERY == PROMOTED_EVERY - 1:
                simulation.promote()
        for number in range(tasks):
            simulation.run(PROJECTS, number)
        simulation.promoted = simulation.shared_lessons()  # type: ignore[attr-defined]
        simulation.banks.close()
    return simulation


def learning(seeds: list[int], tasks: int) -> dict[str, Any]:
    """Return the figures of tenants that live, with sharing and without."""
    reached: dict[bool, list[int]] = {False: [], True: []}
    shown: dict[bool, list[Prediction]] = {False: [], True: []}
    promoted, wrong = 0, 0
    for seed in seeds:
        world = World.made(random.Random(seed))
        for sharing in (False, True):
            simulation = lived(world, seed, tasks, sharing=sharing)
            reached[sharing].append(until_90(simulation.seen.expected[PROJECTS]))
            shown[sharing] += simulation.seen.predictions
            lessons = simulation.promoted  # type: ignore[attr-defined]
            promoted += len(lessons)
            wrong += sum(map(simulation.is_wrong, lessons))
    share = {way: float(np.mean([p.helped for p in found])) for way, found in shown.items()}
    return {
        "late_joiner_ratio": round(float(np.mean(reached[True]) / np.mean(reached[False])), 3),
        "late_joiner": {"with": reached[True], "without": reached[False]},
        "helpful": {"with": round(share[True], 3), "without": round(share[False], 3)},
        "ece": round(calibration_error(shown[True]) or 0.0, 4),
        "ece_without": round(calibration_error(shown[False]) or 0.0, 4),
        "wrong_promotions": round(wrong / max(1, promoted), 4),
        "promoted": promoted,
    }


# -- speed -----------------------------------------------------------------------------------------------------------


def search_ratio(size: int, queries: int) -> dict[str, Any]:
    """Return how long a search takes over three banks of `size` lessons, against one with all of them."""
    with tempfile.TemporaryDirectory() as folder, BankRoot(folder, tenant="sim", embedder="hash") as root:
        root.shared.create("team", readers=["own"])
        root.shared.create("org", readers=["own"])
        alone = root.open("alone")
        with root.shared.open("team") as team, root.shared.open("org") as org:
            for level, bank in enumerate((root.open("own"), team, org)):
                drafts = list(_drafts(level, size))
                bank.record_many(drafts)
                alone.record_many(drafts)
        own = root.open("own", shared=("team", "org"))
        asked = [" ".join(words(7_000_000 + i, 4) + words(i % size, 4)) for i in range(queries + 5)]
        for bank in (own, alone):
            each_ms(bank.search, asked[:5])
        # In turns, so that what else the machine does meets both alike.
        taken: dict[str, list[float]] = {"levels": [], "one": []}
        for query in asked[5:]:
            taken["levels"] += each_ms(own.search, [query])
            taken["one"] += each_ms(alone.search, [query])
    levels, one = median(taken["levels"]), median(taken["one"])
    return {"search_ratio": round(levels / one, 3), "search_ms": {"levels": levels, "one": one}}


def _drafts(level: int, size: int) -> Iterator[dict[str, Any]]:
    for i in range(level * size, (level + 1) * size):
        said = words(i, 24)
        yield {"title": " ".join(said[:4]), "content": " ".join(said), "outcome": "success"}


def table(figures: dict[str, Any]) -> Table:
    """Return the figures for people."""
    shown = Table("", "with sharing", "goal", title="Shared lessons")
    shown.add_row("late joiner, tasks to 90 %, against without", str(figures["late_joiner_ratio"]), "<= 0.6")
    helpful = figures["helpful"]
    shown.add_row("shown lessons that help", f"{helpful['with']} (without: {helpful['without']})", "not lower")
    shown.add_row("calibration error", str(figures["ece"]), "<= 0.05")
    shown.add_row("wrong promotions", str(figures["wrong_promotions"]), "<= 0.05")
    shown.add_row("search, against one bank", str(figures["search_ratio"]), "<= 1.5")
    return shown


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="101,102,103", help="worlds, comma-separated; 1 to 9 were looked at")
    parser.add_argument("--tasks", type=int, default=TASKS, help="of each project")
    parser.add_argument("--size", type=int, default=10_000, help="lessons of each of the three banks that are searched")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = learning([int(seed) for seed in arguments.seeds.split(",")], arguments.tasks)
    figures |= search_ratio(arguments.size, arguments.queries)
    console = Console()
    if arguments.json:
        console.out(json.dumps(figures), highlight=False)
    else:
        console.print(table(figures))


if __name__ == "__main__":
    main()
