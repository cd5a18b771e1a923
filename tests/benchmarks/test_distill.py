from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import distill
from reasoningbank import ReasoningBank, Trajectory, Verdict


def run(task: str, act: str, verdict: str) -> dict[str, Any]:
    return {"task": task, "steps": [{"action": act, "observation": "ok"}], "result": "It ran.", "verdict": verdict}


RUNS = [
    run("Convert the quarterly report to CSV", "convert report.xlsx report.csv", "success"),
    run("Convert the quarterly report to CSV", "convert report.xlsx report.csv", "success"),
    run("Convert the quarterly report to CSV", "cat report.xlsx", "failure"),
    run("Restart the web server after midnight", "systemctl restart nginx", "success"),
    run("Rename the holiday pictures by date", "mv a.jpg 2026-01-01.jpg", "unknown"),
]


def test_the_measures_of_a_file_come_as_one_object_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join([*map(json.dumps, RUNS), "{cut"]), "utf-8")
    monkeypatch.setattr(sys, "argv", ["distill", "--trajectories", str(file), "--embedder", "hash", "--json"])

    distill.main()

    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["yield"] == {"success": pytest.approx(2 / 3, abs=1e-3), "failure": 1.0}
    assert result["duplicates"] == 1
    assert result["rejected"].pop("no run") == 1
    assert [reason.split(":")[0] for reason in result["rejected"]] == ["the verdict is unknown"]
    assert result["pair_hit@5_chance"] == 1.0
    assert result["median_tokens"] > 0
    halves = result["halves"]
    assert halves["dev"]["sessions"] + halves["test"]["sessions"] == result["sessions"] == 5


def test_all_runs_of_a_task_are_in_one_half_and_both_halves_have_tasks() -> None:
    runs = [
        Trajectory(task=f"{form} {number}!") for number in range(40) for form in ("Convert report", "convert  REPORT")
    ]

    assert [distill.half(run) for run in runs[::2]] == [distill.half(run) for run in runs[1::2]]
    assert 10 < sum(distill.half(run) == "test" for run in runs) < 70


def test_runs_without_a_task_find_nothing_and_stop_nothing(tmp_path: Path) -> None:
    with ReasoningBank(tmp_path, tenant="bench", project="distill", embedder="hash") as bank:
        result = distill.measure(bank, [Trajectory(verdict=Verdict.SUCCESS)] * 3)

    assert (result["yield"]["success"], result["lessons"], result["sessions"]) == (0.0, 0, 3)


def test_chance_is_that_of_five_lessons_drawn_at_random() -> None:
    assert distill.chance(10, 1) == pytest.approx(0.5)
    assert distill.chance(0, 0) == 0.0
    assert distill.share(1, 0) == 0.0
