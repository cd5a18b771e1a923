"""Do runs succeed with what a bank hands out, how well does it learn which lessons help, and are its confidences true?

    python -m benchmarks.learning [--json] [--seed N] [--worlds N] [--scenario NAME ...] [--outcomes FILE]
                                 [--tasks FOLDER ...]

Part A lives through simulated worlds in which it is known what helps (world.py), with the product's own models, shares,
choice and fitting, and with other methods beside them. Each method chooses for itself; under `same_log`, in the worlds
of SAME_LOG, it only predicts, while the most similar memories are handed out whatever it would choose. Part B predicts
real outcomes (real.py); it needs --outcomes. Part C counts mistakes that are made again (repeats.py). Part D gives
real lessons for real tasks to a real bank (tasks.py); it needs --tasks, and `--scenario` without a name leaves part A
out. Figures are means over worlds with their 95 % interval; those of parts A and D are of the second half of the tasks.

With --json the last line is one JSON object:

    {"success": {scenario: {method: ...}}, "ece": {scenario: {method: ...}},
     "sim": {scenario: {method: {"success", "ece", "brier", "auc", "p_helpful_above_0.8", "share_above_0.8", "helpful",
     "served", "helpful_all", "served_all", "never_used", "weights_range", ..., "interval": {...}, "same_log": {...}}}},
     "real": {method: {"ece", "brier", "auc", "p_above_0.8", "share_above_0.8"}},
     "repeated_mistakes": {method: {"effect 0.3", "effect 0.6"}},
     "tasks": {folder: {method: {"success", "by_seed"}}}}

`success` is the share of runs that would succeed, `helpful` the share of the memories handed out that helped, `served`
the share of tasks that got any; the last two leave out memories that are handed out on trial, and `helpful_all` and
`served_all` do not.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: processes share the cores

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.learning import methods, product, real, repeats, tasks
from benchmarks.learning.figures import Figures, figures, over_worlds, predicted, table
from benchmarks.learning.world import SCENARIOS, Method, World

METHODS: dict[str, Callable[[World], Method]] = {
    "calibrated": product.Calibrated,
    "calibrated_cautious": partial(product.Calibrated, purity=True),
    "spec": product.Spec,
    "spec_gate": partial(product.Spec, strict=True),
    "ema": product.Ema,
    "fixed_deltas": methods.FixedDeltas,
    "explicit_only": methods.Counts,
    "explicit_and_outcomes": methods.CountsWithOutcomes,
    "wilson": methods.Wilson,
    "thompson": methods.Thompson,
    "no_confidence": methods.NoConfidence,
    "oracle": methods.Oracle,
}
SAME_LOG = ("base", "stale", "hostile", "sparse")
COLUMNS = [
    "success",
    "ece",
    "brier",
    "auc",
    "p_helpful_above_0.8",
    "share_above_0.8",
    "helpful",
    "served",
    "helpful_all",
    "served_all",
    "handed_out_per_task",
    "never_used",
    "weights_range",
    "weights_error",
]
REAL_COLUMNS = ["ece", "brier", "auc", "p_above_0.8", "share_above_0.8"]


def one_world(scenario: str, seed: int, method: str) -> tuple[Figures, Figures]:
    """Return a method's figures in one world: choosing for itself, and on the same log for all."""
    world = World(SCENARIOS[scenario], seed)
    own = figures(world.live(METHODS[method](world), most_similar=False), world.scenario)
    if scenario not in SAME_LOG:
        return own, {}
    same = figures(world.live(METHODS[method](world), most_similar=True), world.scenario)
    return own, {name: same[name] for name in COLUMNS[1:6]}


def simulated(scenarios: Sequence[str], seeds: Sequence[int], pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Return all methods' figures in all scenarios, and print a table each."""
    found: dict[str, Any] = {}
    for scenario in scenarios:
        jobs = {name: [pool.submit(one_world, scenario, seed, name) for seed in seeds] for name in METHODS}
        found[scenario] = {}
        for name, futures in jobs.items():
            rows = [future.result() for future in futures]
            own = over_worlds([own for own, _ in rows])
            found[scenario][name] = own | {"same_log": over_worlds([same for _, same in rows])}
        print(table(scenario, COLUMNS, found[scenario]), end="\n\n", flush=True)
        if scenario in SAME_LOG:
            same_log = {name: row["same_log"] for name, row in found[scenario].items()}
            print(table(f"{scenario}, same log", COLUMNS[1:6], same_log), end="\n\n", flush=True)
    return found


def repeated_mistakes(seeds: Sequence[int], pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Return which share of the mistakes made again each method prevents, and print a table."""
    jobs = {name: [pool.submit(repeats.prevented, name, seed) for seed in seeds] for name in repeats.METHODS}
    found = {name: over_worlds([future.result() for future in futures]) for name, futures in jobs.items()}
    columns = [f"effect {effect}" for effect in repeats.EFFECTS]
    print(table("repeated mistakes prevented", columns, found), end="\n\n", flush=True)
    return found


def one_shuffle(path: Path, shuffle: int) -> dict[str, Figures]:
    """Return all methods' figures on real outcomes, in one shuffle."""
    rows = real.predictions(real.outcomes_of(path), shuffle)
    return {name: predicted(predictions, "") for name, predictions in rows.items()}


def on_real_outcomes(path: Path, seed: int, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Return all methods' figures on real outcomes, and print a table."""
    shuffles = [pool.submit(one_shuffle, path, seed + n) for n in range(real.SHUFFLES)]
    rows = [future.result() for future in shuffles]
    found = {name: over_worlds([row[name] for row in rows]) for name in rows[0]}
    print(table("real outcomes", REAL_COLUMNS, found), end="\n\n", flush=True)
    return found


def on_real_tasks(folders: Sequence[Path], seeds: Sequence[int], embedder: str, pool: Executor) -> Any:
    """Return each method's success on real tasks, and by seed, and print a table a folder."""
    lived = {folder: [pool.submit(tasks.success, folder, seed, embedder) for seed in seeds] for folder in folders}
    found: dict[str, Any] = {}
    for folder, futures in lived.items():
        rows = [future.result() for future in futures]
        by_seed = {name: [round(row[name], 4) for row in rows] for name in tasks.METHODS}
        found[folder.name] = {name: {"success": round(fmean(of), 4), "by_seed": of} for name, of in by_seed.items()}
        shown = {
            name: {"success": row["success"]} | {str(seed): of for seed, of in zip(seeds, row["by_seed"], strict=True)}
            for name, row in found[folder.name].items()
        }
        print(table(folder.name, ["success", *map(str, seeds)], shown), end="\n\n", flush=True)
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--seed", type=int, default=1000, help="of the first world (default 1000)")
    parser.add_argument("--worlds", type=int, default=12, help="how many worlds a scenario (default 12)")
    parser.add_argument("--scenario", nargs="*", choices=SCENARIOS, default=list(SCENARIOS), help="default: all")
    parser.add_argument("--outcomes", type=Path, help="real outcomes, a JSON object with a list of outcomes a line")
    parser.add_argument("--tasks", type=Path, nargs="+", default=[], help="retrieval sets: real lessons, real tasks")
    parser.add_argument("--task-seeds", type=int, default=4, help="how many seeds a retrieval set (default 4)")
    parser.add_argument("--embedder", default="minilm", help="of the lessons of retrieval sets (default minilm)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.worlds)
    found: dict[str, Any] = {}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        sim = simulated(arguments.scenario, seeds, pool)
        for figure in ("success", "ece"):
            found[figure] = {world: {name: row[figure] for name, row in rows.items()} for world, rows in sim.items()}
        found["sim"] = sim
        found["repeated_mistakes"] = repeated_mistakes(seeds, pool)
        if arguments.outcomes:
            found["real"] = on_real_outcomes(arguments.outcomes, arguments.seed, pool)
        if arguments.tasks:
            seeds = range(arguments.seed, arguments.seed + arguments.task_seeds)
            found["tasks"] = on_real_tasks(arguments.tasks, seeds, arguments.embedder, pool)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
