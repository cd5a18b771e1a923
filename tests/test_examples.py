"""Every script in examples/, and every cell of the notebook, runs as it stands, in an empty folder."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from tools.domain import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
NOTEBOOK = ROOT / "examples/notebook.ipynb"


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


def test_the_notebook_runs_cell_after_cell_and_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    namespace: dict[str, object] = {"__name__": "__main__"}

    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)

    said = capsys.readouterr().out
    assert [line.rpartition(" ")[2] for line in said.splitlines() if line.startswith("['")] == ["wrong"] * 3 + [
        "right"
    ] * 3
    # Nobody's outputs are kept, which would be another machine's.
    assert [cell for cell in cells if cell.get("outputs")] == []


def test_every_example_is_named_in_a_readme() -> None:
    readmes = "".join((ROOT / page).read_text("utf-8") for page in ("README.md", "examples/README.md"))

    assert [path.name for path in (*EXAMPLES, NOTEBOOK) if path.name not in readmes] == []
