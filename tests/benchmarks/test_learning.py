"""The learning benchmark runs, in a world small enough for a test, and ends with the object it promises."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.learning import __main__ as learning
from benchmarks.learning import real, repeats, world

SIMULATED = {
    "success",
    "ece", "brier", "auc", "p_helpful_above_0.8", "share_above_0.8", "helpful", "served", "never_used", "weights_range",
}  # fmt: skip
BASELINES = {"calibrated", "spec", "fixed_deltas", "ema", "explicit_only", "wilson", "thompson", "oracle"}


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON object that a run ends with."""
    small = {"base": world.Scenario(memories=40, topics=8, tasks=120)}
    for module in (world, learning):
        monkeypatch.setattr(module, "SCENARIOS", small)
    monkeypatch.setattr(learning, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(repeats, "TASKS", 120)
    monkeypatch.setattr(real, "SHUFFLES", 2)
    outcomes = tmp_path / "outcomes.jsonl"
    outcomes.write_text("".join(json.dumps({"outcomes": [1, i % 3 > 0, 1, 0]}) + "\n" for i in range(12)), "utf-8")
    arguments = ["--json", "--seed", "7", "--worlds", "2", "--scenario", "base", "--outcomes", str(outcomes)]
    monkeypatch.setattr(sys, "argv", ["learning", *arguments, "--jobs", "1"])
    learning.main()
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_the_run_ends_with_one_object_of_every_method_and_figure(ended: dict[str, Any]) -> None:
    assert ended["sim"].keys() == {"base"}
    assert ended["sim"]["base"].keys() >= BASELINES
    assert all(figures.keys() >= SIMULATED for figures in ended["sim"]["base"].values())
    assert ended["real"].keys() >= {"calibrated", "empirical_bayes", "spec"}
    assert ended["real"]["calibrated"].keys() >= {"ece", "brier", "auc", "p_above_0.8", "share_above_0.8"}
    assert ended["repeated_mistakes"]["calibrated"].keys() >= {"effect 0.3", "effect 0.6"}
    assert ended["success"]["base"].keys() == ended["ece"]["base"].keys() == ended["sim"]["base"].keys()


def test_who_knows_the_truth_makes_the_most_runs_succeed(ended: dict[str, Any]) -> None:
    success = ended["success"]["base"]

    assert 0.3 < success["no_confidence"] < success["oracle"] < 0.85
    assert max(success.values()) == success["oracle"]
    assert success["calibrated"] > success["calibrated_cautious"]


@pytest.mark.parametrize(
    ("scenario", "helped", "unhelped"),
    [
        (world.Scenario(), 0.85, 0.30),
        (world.Scenario(each_costs=0.03), 0.82, 0.27),
        (world.Scenario(hurting=1.0), 0.55, 0.02),
        (world.Scenario(none_helped=0.15), 0.85, 0.15),
    ],
    ids=["base", "dear", "hurt", "harm"],
)
def test_a_run_succeeds_as_its_world_says(scenario: world.Scenario, helped: float, unhelped: float) -> None:
    made = world.World(scenario, 7)
    made.truth = world.Truth(np.ones(2, bool), np.array([1.0, 0.0]), made.hurts[:2], np.arange(2))

    assert (made.success([0]), made.success([1])) == pytest.approx((helped, unhelped))
    assert made.success([]) == 0.40


def test_near_duplicates_help_together() -> None:
    made = world.World(world.Scenario(), 7)
    alone, both = np.array([0.5, 0.5]), np.zeros(2, bool)
    made.truth = world.Truth(np.ones(2, bool), alone, both, np.array([3, 3]))

    assert made.success([0, 1]) == made.success([0]) == pytest.approx(0.575)


def test_figures_are_means_over_worlds_with_their_interval(ended: dict[str, Any]) -> None:
    figures = ended["sim"]["base"]["oracle"]
    low, high = figures["interval"]["brier"]

    assert low <= figures["brier"] <= high
    assert figures["same_log"]["ece"] < ended["sim"]["base"]["fixed_deltas"]["same_log"]["ece"]
