from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.distill.run_files import read_runs
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.trajectory import BadLine, Trajectory

MESSAGES = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "1"}]


def tasks(text: str) -> list[str | int]:
    return [run.task if isinstance(run, Trajectory) else run.number for run in read_runs(io.StringIO(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"task": "one"}\n\n{"task": "two"}\n', ["one", "two"]),
        ('\n{"task": "one"}\n{cut\n{"task": "two"}', ["one", 3, "two"]),
        (json.dumps({"task": "one"}, indent=2), ["one"]),
        (json.dumps([{"task": "one"}, {"task": "two"}], indent=2), ["one", "two"]),
        (json.dumps([{"task": "one"}, {"task": "two"}]) + '\n{"task": "three"}', ["one", "two", "three"]),
        (json.dumps(MESSAGES), ["one"]),
        (json.dumps(MESSAGES, indent=2), ["one"]),
        ("not json\nat all", [1, 2]),
        ("", []),
    ],
)
def test_runs_are_read_from_lines_and_from_documents(text: str, expected: list[Any]) -> None:
    assert tasks(text) == expected


def test_a_file_may_be_gzipped_and_need_not_be_utf8_throughout(tmp_path: Path) -> None:
    plain, packed = tmp_path / "runs.jsonl", tmp_path / "runs.jsonl.gz"
    plain.write_bytes(b'{"task": "caf\xe9"}\n')
    packed.write_bytes(gzip.compress(b'{"task": "one"}\n'))

    assert [run.task for run in read_runs(plain) if isinstance(run, Trajectory)] == ["caf\ufffd"]
    assert [run.task for run in read_runs(str(packed)) if isinstance(run, Trajectory)] == ["one"]


def test_a_bad_line_says_why(tmp_path: Path) -> None:
    (line,) = read_runs(io.StringIO('{"task": "t", "verdict": "so-so"}'))

    assert isinstance(line, BadLine)
    assert "is not one of success, failure, partial, unknown" in line.reason


@pytest.mark.parametrize("name", ["missing.jsonl", "cut.gz", "plain.gz"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 9_999)[:30])
    (tmp_path / "plain.gz").write_bytes(b"no gzip")

    with pytest.raises(InvalidInputError, match=f"{name} cannot be read"):
        list(read_runs(tmp_path / name))
