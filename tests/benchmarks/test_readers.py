from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.readers import main
from tests.runs.readers import samples, traces

FAILED = {"task": "fix the failing  test", "steps": 1, "failures": [0]}


def write(folder: Path, name: str, record: object, expected: object) -> None:
    (folder / name).write_text(json.dumps(record), "utf-8")
    (folder / f"{name}.expected.json").write_text(json.dumps(expected), "utf-8")


def test_the_share_that_is_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "a.json", samples.tau_bench(), {**FAILED, "verdict": "failure"})
    write(
        tmp_path,
        "b.json",
        [traces.langsmith(), {**traces.langsmith(), "id": "T"}],
        [FAILED, {**FAILED, "failures": 1}],
    )
    write(tmp_path, "c.json", samples.swe_agent(), {**FAILED, "steps": 2, "failures": [1]})
    write(tmp_path, "d.json", {"foo": 1}, {"task": "x", "steps": 1})
    write(tmp_path, "e.json", {}, {"task": "", "verdict": "success"})
    (tmp_path / "f.json.gz").write_bytes(b"no gzip")
    (tmp_path / "f.json.expected.json").write_text("{}")
    (tmp_path / "g.json").write_text("beside it stands nothing")

    code = main(["--data", str(tmp_path), "--json"])

    said = capsys.readouterr()
    assert code == 0
    assert json.loads(said.out) == {
        "files": 6,
        "whole": round(2 / 6, 4),
        "steps": round(4 / 6, 4),
        "failures": {"precision": 0.75, "recall": 0.75},
        "silent": 1,
    }
    assert "c.json (swe-agent): 1 acts, not 2" in said.err


def test_a_folder_without_expectations_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 1
    assert "files: 0" in capsys.readouterr().out
