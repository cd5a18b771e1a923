"""The benchmark of `lift` runs, on few projects, and ends with the object it promises."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks.lift import __main__ as benchmark
from benchmarks.lift.worlds import lived


def test_it_ends_with_the_object_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"env": f"env_{n}", "trial": trial, "success": n % 3 > (run == "base") or trial > 1, "run": run}
        for run in ("base", "reflexion")
        for n in range(40)
        for trial in range(3)
    ]
    with gzip.open(tmp_path / "reflexion_alfworld.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr(benchmark, "SIZES", (100, 100, 100, 100))
    monkeypatch.setattr(benchmark, "DAYS", 3)
    monkeypatch.setattr(benchmark, "SHARES", (0.5, 1.0))
    monkeypatch.setattr(benchmark, "RUNS_OF_IT", 60)
    monkeypatch.setattr(benchmark, "SEEN", 0.3)
    given = ["lift", "--json", "--worlds", "8", "--banks", "1", "--runs", "40", "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", given)
    benchmark.main()

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found.keys() >= {"coverage", "daily_false_alarms", "bias", "power_ratio", "harm_found", "cost"}
    assert 0.5 < found["coverage"] <= 1.0
    assert found["power_ratio"] > 0.0
    assert found["reflexion"]["runs"] == 80


def test_the_truth_of_a_project_is_that_of_its_runs() -> None:
    world = lived(1, 4000, rate=0.5, lift=0.2)
    ends = {
        held: [t.succeeded for t in world.trials if t.held is held and t.succeeded is not None]
        for held in (False, True)
    }

    assert world.truth == pytest.approx(
        sum(ends[False]) / len(ends[False]) - sum(ends[True]) / len(ends[True]), abs=0.06
    )
