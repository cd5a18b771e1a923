"""The benchmark of errors: what its corpus holds, and that it can tell a bank that knows from one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.failures.__main__ import LINES, corpus, is_set_aside, log, measure
from benchmarks.failures.families import NAMES, families, filled
from benchmarks.failures.make import ran


def test_there_are_a_hundred_families_of_a_dozen_tools_and_each_failed_twice() -> None:
    found = corpus()

    assert len(found) >= 100
    assert len({family["tool"] for family in found}) >= 12
    assert len({(family["tool"], family["name"]) for family in found}) == len(found)
    assert all(run["exit_code"] and run["output"].strip() for family in found for run in family["runs"])
    assert all(len(family["runs"]) == 2 for family in found)


def test_about_half_is_set_aside_and_the_log_is_the_same_each_time() -> None:
    assert 0.4 < sum(map(is_set_aside, corpus())) / len(corpus()) < 0.6
    assert log(30, "a") == log(30, "a") != log(30, "b")
    assert len(log(30, "a").splitlines()) == 30


def test_a_command_really_fails(tmp_path: Path) -> None:
    family = next(family for family in families() if (family.tool, family.name) == ("python", "no module"))
    run = ran(family, NAMES[0], "/home/ada/src/orders", tmp_path)

    if run is None:
        pytest.skip("no python on the path")
    assert run[0] == 1
    assert "No module named 'yaml_of_old'" in run[2]
    assert filled("a\\n@n@", NAMES[0]) == "a\n7"


def test_known_errors_are_found_and_unknown_ones_left_alone() -> None:
    few = [family for family in corpus() if family["tool"] in ("node", "sqlite3")]
    result = measure(few, judged=True)

    assert set(result["hit@1"]) == set(result["silent_on_unknown"]) == {str(lines) for lines in LINES}
    assert min(result["hit@1"].values()) > 0.9
    assert min(result["silent_on_unknown"].values()) > 0.9
