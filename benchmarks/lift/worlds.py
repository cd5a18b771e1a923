"""Simulated runs of a project with a hold-out, of which the truth is known: logs as the bank keeps them.

Tasks repeat and differ in how hard they are; over the period all of them get harder, or easier, by up to one logit; of
30 % of the runs nobody says how they ended. What beliefs expect of a run is off by 0.15 (one deviation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from reasoningbank.measures.lift import Candidate, Trial
from reasoningbank.search.holdout import Holdout, chances, withheld

START = datetime(2026, 1, 1, tzinfo=UTC)
TASKS = 40
HARDNESS = 1.2  # a deviation, in logits
EXPECTED_OFF = 0.15
MISSING = 0.3
RUNS_A_DAY = 25


@dataclass(frozen=True, slots=True)
class Lived:
    """A log, and what is true of it: how much likelier its runs were to succeed with lessons, on the mean."""

    trials: list[Trial]
    truth: float
    success: float


def lived(seed: int, runs: int, *, rate: float, lift: float, hurting: float = 0.1, harm: float = 0.3) -> Lived:
    """Live through a project whose lessons raise success by `lift` on the mean; a share of them `hurting` lowers it.

    Args:
        rate: the share of runs that are held out.
        harm: by how much a lesson that hurts lowers success.
    """
    random = np.random.default_rng(seed)
    task = random.integers(0, TASKS, runs)
    hurts = random.random(TASKS) < (hurting if lift else 0.0)
    drift = random.choice([-1.0, 1.0]) * np.linspace(-0.5, 0.5, runs)
    without = 1.0 / (1.0 + np.exp(-(random.normal(0.0, HARDNESS, TASKS)[task] + drift)))
    share = float(hurts[task].mean())
    helps = (lift + harm * share) / (1.0 - share) if share < 1.0 else lift
    given_ = np.clip(without + np.where(hurts[task], -harm if lift else 0.0, helps), 0.01, 0.99)
    expected = np.clip(given_ + random.normal(0.0, EXPECTED_OFF, runs), 0.01, 0.99)
    held, judged = random.random(runs) < rate, random.random(runs) >= MISSING
    ends = random.random(runs) < np.where(held, without, given_)
    trials = [
        Trial(
            at=START + timedelta(days=n // RUNS_A_DAY, minutes=n % RUNS_A_DAY),
            unit=f"r{n}",
            task=str(task[n]),
            of="run",
            held=bool(held[n]),
            drawn=True,
            expected=float(expected[n]),
            succeeded=bool(ends[n]) if judged[n] else None,
            candidates=(Candidate(int(task[n]) + 1, given=not held[n], chance=rate),),
        )
        for n in range(runs)
    ]
    return Lived(trials, float((given_ - without).mean()), float(np.where(held, without, given_).mean()))


@dataclass(frozen=True, slots=True)
class Lessons:
    """What lessons do, by row number from 1: by how much each changes the success of a run that it is handed out in."""

    effects: Sequence[float]
    recalled: int = 3
    without: float = 0.45

    def run(
        self, number: int, random: np.random.Generator, holdout: Holdout, key: bytes, harms: dict[int, float]
    ) -> Trial:
        """Live through one run of single lessons, with the product's own draw."""
        recalled = sorted((random.permutation(len(self.effects))[: self.recalled] + 1).tolist())
        share = {str(n): c for n, c in zip(recalled, chances(holdout, recalled, harms), strict=True)}
        out = withheld(holdout, key, f"r{number}", share)
        shown = [n for n in recalled if str(n) not in out]
        success = min(max(self.without + sum(self.effects[n - 1] for n in shown), 0.02), 0.98)
        ended = bool(random.random() < success) if random.random() >= MISSING else None
        return Trial(
            at=START + timedelta(minutes=number),
            unit=f"r{number}",
            task=str(random.integers(TASKS)),
            of="memory",
            held=bool(out),
            drawn=True,
            expected=0.6,
            succeeded=ended,
            candidates=tuple(Candidate(n, given=str(n) not in out, chance=share[str(n)]) for n in recalled),
        )
