"""The learning benchmark runs, in a world small enough for a test, and ends with the object it promises."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning import __main__ as learning
from benchmarks.learning import real, repeats, world

SIMULATED = {
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
    monkeypatch.setattr(learning, "FRONTIER", (0.7,))
    monkeypatch.setattr(repeats, "TASKS", 120)
    monkeypatch.setattr(real, "SHUFFLES", 2)
    outcomes = tmp_path / "outcomes.jsonl"
    outcomes.write_text("".join(json.dumps({"outcomes": [1, i % 3 > 0, 1, 0]}) + "\n" for i in range(12)), "utf-8")
    arguments = ["--json", "--seed", "7", "--worlds", "2", "--scenario", "base", "--outcomes", str(outcomes)]
    monkeypatch.setattr(sys, "argv", ["learning", *arguments, "--frontier", "--jobs", "1"])
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
    assert ended["frontier"].keys() == {"calibrated at 0.7", "oracle at 0.7"}


def test_figures_are_means_over_worlds_with_their_interval(ended: dict[str, Any]) -> None:
    figures = ended["sim"]["base"]["oracle"]
    low, high = figures["interval"]["brier"]

    assert low <= figures["brier"] <= high
    assert figures["same_log"]["ece"] < ended["sim"]["base"]["fixed_deltas"]["same_log"]["ece"]
