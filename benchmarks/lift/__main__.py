"""Does `lift` say the truth, how soon, and at what price?

    python -m benchmarks.lift [--json] [--seed N] [--worlds N] [--data FOLDER]

In simulated projects of which the truth is known (worlds.py) the product's own functions draw, estimate and judge:

- coverage: how often the 95 % interval holds the true lift; bias: how far the estimate is off on the mean (with its
  standard error). Lifts of -10, 0, 10 and 25 points, hold-outs of 10 and 50 %, 300 to 2,000 runs.
- daily_false_alarms: of projects in which lessons do nothing, how many the always-valid interval calls an effect on any
  of 40 days; daily_false_alarms_of_95 is the same for who looks daily at the ordinary interval.
- power_ratio: how many runs it takes to see 10 points four times in five, over the textbook number for two shares.
- harm_found: of projects with a lesson that costs 30 points (of 8, 3 a run), how many name it within 300 of its runs;
  named_wrongly: how many harmless lessons are named in these.
- cost: by how much a hold-out of 10 % lowers success where lessons raise it by 20 points.

`bank` is the same through a real bank, from a few projects. With --data, the Reflexion agent's runs in ALFWorld, with
its lessons and without, of which both ends are known: chance assigns each, again and again, and the interval is held
against the difference of all.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: the matrices are small

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lift.bank import project
from benchmarks.lift.worlds import RUNS_A_DAY, START, Lessons, Lived, lived
from reasoningbank.belief.effects import JudgedRun, fit_runs
from reasoningbank.measures.lift import Candidate, Trial, harmful, known_before, lift
from reasoningbank.measures.lift_results import Lift
from reasoningbank.search.holdout import Holdout

LIFTS, RATES, SIZES = (-0.1, 0.0, 0.1, 0.25), (0.1, 0.5), (300, 600, 1200, 2000)
DAYS = 40
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1)
SEEN, POWER = 0.1, 0.8
HARM, RUNS_OF_IT, LOOK_EVERY, LEARN_EVERY = -0.3, 300, 20, 25


def told(world: Lived, *looks: int) -> list[Lift]:
    """Return what is said of the first so many runs of a project, for each number."""
    # What was known of a run looks at nothing that came later: it is the same at every look.
    known = known_before(world.trials)
    found = [lift(world.trials[:runs], known[:runs]) for runs in looks]
    return [each for each in found if each is not None]


def truth_held(seeds: Sequence[int]) -> dict[str, float]:
    """Return how often the interval holds the truth, and how far off the estimate is."""
    holds, off, narrowed = [], [], []
    for place, seed in enumerate(seeds):
        chosen = LIFTS[place % 4], RATES[place // 4 % 2], SIZES[place // 8 % 4]
        world = lived(seed, chosen[2], rate=chosen[1], lift=chosen[0])
        (found,) = told(world, chosen[2])
        if found.enough and found.interval and found.difference is not None and found.narrowed is not None:
            holds.append(world.truth in found.interval)
            off.append(found.difference - world.truth)
            narrowed.append(found.narrowed)
    return {
        "coverage": float(np.mean(holds)),
        "bias": float(np.mean(off)),
        "bias_error": float(np.std(off) / np.sqrt(len(off))),
        "narrowed": float(np.mean(narrowed)),
        "projects": len(holds),
    }


def false_alarms(seeds: Sequence[int]) -> dict[str, float]:
    """Return in how many projects without any effect one of the daily looks sees one."""
    always, once = [], []
    for place, seed in enumerate(seeds):
        world = lived(seed, DAYS * RUNS_A_DAY, rate=RATES[place % 2], lift=0.0)
        looks = told(world, *(day * RUNS_A_DAY for day in range(2, DAYS + 1)))
        enough = [look for look in looks if look.enough and look.always_valid and look.interval]
        always.append(any(look.always_valid and 0.0 not in look.always_valid for look in enough))
        once.append(any(look.interval and 0.0 not in look.interval for look in enough))
    return {"daily_false_alarms": float(np.mean(always)), "daily_false_alarms_of_95": float(np.mean(once))}


def textbook(rate: float, low: float, high: float) -> int:
    """Return the judged runs that a textbook asks for to tell two shares apart: 5 % two-sided, a power of 80 %."""
    variance = low * (1.0 - low) / rate + high * (1.0 - high) / (1.0 - rate)
    return int(np.ceil((1.959964 + 0.841621) ** 2 * variance / (high - low) ** 2))


def power_ratio(seeds: Sequence[int], rate: float) -> float:
    """Return how many runs it takes to see 10 points four times in five, over the textbook number.

    The shares of the textbook are those of the projects themselves; lessons all help, so that the lift is 10 points.
    """
    some = [lived(seed, 2000, rate=rate, lift=SEEN, hurting=0.0) for seed in seeds[:20]]
    high = float(np.mean([world.success for world in some])) + rate * SEEN
    needed = textbook(rate, high - SEEN, high)
    seen = np.zeros((len(seeds), len(SHARES)))
    for row, seed in enumerate(seeds):
        world = lived(seed, int(needed * 1.9), rate=rate, lift=SEEN, hurting=0.0)
        judged = np.cumsum([trial.succeeded is not None for trial in world.trials])
        looks = told(world, *(int(np.searchsorted(judged, share * needed)) + 1 for share in SHARES))
        seen[row] = [look.interval is not None and 0.0 not in look.interval for look in looks]
    # Power is a smooth function of the root of the runs: a straight line through the normal quantiles of it.
    power = np.clip(seen.mean(axis=0), 0.02, 0.98)
    slope, start = np.polyfit(np.sqrt(SHARES), [_quantile(p) for p in power], 1)
    return float(((_quantile(POWER) - start) / slope) ** 2)


def _quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def harm(seeds: Sequence[int]) -> dict[str, float]:
    """Return in how many projects a lesson that hurts is named in time, and how many are named that do not hurt.

    Which lessons seem to harm is learned from the runs as a bank learns it, which after 300 runs is each 30.
    """
    found, wrong, others = 0, 0, 0
    for seed in seeds:
        random, key = np.random.default_rng(seed), seed.to_bytes(16, "big")
        lessons = Lessons((HARM, *random.choice([0.0, 0.1, 0.15, 0.2], 7)))
        trials: list[Trial] = []
        harms: dict[int, float] = {}
        named: set[int] = set()
        of_it = 0
        while of_it < RUNS_OF_IT and 1 not in named:
            trials.append(lessons.run(len(trials), random, Holdout(0.5, "memory"), key, harms))
            of_it += any(candidate.number == 1 for candidate in trials[-1].candidates)
            if len(trials) % LEARN_EVERY == 0:
                harms = dict(fit_runs([_judged(trial) for trial in trials if trial.succeeded is not None]).harms)
            if len(trials) % LOOK_EVERY == 0:
                named |= {number for number, _ in harmful(trials)}
        found, wrong, others = found + (1 in named), wrong + len(named - {1}), others + 7
    return {"harm_found": found / len(seeds), "named_wrongly": wrong / others}


def _judged(trial: Trial) -> JudgedRun:
    shown = tuple(c.number for c in trial.candidates if c.given)
    return JudgedRun(shown, (0.6,) * len(shown), (0.9,) * len(shown), bool(trial.succeeded))


def cost(seeds: Sequence[int]) -> float:
    """Return by how much a hold-out of 10 % lowers success, in the same projects with and without it."""
    lost = [
        lived(seed, 2000, rate=0.0, lift=0.2).success - lived(seed, 2000, rate=0.1, lift=0.2).success for seed in seeds
    ]
    return float(np.mean(lost))


def through_banks(seeds: Sequence[int], runs: int) -> dict[str, Any]:
    """Return how often a real bank's interval holds the truth, and whether it names the lesson that hurts."""
    holds, off, named, wrong = 0, [], 0, 0
    for seed in seeds:
        found = project(seed, runs, 0.3)[0].overall
        assert found is not None
        assert found.interval is not None
        holds += 0.25 in found.interval
        off.append((found.difference or 0.0) - 0.25)
        report, mistaken = project(seed, runs, "memory", harmful=True)
        named, wrong = named + bool(report.harmful), wrong + mistaken
    many = len(seeds)
    return {
        "projects": many,
        "covered": holds,
        "bias": float(np.mean(off)),
        "harm_found": named,
        "named_wrongly": wrong,
    }


def reflexion(folder: Path, seeds: Sequence[int]) -> dict[str, float]:
    """Return how often the interval holds the difference of all runs, where chance shows one end of each."""
    with gzip.open(folder / "reflexion_alfworld.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ends = {(row["run"], row["env"], row["trial"]): bool(row["success"]) for row in rows}
    both = [(env, n) for run, env, n in sorted(ends, key=lambda k: (k[2], k[1])) if run == "base" and n > 0]
    truth = float(np.mean([ends["reflexion", env, n] - ends["base", env, n] for env, n in both]))
    holds, off, narrowed = list[float](), list[float](), list[float]()
    for seed in seeds:
        held = np.random.default_rng(seed).random(len(both)) < 0.5
        trials = [
            Trial(START, f"{env} {n}", env, "run", bool(out), drawn=True, expected=0.5,
                  succeeded=ends["base" if out else "reflexion", env, n],
                  candidates=(Candidate(1, given=not out, chance=0.5),))
            for (env, n), out in zip(both, held, strict=True)
        ]  # fmt: skip
        found = lift(trials, known_before(trials))
        assert found is not None
        assert found.interval is not None
        holds.append(float(truth in found.interval))
        off.append((found.difference or 0.0) - truth)
        narrowed.append(found.narrowed or 0.0)
    means = {"coverage": holds, "bias": off, "narrowed": narrowed}
    return {"runs": len(both), "lift": truth} | {name: float(np.mean(values)) for name, values in means.items()}


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lift", description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--seed", type=int, default=10_000, help="of the first project (default 10000)")
    parser.add_argument(
        "--worlds", type=int, default=800, help="how many projects (default 800); a part of them for most"
    )
    parser.add_argument("--banks", type=int, default=4, help="how many projects through a real bank (default 4)")
    parser.add_argument("--runs", type=int, default=600, help="of each of these (default 600)")
    parser.add_argument("--data", type=Path, help="folder with reflexion_alfworld.jsonl.gz")
    given = parser.parse_args()
    started = time.perf_counter()
    seeds = range(given.seed, given.seed + given.worlds)
    found: dict[str, Any] = truth_held(seeds)
    found |= false_alarms(seeds[: max(2, given.worlds // 4)])
    ratios = {str(rate): power_ratio(seeds[: max(4, given.worlds // 8)], rate) for rate in RATES}
    found |= {"power_ratio": max(ratios.values()), "power_ratios": ratios}
    found |= harm(seeds[: max(2, given.worlds // 20)])
    found["cost"] = cost(seeds[: max(2, given.worlds // 8)])
    if given.banks:
        found["bank"] = through_banks(seeds[: given.banks], given.runs)
    if given.data:
        found["reflexion"] = reflexion(given.data, seeds)
    for name, value in found.items():
        print(f"{name:>26}  {value if not isinstance(value, float) else round(value, 4)}")
    print(f"{'seconds':>26}  {time.perf_counter() - started:.0f}")
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
