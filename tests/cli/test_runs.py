"""What show and trajectory say about runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


@pytest.fixture
def keeping(scope: dict[str, str]) -> Iterator[ReasoningBank]:
    settings = {"keep_trajectories": True, "trajectory_limit": 90}
    root = scope["REASONINGBANK_ROOT"]
    with ReasoningBank(root, tenant="acme", project="billing", embedder="hash", settings=settings) as opened:
        yield opened


def test_a_trajectory_is_shown_step_by_step(cli: Cli, keeping: ReasoningBank) -> None:
    ref = keeping.recall("count the lines").ref
    empty = cli("trajectory", ref).out
    steps = [{"action": "wc", "observation": "42", "error": "odd"}, {"action": "x" * 100}]
    keeping.runs.add_steps(ref, {"steps": steps, "result": "42 lines"})
    out = cli("trajectory", ref).out

    assert "No steps are kept" in empty
    assert out.splitlines()[1:] == ["1. wc", "   42", "   odd", "… and 1 steps that were not kept.", "Result: 42 lines"]
    assert cli("trajectory", ref, "--json").json["steps"][0]["action"] == "wc"
    assert cli("trajectory", "gone").code == 1


def test_show_names_the_runs_and_the_links_of_a_memory(cli: Cli, keeping: ReasoningBank) -> None:
    ref = keeping.recall("count the lines").ref
    keeping.runs.add_steps(ref, ["wc"])
    texts = (("Count lines", "Use wc"), ("Read files", "Use cat"))
    source = {"how": "distilled", "session": ref}
    one, other = (keeping.record(*text, outcome="success", source=source).memory.id for text in texts)
    keeping.links.add(one, other, "enhances", evidence="both are short")
    keeping.recall("count lines with wc", ref="later")
    out = cli("show", one).out

    assert f"{one} enhances {other}  1.00" in out
    assert "both are short" in out
    came, used = out.partition("Came from:")[2].split("Used in:")
    assert ref in came
    assert "open, 1 steps" in came
    assert "later  open" in used
    value = cli("show", one, "--json").json
    assert (value["id"], value["links"][0]["target"]) == (one, other)
    assert [run["ref"] for run in value["runs"]["used_in"]] == ["later"]
    session = keeping.record("a", "b", outcome="success", source={"session": "s"}).memory.id
    assert "s  no episode" in cli("show", session).out


def test_steps_are_kept_from_the_command_line_one_by_one_or_from_a_file(
    cli: Cli, bank: ReasoningBank, tmp_path: Path
) -> None:
    ref, keep = bank.recall("count the lines").ref, ("--set", "keep_trajectories=true")
    (tmp_path / "run.json").write_text('{"steps": [{"action": "wc -l app.log", "observation": "42"}], "result": "42"}')

    assert cli("step", ref, "wc", "log", "--result", "no such file", "--error", "1", *keep).out == "Kept 1 steps.\n"
    assert cli("step", ref, "--file", str(tmp_path / "run.json"), *keep).code == 0
    assert cli("step", ref, "--file", "-", *keep, "--json", stdin='[{"thought": "done"}]').json["kept"] == 1
    out = cli("trajectory", ref).out.splitlines()
    assert out[1:] == ["1. wc log", "   no such file", "   1", "2. wc -l app.log", "   42", "3. done", "Result: 42"]


def test_a_step_that_is_not_kept_says_why(cli: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    ref = bank.recall("count the lines").ref
    (tmp_path / "text").write_text("no JSON")

    off = cli("step", ref, "wc")
    assert off.code == 1
    assert off.out == "No step was kept: the setting keep_trajectories is off: set it to true\n"
    long = cli("step", ref, "wc", "--set", "keep_trajectories=true", "--set", "trajectory_limit=5")
    assert (long.code, long.out) == (1, "No step was kept: the run is longer than 5\n")
    assert cli("step", ref).code == 2
    assert cli("step", ref, "wc", "--file", "-").code == 2
    assert "is not JSON" in cli("step", ref, "--file", str(tmp_path / "text")).err
    assert "cannot be read" in cli("step", ref, "--file", str(tmp_path / "gone")).err
    assert cli("step", "gone", "wc").code == 1


def test_runs_are_exported_and_imported_when_asked_for(cli: Cli, keeping: ReasoningBank, tmp_path: Path) -> None:
    keeping.record("Count lines", "Use wc", outcome="success")
    keeping.runs.add_steps(keeping.recall("count the lines with wc", ref="r").ref, ["wc"])
    file = str(tmp_path / "all.jsonl")

    assert "Wrote 1 memories and the runs" in cli("export", file, "--runs").out
    assert '"run"' in cli("export", "--runs").out
    assert '"run"' not in cli("export").out
    assert cli("import", file, "--runs").code == 1
    assert "1 runs were left out" in cli("import", file, "--project", "copy", "--trusted").out
    assert "Imported runs: 1." in cli("import", file, "--project", "copy", "--trusted", "--runs").out
    assert "1. wc" in cli("trajectory", "r", "--project", "copy").out
