"""What do runs teach? How many sessions give a lesson that passes every check and that their task finds again.

    python -m benchmarks.distill --trajectories FILE.jsonl[.gz] [--embedder minilm] [--json]

Each line of the file is a run: task, messages or steps, and how it ended. All are distilled with the template distiller
into one bank, in their order, each compared with the earlier runs of its task. A session is a yield when it gave a
lesson that passed the schema, held no secret, was not withheld, said something new (near duplicates are not stored),
and is among the first five that its own task finds in the bank of all lessons. Sizes are of all that a lesson says.

Pairs are sessions of one task: is the lesson of one among the first five for the other? Chance is what five lessons
drawn at random would give. The measures also come for two halves of the tasks, `dev` and `test`, in the bank of all:
a distiller is changed by what `dev` shows, and `test` says whether that holds for other tasks. With --json the last
line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reasoningbank import Distilled, Memory, ReasoningBank, State, Trajectory, Verdict
from reasoningbank.distill import read_runs
from reasoningbank.prompt.block import estimate_tokens
from reasoningbank.runs import BadLine
from reasoningbank.runs.jobs import task_key
from reasoningbank.screening.scrub import scrub

TOP = 5
GOALS = {"yield": "≥ 0.50 each", "median_tokens": "≤ 150"}


@dataclass(slots=True)
class Session:
    """A run, and the lessons it left in the bank."""

    run: Trajectory
    lessons: set[str] = field(default_factory=set)


def lesson_tokens(memory: Memory) -> int:
    """Return the estimated size of all that a lesson says, as it goes into a prompt."""
    return estimate_tokens("\n".join((memory.title, memory.description, memory.applies_when, memory.content)))


def distil_all(bank: ReasoningBank, runs: Iterable[Trajectory]) -> tuple[list[Session], Counter[str], int, list[int]]:
    """Distil runs in their order; return the sessions, what was rejected and why, duplicates, and sizes of lessons."""
    sessions: list[Session] = []
    earlier: dict[str, list[Trajectory]] = defaultdict(list)
    rejected: Counter[str] = Counter()
    duplicates, sizes = 0, []
    for run in runs:
        of_task = earlier[task_key(run.task)]
        distilled = bank.distill(run, earlier=of_task[:-4:-1])
        of_task.append(run)
        duplicates += len(distilled.duplicates)
        rejected.update(problems(distilled))
        good = [m for m in distilled.memories if m.state is State.ACTIVE and not scrub(m.content).counts]
        sizes += [lesson_tokens(memory) for memory in distilled.memories]
        sessions.append(Session(run, {memory.id for memory in good}))
    return sessions, rejected, duplicates, sizes


def problems(distilled: Distilled) -> list[str]:
    """Return why something of a distillation was not taken."""
    found = [rejection.reason for rejection in distilled.result.rejected]
    if not distilled.result.drafts:
        found.append(distilled.result.reason)
    found += ["withheld: reads like instructions" for m in distilled.memories if m.state is State.QUARANTINED]
    return found + ["holds a secret" for m in distilled.memories if scrub(m.content).counts]


def found_for(bank: ReasoningBank, tasks: Iterable[str]) -> dict[str, set[str]]:
    """Return for each task the ids of the first five lessons it finds; a run without a task finds none."""
    return {
        task: {hit.memory.id for hit in bank.search(task, TOP).hits} if task.strip() else set() for task in set(tasks)
    }


def chance(lessons: int, own: int) -> float:
    """Return the chance that five of all lessons, drawn at random, hold one of `own`."""
    drawn = min(TOP, lessons)
    return 1.0 - comb(lessons - own, drawn) / comb(lessons, drawn)


def share(part: float, whole: float) -> float:
    """Return a share, rounded; 0 of nothing."""
    return round(part / whole, 4) if whole else 0.0


def half(run: Trajectory) -> str:
    """Return the half that a run's task belongs to, by its digest: all runs of a task are in one."""
    return "test" if int(task_key(run.task), 16) % 2 else "dev"


def scores(sessions: Sequence[Session], found: Mapping[str, set[str]], stored: int) -> dict[str, Any]:
    """Return how many sessions are a yield, by verdict, and how many lessons are found by their task and by others."""
    hit = [bool(session.lessons & found[session.run.task]) for session in sessions]
    yields = {}
    for verdict in (Verdict.SUCCESS, Verdict.FAILURE):
        own = [good for good, session in zip(hit, sessions, strict=True) if session.run.verdict is verdict]
        yields[verdict.value] = share(sum(own), len(own))
    groups: dict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        groups[task_key(session.run.task)].append(session)
    pairs = [pair for group in groups.values() for pair in permutations(group, 2) if pair[0].lessons]
    return {
        "yield": yields,
        "hit@5": share(sum(hit), sum(bool(session.lessons) for session in sessions)),
        "pair_hit@5": share(sum(bool(one.lessons & found[other.run.task]) for one, other in pairs), len(pairs)),
        "pair_hit@5_chance": share(sum(chance(stored, len(one.lessons)) for one, _ in pairs), len(pairs)),
        "sessions": len(sessions),
    }


def measure(bank: ReasoningBank, runs: Sequence[Trajectory]) -> dict[str, Any]:
    """Distil all runs and return the measures, of all of them and of each half of the tasks."""
    began = time.perf_counter()
    sessions, rejected, duplicates, sizes = distil_all(bank, runs)
    seconds = time.perf_counter() - began
    found = found_for(bank, (session.run.task for session in sessions))
    stored = bank.count()
    halves: dict[str, list[Session]] = {"dev": [], "test": []}
    for session in sessions:
        halves[half(session.run)].append(session)
    return {
        **scores(sessions, found, stored),
        "duplicates": duplicates,
        "rejected": dict(rejected),
        "median_tokens": statistics.median(sizes) if sizes else 0,
        "lessons": stored,
        "seconds": round(seconds, 2),
        "halves": {name: scores(of_half, found, stored) for name, of_half in halves.items()},
    }


def show(result: dict[str, Any]) -> None:
    """Print a table for people."""
    table = Table("measure", "value", "goal", title="Distilling")
    for name, value in result.items():
        table.add_row(name, str(value), GOALS.get(name, ""))
    Console().print(table)


def main() -> None:
    """Read the arguments, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", type=Path, required=True, metavar="FILE")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    read = list(read_runs(given.trajectories))
    runs = [run for run in read if isinstance(run, Trajectory)]
    with (
        tempfile.TemporaryDirectory() as folder,
        ReasoningBank(folder, tenant="bench", project="distill", embedder=given.embedder) as bank,
    ):
        result = measure(bank, runs)
    bad = sum(isinstance(line, BadLine) for line in read)
    if bad:
        result["rejected"]["no run"] = bad
    show(result)
    if given.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
