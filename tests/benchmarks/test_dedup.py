from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import dedup

PAIRS = [
    ("Delete every file under /tmp/x", "Remove every file under /tmp/x", 1),
    ("Delete every file under /tmp/x", "Delete every file under /tmp/y", 0),
    ("List the ports that are open", "Count the lines of a file", 0),
    ("List the ports that are open", "list the ports that are open!", 1),
]


def test_the_figures_of_a_file_come_as_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    rows = [{"set": "s", "a": a, "b": b, "label": label, "split": "dev"} for a, b, label in PAIRS]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "own.jsonl").write_text(json.dumps({"a": PAIRS[0][0], "b": PAIRS[0][1], "label": 1}), "utf-8")
    options = ["--data", str(tmp_path), "--embedder", "hash"]

    dedup.main([*options, "--json"])

    found = json.loads(capsys.readouterr().out)["sets"]
    assert set(found) == {"s, tuned on", "own, not tuned on"}
    assert found["s, tuned on"]["auc_likeness"] == 1.0
    assert found["s, tuned on"]["merged_unasked"] == {"merged": 2, "precision": 1.0, "recall": 1.0}
    assert found["own, not tuned on"]["merged_or_proposed"]["recall"] == 1.0
    dedup.main([*options, "--split", "dev"])
    assert "tuned on" in capsys.readouterr().out


def test_the_auc_counts_ties_half_and_nothing_merged_is_nothing_wrong() -> None:
    assert dedup.auc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]) == 0.875
    assert dedup.auc([0.9], [1]) == 0.5
    assert dedup.quality([False], [1]) == {"merged": 0, "precision": 1.0, "recall": 0.0}
