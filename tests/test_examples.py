"""Every script in examples/ runs as it stands, in an empty folder, and prints something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tools.domain import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [example.name])
    monkeypatch.syspath_prepend(example.parent)

    runpy.run_path(str(example), run_name="__main__")

    assert capsys.readouterr().out.strip()


def test_examples_are_numbered_without_gaps() -> None:
    assert [path.name[:2] for path in EXAMPLES] == [f"{n:02}" for n in range(1, len(EXAMPLES) + 1)]
